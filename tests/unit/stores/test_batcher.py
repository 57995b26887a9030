"""Calls that share round trips: nobody waits for company, and nobody suffers for another."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ghcrawl.values.errors import StoreError, Unstorable
from stores.batcher import AT_ONCE, Batcher


class Server:
    """Doubles numbers. While `open` is not set, nobody gets an answer; negative ones it does not take."""

    def __init__(self) -> None:
        self.heard: list[list[int]] = []
        self.open, self.asked = asyncio.Event(), asyncio.Event()
        self.open.set()
        self.trouble: Exception | None = None

    async def send(self, numbers: Sequence[int]) -> Sequence[int | Exception]:
        self.heard.append(list(numbers))
        self.asked.set()
        await self.open.wait()
        if self.trouble is not None:
            raise self.trouble
        if any(number < 0 for number in numbers):
            raise Unstorable("negative")
        return [StoreError("no zero") if number == 0 else number * 2 for number in numbers]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def together(server: Server) -> Batcher[int, int]:
    return Batcher(server.send, alone=(Unstorable,))


async def busy(server: Server, together: Batcher[int, int]) -> asyncio.Task[int]:
    """Somebody whose call is under way and not answered yet."""
    server.open.clear()
    first = asyncio.create_task(together.ask(1))
    await server.asked.wait()
    return first


async def test_one_after_another_are_sent_one_after_another(server: Server, together: Batcher[int, int]):
    assert [await together.ask(number) for number in (1, 2, 3)] == [2, 4, 6]
    assert server.heard == [[1], [2], [3]]


async def test_those_who_come_at_once_go_together(server: Server, together: Batcher[int, int]):
    assert await asyncio.gather(*map(together.ask, (1, 2, 3))) == [2, 4, 6]
    assert server.heard == [[1, 2, 3]]


async def test_those_who_come_meanwhile_go_together_with_the_next(server: Server, together: Batcher[int, int]):
    first = await busy(server, together)
    others = [asyncio.create_task(together.ask(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    server.open.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6]
    assert server.heard == [[1], [2, 3]]


async def test_no_round_trip_grows_without_end(server: Server, together: Batcher[int, int]):
    await asyncio.gather(*map(together.ask, range(1, 2 * AT_ONCE + 2)))
    assert list(map(len, server.heard)) == [AT_ONCE, AT_ONCE, 1]


async def test_what_one_came_to_is_nobody_elses(server: Server, together: Batcher[int, int]):
    one, none, two = await asyncio.gather(*map(together.ask, (1, 0, 2)), return_exceptions=True)
    assert (one, two) == (2, 4)
    assert isinstance(none, StoreError)
    assert server.heard == [[1, 0, 2]]


async def test_who_spoils_it_for_the_others_is_found_out(server: Server, together: Batcher[int, int]):
    one, bad, two = await asyncio.gather(*map(together.ask, (1, -1, 2)), return_exceptions=True)
    assert (one, two) == (2, 4)
    assert isinstance(bad, Unstorable)
    assert server.heard == [[1, -1, 2], [1], [-1], [2]]


async def test_what_is_nobodys_fault_is_told_to_all_at_once(server: Server, together: Batcher[int, int]):
    server.trouble = StoreError("away")
    ends = await asyncio.gather(*map(together.ask, (1, 2)), return_exceptions=True)
    assert [str(end) for end in ends] == ["away", "away"]
    assert server.heard == [[1, 2]]
    server.trouble = None
    assert await together.ask(3) == 6


async def test_who_was_cancelled_while_it_waited_is_not_sent(server: Server, together: Batcher[int, int]):
    first = await busy(server, together)
    others = [asyncio.create_task(together.ask(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    others[0].cancel()
    server.open.set()
    assert [await first, await others[1]] == [2, 6]
    assert server.heard == [[1], [3]]


async def test_who_was_cancelled_under_way_disturbs_nobody(server: Server, together: Batcher[int, int]):
    server.open.clear()
    one, two = [asyncio.create_task(together.ask(number)) for number in (1, 2)]
    await server.asked.wait()
    one.cancel()
    server.open.set()
    assert await two == 4
    assert one.cancelled()
