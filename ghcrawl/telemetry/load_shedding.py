"""Load shedding: the crawl pauses while many callers of the service wait for an answer.

Loops and answers share one thread. A busy crawl always has something to do, and a webhook's few milliseconds of work
would wait behind those of twenty loops. A sender of webhooks waits ten seconds; queued requests can wait longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

MANY: Final = 8
"""From this many answers in progress the crawl pauses: at 200 a second each takes 40 ms then."""
YIELD_S: Final = 0.25
"""The longest that one pop waits for them, so that a crawl goes on under any load."""


class LoadShedding:
    """Counts the answers in progress."""

    def __init__(self, many: int = MANY) -> None:
        self._many = many
        self._waiting = 0
        self._calm = asyncio.Event()
        self._calm.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """One answer is in progress while the block runs."""
        self._waiting += 1
        self._look()
        try:
            yield
        finally:
            self._waiting -= 1
            self._look()

    async def calm(self, within_s: float) -> None:
        """Return once fewer than `many` are in progress, or after `within_s` seconds."""
        if self._calm.is_set():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._calm.wait()

    def _look(self) -> None:
        if self._waiting < self._many:
            self._calm.set()
        else:
            self._calm.clear()
