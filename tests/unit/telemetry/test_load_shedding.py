"""Loops stand shedding while many wait for an answer, and never for long."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from ghcrawl.telemetry.instrumented import InstrumentedQueue
from ghcrawl.telemetry.load_shedding import LoadShedding
from ghcrawl.values.requests import Push
from queues.memory import MemoryQueue
from tests.support.builders import a_request
from tests.support.clock import FakeClock
from tests.support.lanes import lanes

FOR_EVER_S = 60.0


@pytest.fixture
async def queue() -> MemoryQueue:
    queue = MemoryQueue(FakeClock())
    await queue.push([Push(request=a_request(n), queue="soon") for n in range(3)])
    return queue


async def runs(task: asyncio.Task[object]) -> bool:
    for _ in range(10):
        await asyncio.sleep(0)
    return task.done()


async def test_while_few_wait_nobody_stands_shedding(queue: MemoryQueue):
    answering = LoadShedding(many=3)
    shedding = InstrumentedQueue(queue, FakeClock(), answering=answering, yield_s=FOR_EVER_S)
    with answering.one(), answering.one():
        assert await shedding.pop(lanes("soon"), patience_s=0) is not None


async def test_while_many_wait_nothing_is_popped_until_some_were_answered(queue: MemoryQueue):
    answering = LoadShedding(many=3)
    shedding = InstrumentedQueue(queue, FakeClock(), answering=answering, yield_s=FOR_EVER_S)
    with answering.one(), answering.one():
        with answering.one():
            pops = [asyncio.create_task(shedding.pop(lanes("soon"), patience_s=0)) for _ in range(3)]
            assert not await runs(pops[0])
        assert all([await pop is not None for pop in pops])  # all of them are awaited


async def test_under_whatever_load_a_crawl_goes_on(queue: MemoryQueue):
    answering = LoadShedding(many=1)
    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(answering.one())
        shedding = InstrumentedQueue(queue, FakeClock(), answering=answering, yield_s=0.01)
        assert await shedding.pop(lanes("soon"), patience_s=0) is not None


async def test_an_answer_that_failed_is_waited_for_no_longer(queue: MemoryQueue):
    answering = LoadShedding(many=1)
    with pytest.raises(RuntimeError), answering.one():
        raise RuntimeError
    await asyncio.wait_for(answering.calm(FOR_EVER_S), timeout=1)
