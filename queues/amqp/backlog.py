"""Work beside the loops, done item by item until it succeeds."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import structlog

from ghcrawl.values.errors import CrawlError

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")
AGAIN_S: Final = 1.0


class Backlog(Generic[T]):
    """`do` is called for each of `items`. One that fails is tried again after the others, so it blocks none."""

    def __init__(self, name: str, do: Callable[[T], Awaitable[None]]) -> None:
        self.items: Final[deque[T]] = deque()
        self._name = name
        self._do = do
        self._some = asyncio.Event()

    def put(self, item: T) -> None:
        """Add an item."""
        self.items.append(item)
        self._some.set()

    async def run(self) -> None:
        """Never returns."""
        while await self._some.wait():
            if not self.items:
                self._some.clear()
                continue
            item = self.items[0]
            self.items.rotate(-1)
            try:
                await self._do(item)
            except CrawlError as error:
                log.warning("chore_failed", chore=self._name, error=str(error))
                await asyncio.sleep(AGAIN_S)
            else:
                self.items.remove(item)
