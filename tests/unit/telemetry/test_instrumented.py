"""Measured ports say how long things took and what each loop does, and change nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from ghcrawl.platforms.kind import Thing
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.ports.queue import Depth, by_queue
from ghcrawl.ports.unit_of_work import Effects
from ghcrawl.telemetry.instrumented import (
    SAMPLED,
    InstrumentedQueue,
    InstrumentedUnitOfWork,
    Measure,
    Phase,
    measured,
)
from ghcrawl.telemetry.rates import Rates
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane
from ghcrawl.values.outcome import Fetched, Skip, Visit
from ghcrawl.values.requests import Push
from ghcrawl.values.visitor_map import NextHops
from queues.memory import MemoryQueue
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sequential_unit_of_work import SequentialUnitOfWork
from tests.support.builders import NOW, a_deadletter, a_document, a_request, at
from tests.support.clock import FakeClock
from tests.support.lanes import lanes
from tests.support.library import LIBRARY

LONG_S = 30.0


class Told:
    def __init__(self) -> None:
        self.phases: list[str] = []
        self.sizes: list[int] = []
        self.measure = Measure(phase=lambda name, _: self.phases.append(name), document=self.sizes.append)


def in_steps(queue: MemoryQueue, phase: Callable[[Phase, float], None] = lambda _, __: None) -> SequentialUnitOfWork:
    return SequentialUnitOfWork(queue, MemoryStore(), MemoryDeadletters(), phase)


async def test_each_loop_is_shown_with_what_it_does_and_since_when():
    told, clock = Told(), FakeClock()
    queue = InstrumentedQueue(MemoryQueue(clock), clock, measure=told.measure)
    await queue.push([Push(request=a_request(1), queue="soon")])
    clock.advance(5)
    delivery = await queue.pop(lanes("soon"), patience_s=0)
    assert delivery is not None
    (turn,) = queue.turns()
    assert (turn.request, turn.queue, turn.since) == (a_request(1), "soon", at(5))
    clock.advance(5)
    await delivery.ack()
    assert await queue.pop(lanes("soon"), patience_s=0) is None
    (turn,) = queue.turns()
    assert (turn.request, turn.since, queue.last_turn) == (None, at(10), at(10))
    clock.advance(5)
    await queue.pop(lanes("soon"), patience_s=0)
    assert [(turn.since, turn.loop) for turn in queue.turns()] == [(at(10), "0")]
    assert queue.last_turn == at(15)
    assert told.phases == ["pop"]


async def test_a_loop_that_ended_is_no_longer_shown():
    clock = FakeClock()
    queue = InstrumentedQueue(MemoryQueue(clock), clock, measure=Told().measure)
    await asyncio.create_task(queue.pop(lanes("soon"), patience_s=0))
    assert list(queue.turns()) == []


async def test_a_loop_that_takes_the_place_of_a_dead_one_has_a_name_that_nobody_has():
    clock = FakeClock()
    queue = InstrumentedQueue(MemoryQueue(clock), clock, measure=Told().measure)
    begun = [asyncio.create_task(queue.pop(lanes("soon"), patience_s=LONG_S)) for _ in range(3)]
    await asyncio.sleep(0)
    begun[0].cancel()
    await asyncio.wait([begun[0]])
    begun.append(asyncio.create_task(queue.pop(lanes("soon"), patience_s=LONG_S)))
    await asyncio.sleep(0)

    assert sorted(turn.loop for turn in queue.turns()) == ["0", "1", "2"]
    for task in begun[1:]:
        task.cancel()
    await asyncio.wait(begun)


class Ageless(MemoryQueue):
    """As a broker, it cannot say how old anything is."""

    async def depths(self) -> Mapping[Lane, Depth]:
        return {lane: replace(depth, oldest_at=None) for lane, depth in (await super().depths()).items()}


async def test_where_a_queue_cannot_say_how_old_its_first_is_the_one_popped_last_tells_while_more_are_there():
    clock = FakeClock()
    queue = InstrumentedQueue(Ageless(clock), clock, measure=Told().measure)
    pushes = [Push(request=a_request(number, asked_at=at(number)), queue="soon") for number in (1, 2)]
    await queue.push(pushes)
    assert by_queue(await queue.depths())["soon"].oldest_at is None
    clock.advance(100)
    first = await queue.pop(lanes("soon"), patience_s=0)
    assert first is not None
    depths = by_queue(await queue.depths())
    assert (depths["soon"].oldest_at, depths["normal"].oldest_at) == (first.request.asked_at, None)
    clock.advance(100)
    assert by_queue(await queue.depths())["soon"].oldest_at == first.request.asked_at
    await queue.pop(lanes("soon"), patience_s=0)
    assert by_queue(await queue.depths())["soon"].oldest_at is None
    await queue.push([Push(request=a_request(3), queue="soon")])
    assert by_queue(await queue.depths())["soon"].oldest_at is None


async def test_a_queue_that_knows_how_old_its_first_is_is_believed():
    clock = FakeClock()
    queue = InstrumentedQueue(MemoryQueue(clock), clock, measure=Told().measure)
    await queue.push([Push(request=a_request(n, asked_at=at(n)), queue="soon") for n in (1, 2)])
    popped = await queue.pop(lanes("soon"), patience_s=0)
    assert popped is not None
    oldest_at = by_queue(await queue.depths())["soon"].oldest_at
    assert oldest_at is not None
    assert oldest_at != popped.request.asked_at


async def test_what_is_written_is_measured_and_what_was_there_already_is_not():
    told, clock = Told(), FakeClock()
    queue = MemoryQueue(clock)
    unit_of_work = InstrumentedUnitOfWork(in_steps(queue), clock, measure=told.measure)
    for number in (1, 2):
        await queue.push([Push(request=a_request(number), queue="soon")])
        delivery = await queue.pop(lanes("soon"), patience_s=0)
        assert delivery is not None
        await unit_of_work.commit(delivery, Effects(document=a_document(body={"a": 1})))
    assert (told.phases, told.sizes) == (["settle", "settle"], [7])


async def test_a_commit_in_steps_tells_what_each_of_them_took():
    told, clock = Told(), FakeClock()
    queue = MemoryQueue(clock)
    unit_of_work = InstrumentedUnitOfWork(in_steps(queue, told.measure.phase), clock, measure=told.measure)
    await queue.push([Push(request=a_request(1), queue="soon")])
    delivery = await queue.pop(lanes("soon"), patience_s=0)
    assert delivery is not None
    onward = Push(request=a_request(2), queue="later")
    await unit_of_work.commit(delivery, Effects(pushes=(onward,), document=a_document(), deadletter=a_deadletter()))
    assert told.phases == ["push", "save", "save", "settle"]


async def test_of_many_that_are_written_one_in_so_many_is_measured():
    told, clock = Told(), FakeClock()
    queue = MemoryQueue(clock)
    unit_of_work = InstrumentedUnitOfWork(in_steps(queue), clock, measure=told.measure)
    for number in range(3 * SAMPLED):
        await queue.push([Push(request=a_request(number), queue="soon")])
        delivery = await queue.pop(lanes("soon"), patience_s=0)
        assert delivery is not None
        body = {"a": "x" * number}
        await unit_of_work.commit(delivery, Effects(document=a_document(urn=f"urn:repo:12:issue:{number}", body=body)))
    assert told.sizes == [8, 8 + SAMPLED, 8 + 2 * SAMPLED]


def test_processors_are_measured_even_when_they_fail():
    told = Told()

    def broken(_: Visit) -> Skip:
        raise RuntimeError("a bug")

    async def run() -> None:
        platform = measured(replace(LIBRARY, kinds={"x": Thing(processor=broken, position="shelf")}), told.measure)
        kind = platform.kinds["x"]
        assert isinstance(kind, Thing)
        fetched = Fetched(body={}, url="x", observed_at=NOW, checked_at=NOW)
        visit = Visit(request=a_request(), fetched=fetched, next_hops=NextHops(), version=1, processed_at=NOW)
        with pytest.raises(RuntimeError):
            kind.processor(visit)

    asyncio.run(run())
    assert told.phases == ["process"]


def test_rates_are_of_the_last_minute_and_without_what_was_put_off():
    now = 0.0
    rates = Rates(lambda: now)
    for second in range(100):
        now = float(second)
        rates.settled(Settled(request=a_request(), queue="soon", outcome="save"))
        rates.settled(Settled(request=a_request(), queue="later", outcome="defer"))
    assert (rates.last_minute("soon"), rates.last_minute("later")) == (60, 0)
    now = 200.0
    assert rates.last_minute("soon") == 0
    rates.called(Call(platform="github", principal="", resource="", status=200, seconds=0, charged=False))
