"""A dear question is asked once at a time, and its answer serves for a while."""

from __future__ import annotations

import asyncio

import pytest

from ghcrawl.admin.coalescing import LONGEST_S, TIMES, Shared
from ghcrawl.values.errors import StoreError


class Dear:
    """A question that takes `took` seconds of its own clock."""

    def __init__(self, took: float = 0.1) -> None:
        self.took, self.now, self.asked = took, 0.0, 0
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def ask(self) -> int:
        self.asked += 1
        number = self.asked
        await self.gate.wait()
        self.now += self.took
        if self.error:
            raise self.error
        return number

    def shared(self) -> Shared[int]:
        return Shared(self.ask, monotonic=lambda: self.now)


async def test_many_who_ask_at_once_are_one_question():
    dear = Dear()
    shared = dear.shared()
    assert await asyncio.gather(*(shared.now() for _ in range(20))) == [1] * 20


async def test_an_answer_serves_for_as_long_as_it_was_dear_and_no_longer():
    dear = Dear(took=0.1)
    shared = dear.shared()
    await shared.now()
    dear.now += 0.1 * TIMES - 0.01
    assert await shared.now() == 1
    dear.now += 0.02
    assert await shared.now() == 2
    dear.took = 100.0
    dear.now += LONGEST_S
    assert await shared.now() == 3
    dear.now += LONGEST_S + 1
    assert await shared.now() == 4


async def test_what_costs_nothing_is_always_asked():
    shared = Dear(took=0.0).shared()
    assert [await shared.now() for _ in range(3)] == [1, 2, 3]


async def test_a_failure_is_told_to_all_who_wait_and_to_nobody_later():
    dear = Dear()
    dear.error = StoreError("the database is away")
    shared = dear.shared()
    told = await asyncio.gather(*(shared.now() for _ in range(3)), return_exceptions=True)
    assert [str(error) for error in told] == ["the database is away"] * 3
    assert dear.asked == 1
    dear.error = None
    assert await shared.now() == 2


async def test_who_goes_away_takes_the_answer_from_nobody():
    dear = Dear()
    dear.gate.clear()
    shared = dear.shared()
    first, second = (asyncio.ensure_future(shared.now()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    dear.gate.set()
    assert await second == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_what_was_asked_before_something_was_done_answers_nobody_who_comes_after():
    dear = Dear()
    dear.gate.clear()
    shared = dear.shared()
    before = asyncio.ensure_future(shared.now())
    await asyncio.sleep(0)
    shared.forget()
    after = asyncio.ensure_future(shared.now())
    await asyncio.sleep(0)
    dear.gate.set()
    assert (await before, await after) == (1, 2)
