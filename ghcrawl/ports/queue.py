"""The five queues as one thing, and what was popped from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.requests import Push, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How much one lane, or one queue, holds.

    ready: may be popped now. delayed: waits for its `not_before`. in_flight: popped and not settled.
    oldest_at: since when the next request has been waiting; None: nothing is ready, or it is unknown.
    """

    ready: int = 0
    delayed: int = 0
    in_flight: int = 0
    oldest_at: datetime | None = field(default=None, compare=False)

    @property
    def total(self) -> int:
        """Everything that is not done."""
        return self.ready + self.delayed + self.in_flight


def by_queue(depths: Mapping[Lane, Depth]) -> Mapping[QueueName, Depth]:
    """All five queues, each with what all platforms together hold in it."""
    return {name: _sum([depth for lane, depth in depths.items() if lane.queue == name]) for name in QUEUES}


def _sum(depths: Sequence[Depth]) -> Depth:
    return Depth(
        ready=sum(depth.ready for depth in depths),
        delayed=sum(depth.delayed for depth in depths),
        in_flight=sum(depth.in_flight for depth in depths),
        oldest_at=min((depth.oldest_at for depth in depths if depth.oldest_at is not None), default=None),
    )


class Pushed(Struct, frozen=True, kw_only=True):
    """What became of a push: how many wait now because of it, how many were waiting already."""

    queued: int = 0
    bounced: int = 0

    def __add__(self, other: Pushed) -> Pushed:
        return Pushed(queued=self.queued + other.queued, bounced=self.bounced + other.bounced)


class Delivery(Protocol):
    """A popped request, in flight until it is acked or released. Either is final; a second call does nothing."""

    @property
    def request(self) -> Request:
        """What was popped."""

    @property
    def queue(self) -> QueueName:
        """Where it was popped from, and where a retry goes back to."""

    @property
    def suspect(self) -> bool:
        """Whether it may have killed a process that worked on it. False where the queue does not know."""

    async def ack(self) -> None:
        """It is done and durable; forget it."""

    async def release(self) -> None:
        """It is not done; any worker may pop it again, now."""


class Queue(Protocol):
    """The five queues as one thing, because a request waits in one of them at most. Each has a lane per platform.

    Contract, held by every adapter (`tests/contracts/queue_contract.py`):

    * guaranteed: a push that returned is durable; what was popped and never settled comes back;
    * deduplicated: a request whose key waits is not queued twice. The copy that waits is the one that was asked for
      later, in the more urgent queue of the two. Popping frees the key;
    * delayed: `not_before` holds a request back without holding a consumer;
    * unordered: nothing may rely on order;
    * `depths`, `peek` and `is_empty` change nothing.
    """

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """All of them are durable when this returns. Raises QueueError; then any of them may or may not wait."""

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> Delivery | None:
        """Take from the first lane of `order` that has something ready, waiting up to `patience_s` for one.

        None: nothing came. A lane that is not in `order` costs nothing, however much waits there. A body that is no
        request is never returned: the adapter files it as a deadletter.
        """

    async def depths(self) -> Mapping[Lane, Depth]:
        """Every lane that holds something; those that hold nothing may be left out."""

    async def is_empty(self, platforms: Collection[str] | None = None) -> bool:
        """Whether nothing is ready, delayed or in flight. Cheaper than `depths`. platforms: of these only."""

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """Up to `limit` requests that wait in `queue`; of one platform, where one is named."""

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """Delete the waiting requests of `queue` and their dedup keys; of one platform, where one is named.

        Returns how many; what is in flight stays.
        """


class Broker(Protocol):
    """The server that keeps the queues, where they have one of their own and it can fail while the store is well."""

    @property
    def blocked(self) -> bool:
        """Whether it accepts nothing just now, because it is short of memory or disk."""

    @property
    def restarts(self) -> int:
        """How often a background task ended and was restarted. Normally 0."""

    async def answer(self) -> None:
        """Return if it answers now, without other services. Raises QueueError."""

    async def take_over(self) -> None:
        """This process crawls from now on: it also looks after what the server sets aside. Raises QueueError."""
