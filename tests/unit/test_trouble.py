"""Queue and ledger that remember since when they fail."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest

from ghcrawl.errors import QueueError, StoreError, Unstorable
from ghcrawl.model import QUEUES, Push, QueueName
from ghcrawl.ports import Committed, Delivery, Effects
from ghcrawl.trouble import Trouble, WatchedLedger, WatchedQueue
from queues.memory import MemoryDelivery, MemoryQueue
from tests.support.builders import NOW, a_request
from tests.support.clock import FakeClock


class BrokenQueue(MemoryQueue):
    broken: QueueError | None = None

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> MemoryDelivery | None:
        if self.broken:
            raise self.broken
        return await super().pop(order, patience_s=patience_s)


class BrokenLedger:
    broken: Exception | None = None

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        if self.broken:
            raise self.broken
        return Committed()


async def test_a_queue_remembers_since_when_nothing_can_be_popped_until_something_can() -> None:
    clock = FakeClock()
    inner = BrokenQueue(clock)
    queue = WatchedQueue(inner, clock)
    errors = [QueueError("away"), QueueError("still away")]
    for inner.broken in errors:
        with pytest.raises(QueueError):
            await queue.pop(QUEUES, patience_s=0)
        clock.advance(5)
    assert queue.trouble == Trouble(since=NOW, error=errors[1])
    inner.broken = None
    assert await queue.pop(QUEUES, patience_s=0) is None
    assert queue.trouble is None


async def test_everything_else_is_the_queues_own() -> None:
    clock = FakeClock()
    queue = WatchedQueue(MemoryQueue(clock), clock)
    await queue.push([Push(request=a_request(), queue="soon")])
    assert not await queue.is_empty()
    assert (await queue.depths())["soon"].ready == 1
    assert await queue.peek("soon", limit=5) == [a_request()]
    assert await queue.purge("soon") == 1


async def test_a_ledger_remembers_since_when_nothing_becomes_durable() -> None:
    clock, inner = FakeClock(), BrokenLedger()
    queue, ledger = MemoryQueue(clock), WatchedLedger(inner, clock)
    await queue.push([Push(request=a_request(), queue="soon")])
    delivery = await queue.pop(QUEUES, patience_s=0)
    assert delivery is not None
    inner.broken = StoreError("full")
    with pytest.raises(StoreError):
        await ledger.commit(delivery, Effects())
    assert ledger.trouble == Trouble(since=NOW, error=inner.broken)
    inner.broken = None
    await ledger.commit(delivery, Effects())
    assert ledger.trouble is None
    inner.broken = Unstorable("too large")
    with pytest.raises(Unstorable):
        await ledger.commit(delivery, Effects())
    assert ledger.trouble is None, "that is the document's trouble"


async def test_each_time_that_it_begins_is_counted_once():
    clock = FakeClock()
    broken = BrokenQueue(clock)
    queue = WatchedQueue(broken, clock)
    for fails in (True, True, False, True, False, True, True):
        broken.broken = QueueError("away") if fails else None
        with suppress(QueueError):
            await queue.pop(["soon"], patience_s=0)
    assert queue.outages == 3
