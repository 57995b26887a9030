from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

SUITES = ("queue", "patience", "deadletter", "ledger")
pytest.register_assert_rewrite(*(f"tests.contracts.{suite}_contract" for suite in SUITES))

from tests.integration.amqp.own import Place  # noqa: E402
from tests.integration.amqp.rig import AmqpRig  # noqa: E402  # after the line above, or asserts say nothing
from tests.support.services.fixtures import broker, mongo_url, rabbitmq, vhost  # noqa: E402
from tests.support.services.rabbitmq import Server  # noqa: E402

__all__ = ["broker", "mongo_url", "rabbitmq", "vhost"]


@pytest.fixture
async def rig(rabbitmq: Server) -> AsyncIterator[AmqpRig]:
    """The queue on the broker of this run, with markers, documents and deadletters in memory."""
    async with AmqpRig.opened(rabbitmq) as opened:
        yield opened


@pytest.fixture
async def place(rabbitmq: Server) -> AsyncIterator[Place]:
    """Queues of one's own on the same broker, on a real clock."""
    own = Place(rabbitmq)
    yield own
    await own.clear()
