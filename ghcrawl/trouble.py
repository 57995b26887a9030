"""A queue and a ledger that remember since when they do nothing but fail.

The loops only slow down when a broker or a database fails: that is what a service wants, which runs for months. A
person at a terminal wants to be told that the disk is full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ghcrawl.errors import CrawlError, Unstorable
from ghcrawl.model import Push, QueueName, Request
from ghcrawl.ports import Clock, Committed, Delivery, Depth, Effects, Ledger, Pushed, Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A port has failed since then, without a single success. error: the last failure."""

    since: datetime
    error: CrawlError


class _Watch:
    def __init__(self, clock: Clock) -> None:
        self.trouble: Trouble | None = None
        self.outages = 0
        self._clock = clock

    def failed(self, error: CrawlError) -> None:
        self.outages += self.trouble is None
        since = self.trouble.since if self.trouble is not None else self._clock.now()
        self.trouble = Trouble(since=since, error=error)

    def worked(self) -> None:
        self.trouble = None


class WatchedQueue:
    """`queue`, and since when nothing can be popped from it."""

    def __init__(self, queue: Queue, clock: Clock) -> None:
        self._queue = queue
        self._watch = _Watch(clock)

    @property
    def trouble(self) -> Trouble | None:
        """None while pops work."""
        return self._watch.trouble

    @property
    def outages(self) -> int:
        """How often that began."""
        return self._watch.outages

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> Delivery | None:
        """As the port says."""
        try:
            delivery = await self._queue.pop(order, patience_s=patience_s)
        except CrawlError as error:
            self._watch.failed(error)
            raise
        self._watch.worked()
        return delivery

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says."""
        return await self._queue.push(pushes)

    async def depths(self) -> Mapping[QueueName, Depth]:
        """As the port says."""
        return await self._queue.depths()

    async def is_empty(self) -> bool:
        """As the port says."""
        return await self._queue.is_empty()

    async def peek(self, queue: QueueName, *, limit: int) -> Sequence[Request]:
        """As the port says."""
        return await self._queue.peek(queue, limit=limit)

    async def purge(self, queue: QueueName) -> int:
        """As the port says."""
        return await self._queue.purge(queue)


class WatchedLedger:
    """`ledger`, and since when nothing can be made durable. What can never be stored is not the ledger's trouble."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._watch = _Watch(clock)

    @property
    def trouble(self) -> Trouble | None:
        """None while commits work."""
        return self._watch.trouble

    @property
    def outages(self) -> int:
        """How often that began."""
        return self._watch.outages

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """As the port says."""
        try:
            committed = await self._ledger.commit(delivery, effects)
        except Unstorable:
            raise
        except CrawlError as error:
            self._watch.failed(error)
            raise
        self._watch.worked()
        return committed
