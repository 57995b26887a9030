"""A clock that a test moves."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta

from tests.support.builders import NOW


class FakeClock:
    """Stands still until moved. `sleep` moves it, so that code which waits runs at once."""

    def __init__(self, start: datetime = NOW) -> None:
        self._now = start
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)


class FastClock:
    """Real time, `rate` times as fast: windows and retries pass on both sides of a crawl, and no test waits."""

    def __init__(self, rate: float, start: datetime = NOW) -> None:
        self._rate = rate
        self._start = start
        self._began = time.monotonic()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=(time.monotonic() - self._began) * self._rate)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._rate)
