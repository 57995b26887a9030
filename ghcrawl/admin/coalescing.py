"""Shares one answer to an expensive question among all who ask it at about the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

TIMES: Final = 30
"""An answer is reused for this many times its own duration, so that asking takes about 3 % of the time."""
LONGEST_S: Final = 10.0


class Shared(Generic[T]):
    """What `ask` says, asked once at a time, however many wait for it. What is cheap is asked for nearly each time."""

    def __init__(self, ask: Callable[[], Awaitable[T]], *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._monotonic = monotonic
        self._asking: asyncio.Task[T] | None = None
        self._good_until = -1.0

    async def now(self) -> T:
        """The answer of this moment, or of one shortly before. Raises what `ask` raises, to all who wait."""
        if self._asking is None or (self._asking.done() and not self._is_good(self._asking)):
            self._asking = asyncio.get_running_loop().create_task(self._timed(), name="shared answer")
            self._asking.add_done_callback(_retrieved)
        return await asyncio.shield(self._asking)

    def forget(self) -> None:
        """Later callers get a new answer."""
        self._asking = None

    def _is_good(self, asked: asyncio.Task[T]) -> bool:
        return not asked.cancelled() and asked.exception() is None and self._monotonic() < self._good_until

    async def _timed(self) -> T:
        began = self._monotonic()
        answer = await self._ask()
        now = self._monotonic()
        self._good_until = now + min(LONGEST_S, TIMES * (now - began))
        return answer


def _retrieved(task: asyncio.Task[T]) -> None:
    """Retrieve an exception that no caller awaits any more, or asyncio would log it."""
    if not task.cancelled():
        task.exception()
