"""A queue and a ledger that remember since when they do nothing but fail.

The loops only slow down when a broker or a database fails: that is what a service wants, which runs for months. A
person at a terminal wants to be told that the disk is full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ghcrawl.errors import CrawlError, Unstorable
from ghcrawl.model import QueueName
from ghcrawl.passing import PassingQueue
from ghcrawl.ports import Clock, Committed, Delivery, Effects, Ledger, Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A port has failed since then, without a single success. error: the last failure."""

    since: datetime
    error: CrawlError


class _Watched:
    """trouble: None while it works. outages: how often that ended."""

    def __init__(self, clock: Clock) -> None:
        self.trouble: Trouble | None = None
        self.outages = 0
        self._clock = clock

    def _failed(self, error: CrawlError) -> None:
        self.outages += self.trouble is None
        since = self.trouble.since if self.trouble is not None else self._clock.now()
        self.trouble = Trouble(since=since, error=error)

    def _worked(self) -> None:
        self.trouble = None


class WatchedQueue(_Watched, PassingQueue):
    """`queue`, and since when nothing can be popped from it."""

    def __init__(self, queue: Queue, clock: Clock) -> None:
        _Watched.__init__(self, clock)
        PassingQueue.__init__(self, queue)

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> Delivery | None:
        """As the port says."""
        try:
            delivery = await super().pop(order, patience_s=patience_s)
        except CrawlError as error:
            self._failed(error)
            raise
        self._worked()
        return delivery


class WatchedLedger(_Watched):
    """`ledger`, and since when nothing can be made durable. What can never be stored is not the ledger's trouble."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        super().__init__(clock)
        self._ledger = ledger

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """As the port says."""
        try:
            committed = await self._ledger.commit(delivery, effects)
        except Unstorable:
            raise
        except CrawlError as error:
            self._failed(error)
            raise
        self._worked()
        return committed
