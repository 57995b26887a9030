"""The reference servers of the AT Protocol, once for the run."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.integration.atproto.writing import Ask, asking
from tests.support.backends import backend
from tests.support.services import atproto
from tests.support.services.atproto import Network
from tests.support.services.debian import Unavailable
from tests.support.services.fixtures import keeper, mongo_url, rabbitmq, vhost
from tests.support.services.wanted import absent

__all__ = ["backend", "mongo_url", "rabbitmq", "vhost"]


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    """Shared by all tests: each works on an account that no other changes."""
    if urls := os.environ.get(atproto.URLS):
        pds, appview = urls.split()
        yield Network(pds=pds, appview=appview)
        return
    with keeper("atproto") as kept:
        try:
            started = atproto.start(kept)
        except Unavailable as error:
            absent(error)
        yield started


@pytest.fixture
async def ask(network: Network) -> AsyncIterator[Ask]:
    """Calls a method: `await ask(name, token="", body={…}, **params)`; its body, whatever the status."""
    async with asking(network) as call:
        yield call
