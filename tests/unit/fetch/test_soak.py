"""Three tokens of sixty calls a window, twenty loops, real sockets: not one call over.

Whether all but the reserve is used depends on the speed of the machine here; `test_limits` proves it without.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta

import pytest

from ghcrawl.values.outcome import Fetched, Throttled
from ghcrawl.values.requests import Context
from tests.support.builders import NOW, a_request
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import Reply, Scripted

TOKENS = ("token-aaaa", "token-bbbb", "token-cccc")
LIMIT, WINDOW_S, RESERVED = 60, 12, 3


class FastClock:
    """Real time, twenty times as fast."""

    SPEED = 20.0

    def __init__(self) -> None:
        self._began = asyncio.get_running_loop().time()

    def now(self) -> datetime:
        return NOW + timedelta(seconds=(asyncio.get_running_loop().time() - self._began) * self.SPEED)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.SPEED)


class Window:
    """A token's fixed windows, by the server's clock."""

    def __init__(self, *, aligned: bool) -> None:
        self.aligned, self.ends, self.used, self.over = aligned, 0.0, 0, 0
        self.past: list[int] = []

    def call(self, now: float) -> Reply:
        if now >= self.ends:
            self.past.append(self.used)
            self.used = 0
            self.ends = (now // WINDOW_S * WINDOW_S if self.aligned else now) + WINDOW_S
        self.used += 1
        headers = {
            "x-ratelimit-limit": str(LIMIT),
            "x-ratelimit-remaining": str(max(0, LIMIT - self.used)),
            "x-ratelimit-reset": str(int(self.ends)),
            "x-ratelimit-resource": "core",
        }
        if self.used > LIMIT:
            self.over += 1
            return Reply(status=403, body={"message": "API rate limit exceeded"}, headers=headers)
        return Reply(body={}, headers=headers)


@pytest.fixture
async def clock() -> FastClock:
    return FastClock()


@pytest.mark.slow
@pytest.mark.parametrize(("aligned", "skew_s"), [(False, -7.3), (True, 4.6)])
async def test_not_one_call_is_over_the_limit(
    start: Start, server: Scripted, clock: FastClock, aligned: bool, skew_s: float
) -> None:
    server.skew = timedelta(seconds=skew_s)
    windows = {token: Window(aligned=aligned) for token in TOKENS}
    server.script("*", lambda hit: windows[hit.token].call((clock.now() + server.skew).timestamp()))
    fetcher = await start(";".join(TOKENS), calls_per_min=None, response_s_per_min=None)
    done: Counter[type] = Counter()
    ends = clock.now() + timedelta(seconds=3.2 * WINDOW_S)

    async def loop(number: int) -> None:
        while clock.now() < ends:
            blocked = fetcher.blocked_until()
            if blocked is not None:
                await clock.sleep((blocked - clock.now()).total_seconds())
                continue
            scope = f"acme/repo-{number % 7}"
            request = a_request(url=f"{server.url}/repos/{scope}/issues", context=Context(scope=scope))
            answer = await fetcher.fetch(request, None)
            done[type(answer)] += 1
            if isinstance(answer, Throttled):
                await clock.sleep(max(0.0, (answer.until - clock.now()).total_seconds()))

    await asyncio.gather(*(loop(number) for number in range(20)))
    assert [window.over for window in windows.values()] == [0, 0, 0]
    whole = [used for window in windows.values() for used in window.past[1:]]
    assert 0 < max(whole) <= LIMIT - RESERVED
    assert done[Throttled] < done[Fetched]
