"""A clock that a test moves."""

from __future__ import annotations

import asyncio
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
