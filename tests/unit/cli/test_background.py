"""What a service does beside its loops: no signal waits for it, and one piece of it never waits for another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from ghcrawl.cli.background import Beside, unless_told_to_stop
from ghcrawl.values.errors import StoreError


class Signal:
    """A signal that comes when the test says so."""

    def __init__(self) -> None:
        self.came = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            await self.came.wait()


class Work:
    """Work that lasts until it is told to end, or is cancelled."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun, self.end, self.over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._error = error
        self.count = 0

    async def __call__(self) -> None:
        self.count += 1
        self.begun.set()
        try:
            await self.end.wait()
            if self._error:
                raise self._error
        finally:
            self.over.set()


async def soon(until: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(5):
        await until()


async def test_a_signal_waits_for_nothing_that_is_attended_to():
    signal, work = Signal(), Work()
    waiting = asyncio.ensure_future(unless_told_to_stop(signal, work()))
    await soon(work.begun.wait)
    signal.came.set()
    await asyncio.wait_for(waiting, 5)
    assert work.over.is_set()


async def test_without_a_signal_what_is_done_is_done_and_what_it_raises_is_raised():
    work = Work()
    work.end.set()
    await unless_told_to_stop(Signal(), work())
    assert work.over.is_set()
    broken = Work(ZeroDivisionError())
    broken.end.set()
    with pytest.raises(ZeroDivisionError):
        await unless_told_to_stop(Signal(), broken())


async def test_what_is_given_up_and_fails_while_it_ends_is_said_and_stops_nobody():
    signal = Signal()

    async def stubborn() -> None:
        signal.came.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise StoreError("the connection is gone")

    with capture_logs() as logged:
        await asyncio.wait_for(unless_told_to_stop(signal, stubborn()), 5)
    assert [line["event"] for line in logged] == ["attending_ended_badly"]


async def test_one_piece_of_work_at_a_time_is_under_way_and_nobody_waits_for_it():
    beside, work = Beside("sweep"), Work()
    beside.go_on(work)
    await soon(work.begun.wait)
    beside.go_on(work)
    assert (work.count, beside.busy) == (1, True)
    work.end.set()
    await soon(work.over.wait)
    await asyncio.sleep(0)
    beside.go_on(work)
    await asyncio.sleep(0)
    assert work.count == 2


async def test_work_that_is_not_due_yet_is_not_begun():
    beside, work = Beside("sweep", every_s=3600), Work()
    work.end.set()
    beside.go_on(work)
    await soon(work.over.wait)
    await asyncio.sleep(0)
    beside.go_on(work)
    await asyncio.sleep(0)
    assert (work.count, beside.busy) == (1, False)


async def test_what_is_under_way_is_stopped_and_is_not_waited_for_longer_than_patience_lasts():
    beside, work = Beside("sweep"), Work()
    await beside.stop(1)
    beside.go_on(work)
    await soon(work.begun.wait)
    await beside.stop(5)
    assert (work.over.is_set(), beside.busy) == (True, False)

    released = asyncio.Event()

    async def stuck() -> None:
        work.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await released.wait()

    work.begun.clear()
    beside.go_on(stuck)
    await soon(work.begun.wait)
    await beside.stop(0)
    assert beside.busy
    released.set()
    await beside.stop(5)
    assert not beside.busy


@pytest.mark.parametrize(
    ("error", "event", "level"),
    [
        (StoreError("the database is away"), "work_beside_failed", "warning"),
        (ZeroDivisionError(), "work_beside_broken", "error"),
    ],
)
async def test_what_becomes_of_it_is_said_and_no_more(error: Exception, event: str, level: str):
    beside, work = Beside("sweep"), Work(error)
    with capture_logs() as logged:
        beside.go_on(work)
        work.end.set()
        await soon(work.over.wait)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert [(line["event"], line["log_level"], line["work"]) for line in logged] == [(event, level, "sweep")]
