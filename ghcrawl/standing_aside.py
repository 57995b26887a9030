"""Loops stand aside while somebody outside waits for an answer.

Loops and answers share one thread. A busy crawl always has something to do, and then a webhook's few milliseconds of
work lie scattered among those of twenty loops. GitHub waits for ten seconds; what is queued can wait longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from ghcrawl.model import QueueName
from ghcrawl.passing import PassingQueue
from ghcrawl.ports import Delivery, Queue

MANY: Final = 8
"""So many answers that are waited for at a time say that they are slow: at 200 a second each takes 40 ms then."""
ASIDE_S: Final = 0.25
"""The longest that one turn of a loop waits for them, so that a crawl goes on under whatever load."""


class Answering:
    """How many wait for an answer."""

    def __init__(self, many: int = MANY) -> None:
        self._many = many
        self._waiting = 0
        self._calm = asyncio.Event()
        self._calm.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Somebody waits while the block runs."""
        self._waiting += 1
        self._look()
        try:
            yield
        finally:
            self._waiting -= 1
            self._look()

    async def calm(self, within_s: float) -> None:
        """Return once few wait, or after so long."""
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


class StandingAside(PassingQueue):
    """`queue`, from which nothing is popped while many wait for an answer, or not so soon."""

    def __init__(self, queue: Queue, answering: Answering, *, aside_s: float = ASIDE_S) -> None:
        super().__init__(queue)
        self._answering = answering
        self._aside_s = aside_s

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> Delivery | None:
        """As the port says."""
        await self._answering.calm(self._aside_s)
        return await super().pop(order, patience_s=patience_s)
