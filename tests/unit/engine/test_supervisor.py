"""As many loops as are wanted: resized, paused, drained, and put back when one dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ghcrawl.engine.supervisor import Supervisor
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Request
from ghcrawl.values.tuning import Tuning
from tests.support.builders import NOW
from tests.support.library import LIBRARY
from tests.support.scripted import Rig, a_body

QUICK = Tuning(loops=2, patience_s=0.001)


class Gate:
    """Answers that wait until a test lets them go, and count how many wait."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.waiting = 0
        self.arrived = asyncio.Condition()

    async def __call__(self, request: Request) -> Any:
        async with self.arrived:
            self.waiting += 1
            self.arrived.notify_all()
        try:
            await self.open.wait()
        finally:
            self.waiting -= 1
        return a_body({"id": int(request.url.rpartition("/")[2])}, request.url)

    async def holds(self, count: int) -> None:
        """Return once `count` requests wait here."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: self.waiting >= count)


class Place:
    """A supervisor over loops that read shelves behind a gate."""

    def __init__(self, tuning: Tuning = QUICK, shelves: int = 6) -> None:
        self.gate = Gate()
        self.shelves = [
            Request(platform="library", type="shelf", url=f"lib/shelves/{n}", policy="default:self", asked_at=NOW)
            for n in range(shelves)
        ]
        self.rig = Rig(LIBRARY, {shelf.url: self.gate for shelf in self.shelves}, tuning=tuning)
        self.supervisor = Supervisor(self.rig.engine, self.rig.clock, restart_s=0)

    async def fill(self) -> None:
        await self.rig.push(*self.shelves)

    async def saved(self) -> int:
        return sum((await self.rig.store.counts()).values())


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    place = Place()
    yield place
    place.gate.open.set()
    await place.supervisor.drain(5)


async def test_as_many_requests_are_in_hand_as_there_are_loops(place: Place):
    await place.fill()
    place.supervisor.start()
    await place.gate.holds(2)

    assert place.rig.engine.busy == 2

    place.supervisor.tune(replace(QUICK, loops=5))
    await place.gate.holds(5)

    assert place.supervisor.running == place.rig.engine.busy == 5


async def test_loops_too_many_finish_what_they_have_and_go(place: Place):
    await place.fill()
    place.supervisor.tune(replace(QUICK, loops=4))
    await place.gate.holds(4)
    place.supervisor.tune(replace(QUICK, loops=1))

    assert place.supervisor.running == 1

    place.gate.open.set()
    await place.supervisor.until_empty(place.rig.queue)

    assert await place.saved() == 6


async def test_a_paused_crawl_takes_nothing_and_goes_on_where_it_was(place: Place):
    place.supervisor.start()
    place.supervisor.pause()
    await place.fill()
    for _ in range(20):
        await place.rig.clock.sleep(0)

    assert place.rig.engine.busy == 0
    assert by_queue(await place.rig.queue.depths())["normal"].ready == 6

    place.gate.open.set()
    place.supervisor.resume()
    await place.supervisor.until_empty(place.rig.queue)

    assert await place.saved() == 6


async def test_draining_finishes_what_is_in_hand_and_leaves_the_rest(place: Place):
    await place.fill()
    place.supervisor.start()
    await place.gate.holds(2)
    draining = asyncio.create_task(place.supervisor.drain(30))
    await asyncio.sleep(0)
    place.gate.open.set()

    assert await draining is True
    assert await place.saved() == 2
    assert by_queue(await place.rig.queue.depths())["normal"].ready == 4


async def test_what_does_not_finish_in_time_waits_again(place: Place):
    await place.fill()
    place.supervisor.start()
    await place.gate.holds(2)

    assert await place.supervisor.drain(0.01) is False
    assert await place.saved() == 0
    assert by_queue(await place.rig.queue.depths())["normal"].ready == 6


async def test_draining_what_was_never_started_is_done_at_once():
    assert await Place().supervisor.drain(0) is True


async def test_a_loop_that_dies_is_replaced_and_said(place: Place, monkeypatch: pytest.MonkeyPatch):
    await place.fill()
    died = 0
    turn = place.rig.engine._turn

    async def fragile() -> None:
        nonlocal died
        if died < 3:
            died += 1
            raise RuntimeError("a bug")
        await turn()

    monkeypatch.setattr(place.rig.engine, "_turn", fragile)
    place.supervisor.start()
    place.gate.open.set()
    await place.supervisor.until_empty(place.rig.queue)

    assert place.supervisor.restarts == 3
    assert await place.saved() == 6
