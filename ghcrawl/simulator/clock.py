"""The simulator's time, which a test moves."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


class SimClock:
    """Stands still until `advance`. Who sleeps wakes when it has been moved far enough."""

    def __init__(self, start: datetime = datetime(2026, 11, 21, 12, tzinfo=UTC)) -> None:
        self._now = start
        self._sleepers: list[tuple[datetime, asyncio.Future[None]]] = []
        self._slept = asyncio.Event()

    def now(self) -> datetime:
        """The present, aware UTC."""
        return self._now

    async def sleeper(self) -> None:
        """Return once a task waits for this clock to be moved."""
        await self._slept.wait()

    def advance(self, seconds: float) -> None:
        """Move the clock, and wake all that slept until then."""
        self._now += timedelta(seconds=seconds)
        due = [future for until, future in self._sleepers if until <= self._now]
        self._sleepers = [(until, future) for until, future in self._sleepers if until > self._now]
        if not self._sleepers:
            self._slept.clear()
        for future in due:
            if not future.done():
                future.set_result(None)

    async def sleep(self, seconds: float) -> None:
        """Return once the clock has been moved by `seconds`."""
        if seconds <= 0:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + timedelta(seconds=seconds), future))
        self._slept.set()
        await future
