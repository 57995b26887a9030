"""Queue and unit of work remember since when they fail."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest

from ghcrawl.ports.queue import Delivery, by_queue
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.telemetry.instrumented import InstrumentedQueue, InstrumentedUnitOfWork, PortOutage
from ghcrawl.values.errors import QueueError, StoreError, Unstorable
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Push
from queues.memory import MemoryDelivery, MemoryQueue
from tests.support.builders import NOW, a_request
from tests.support.clock import FakeClock
from tests.support.lanes import LANES, lanes


class BrokenQueue(MemoryQueue):
    broken: QueueError | None = None

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> MemoryDelivery | None:
        if self.broken:
            raise self.broken
        return await super().pop(order, patience_s=patience_s)


class BrokenUnitOfWork:
    broken: Exception | None = None

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        if self.broken:
            raise self.broken
        return Committed()


async def test_a_queue_remembers_since_when_nothing_can_be_popped_until_something_can() -> None:
    clock = FakeClock()
    inner = BrokenQueue(clock)
    queue = InstrumentedQueue(inner, clock)
    errors = [QueueError("away"), QueueError("still away")]
    for inner.broken in errors:
        with pytest.raises(QueueError):
            await queue.pop(LANES, patience_s=0)
        clock.advance(5)
    assert queue.outage == PortOutage(since=NOW, error=errors[1])
    inner.broken = None
    assert await queue.pop(LANES, patience_s=0) is None
    assert queue.outage is None


async def test_everything_else_is_the_queues_own() -> None:
    clock = FakeClock()
    queue = InstrumentedQueue(MemoryQueue(clock), clock)
    await queue.push([Push(request=a_request(), queue="soon")])
    assert not await queue.is_empty()
    assert by_queue(await queue.depths())["soon"].ready == 1
    assert await queue.peek("soon", limit=5) == [a_request()]
    assert await queue.purge("soon") == 1


async def test_a_unit_of_work_remembers_since_when_nothing_becomes_durable() -> None:
    clock, inner = FakeClock(), BrokenUnitOfWork()
    queue, unit_of_work = MemoryQueue(clock), InstrumentedUnitOfWork(inner, clock)
    await queue.push([Push(request=a_request(), queue="soon")])
    delivery = await queue.pop(LANES, patience_s=0)
    assert delivery is not None
    inner.broken = StoreError("full")
    with pytest.raises(StoreError):
        await unit_of_work.commit(delivery, Effects())
    assert unit_of_work.outage == PortOutage(since=NOW, error=inner.broken)
    inner.broken = None
    await unit_of_work.commit(delivery, Effects())
    assert unit_of_work.outage is None
    inner.broken = Unstorable("too large")
    with pytest.raises(Unstorable):
        await unit_of_work.commit(delivery, Effects())
    assert unit_of_work.outage is None, "the document is at fault"


async def test_each_time_that_it_begins_is_counted_once():
    clock = FakeClock()
    broken = BrokenQueue(clock)
    queue = InstrumentedQueue(broken, clock)
    for fails in (True, True, False, True, False, True, True):
        broken.broken = QueueError("away") if fails else None
        with suppress(QueueError):
            await queue.pop(lanes("soon"), patience_s=0)
    assert queue.outages == 3
