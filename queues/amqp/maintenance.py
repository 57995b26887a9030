"""Work on messages that is nobody's request: done one after another, beside the loops, until it is done."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from ghcrawl.values.errors import CrawlError
from queues.amqp.message import Incoming

log = structlog.stdlib.get_logger(__name__)

AGAIN_S: Final = 1.0


class Maintenance:
    """`do` is done with everything that is put here. What fails is tried again; what has gone stale is forgotten."""

    def __init__(self, what: str, do: Callable[[Incoming], Awaitable[None]]) -> None:
        self._what = what
        self._do = do
        self._waiting: deque[Incoming] = deque()
        self._some = asyncio.Event()

    def put(self, incoming: Incoming) -> None:
        """It will be done."""
        self._waiting.append(incoming)
        self._some.set()

    def held(self) -> list[Incoming]:
        """What is not done yet."""
        return [incoming for incoming in self._waiting if not incoming.stale]

    async def run(self) -> None:
        """Never returns."""
        while True:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                await self._next(self._waiting[0])

    async def _next(self, incoming: Incoming) -> None:
        try:
            if not incoming.stale:
                await self._do(incoming)
        except CrawlError as error:
            log.warning("chore_failed", chore=self._what, error=str(error))
            await asyncio.sleep(AGAIN_S)
            return
        if self._waiting and self._waiting[0] is incoming:
            self._waiting.popleft()
