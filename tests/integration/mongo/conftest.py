from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

SUITES = ("forms", "store", "url", "listing", "deadletter", "ledger", "markers")
pytest.register_assert_rewrite(*(f"tests.contracts.{suite}_contract" for suite in SUITES))

from stores.mongo.driver import Mongo  # noqa: E402  # after the line above, or asserts say nothing
from stores.mongo.settings import MongoSettings  # noqa: E402
from tests.contracts.adapters import Opener, Rig  # noqa: E402
from tests.integration.mongo.rig import database, server_url  # noqa: E402
from tests.support.services.fixtures import mongo_server, mongo_url, rabbitmq  # noqa: E402
from tests.support.services.wanted import MONGO_URL  # noqa: E402

__all__ = ["mongo_server", "mongo_url", "rabbitmq"]


@pytest.fixture(scope="session", autouse=True)
def _server(mongo_url: str) -> Iterator[None]:
    """The server of the run is where the rigs look for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MONGO_URL, mongo_url)
        yield


@pytest.fixture
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """One adapter, open; which one is the parameter."""
    opener: Opener = request.param
    async with opener(tmp_path) as opened:
        yield opened


@pytest.fixture
async def settings() -> AsyncIterator[MongoSettings]:
    """A database of one's own."""
    async with database(server_url()) as settings:
        yield settings


@pytest.fixture
async def mongo(settings: MongoSettings) -> AsyncIterator[Mongo]:
    """The same, open."""
    opened = await Mongo.open(settings)
    yield opened
    await opened.close()
