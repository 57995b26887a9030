"""The real clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """This machine's time."""

    def now(self) -> datetime:
        """The present, aware UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        await asyncio.sleep(seconds)
