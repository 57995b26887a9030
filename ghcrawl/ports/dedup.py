"""Dedup markers: which requests wait in a broker that cannot be asked.

A broker keeps messages and cannot say whether a request is among them. So each waiting request has a dedup marker, a
*marker* for short, in a database that all processes share. A marker is `pending` from before its copy is published
until the broker has confirmed it, and `queued` from then on. A consumer deletes the marker of a copy before anything
else. The marker also holds the request, so that a broker that lost its messages is filled again. One invariant carries
the rest:

    while a marker is queued, its copy waits, and will be processed later than any moment at which the marker was read.

Deleting any marker at any time costs a duplicate and never a request, so markers may be lost and purged; none expires.
A marker must never become or stay queued without its copy: every change of a marker is therefore bound to the token of
the push that made it. The protocol is `queues.dedup_protocol`; `tests/unit/queues/test_dedup_interleavings.py` explores
it exhaustively.

Implementations raise StoreError.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ghcrawl.values.lanes import QUEUES, Lane, QueueName


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupMarker:
    """One waiting request: what is known of the newest copy of it.

    key: `Request.key` in hex. token: of the push that published, or is about to publish, this copy; no two are equal.
    queued: the broker has confirmed the copy; False is pending.
    platform, queue: where the copy waits. asked_at: of the copy; None is later than any moment.
    not_before: the copy is delayed until then; None may be popped at once.
    at: when the marker was written, by its writer's clock.
    body: the copy as it travels; empty where an older version wrote the marker, and wherever it was not asked for.

    Moments have microseconds and must come back exactly as they went in: a store whose dates are coarser keeps numbers.
    """

    key: str
    token: str
    queued: bool
    platform: str
    queue: QueueName
    asked_at: datetime | None
    not_before: datetime | None
    at: datetime
    body: bytes = field(default=b"", compare=False, repr=False)

    @property
    def lane(self) -> Lane:
        """Where the copy waits."""
        return Lane(self.platform, self.queue)

    def covers(self, queue: QueueName, asked_at: datetime | None) -> bool:
        """Whether another copy, for `queue` and asked for at `asked_at`, would be redundant."""
        if not self.queued or QUEUES.index(self.queue) > QUEUES.index(queue):
            return False
        return self.asked_at is None or (asked_at is not None and asked_at <= self.asked_at)


def new_token() -> str:
    """A unique token.

    Tokens ascend with time. An index over them grows at one end and shrinks at the other, so its cost does not depend
    on the number of waiting requests.
    """
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


class DedupMarkers(Protocol):
    """The markers, one a key. Each change of one marker is atomic; a call that changes many need not be.

    Contract: `tests/contracts/dedup_contract.py`. Every call but the last five is on the hot path: one round trip,
    by `key` alone.
    """

    async def find(self, keys: Sequence[str]) -> Mapping[str, DedupMarker]:
        """The markers that these keys have, without bodies. Reads every acknowledged write."""

    async def insert(self, markers: Sequence[DedupMarker]) -> frozenset[str]:
        """Keep those whose key has no marker yet. Returns the keys that have one, which stays as it is.

        In a database: an unordered insert, where a duplicate key is an answer and any other error is one.
        """

    async def replace(self, pairs: Sequence[tuple[DedupMarker, DedupMarker]]) -> None:
        """For each pair (old, new) of one key: put the new marker in place of the old one, if its token is there.

        The result is not reported: a marker that was not written is not there to be confirmed.
        """

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        """Those of these keys' markers that have this token are queued. One update for all of them."""

    async def delete(self, key: str, token: str) -> bool:
        """Forget the marker of this key if it has this token. Returns whether it had.

        The deletion must outlive a failover (write concern "majority"): a marker that comes back lies.
        """

    async def any_queued(self, platforms: Collection[str] | None = None) -> bool:
        """Whether any marker at all, or any of these platforms, is queued. Stops at the first."""

    async def delayed(self, now: datetime) -> Mapping[Lane, int]:
        """How many markers are delayed beyond `now`, by lane; lanes without any may be left out.

        Few markers are delayed at a time: an index over only those with a `not_before` serves.
        """

    def written(self, before: datetime, lane: Lane | None = None) -> AsyncIterator[DedupMarker]:
        """The markers of this lane that were written before that moment, with bodies. No lane: those that are delayed.

        For recovery; may read all markers. Markers written meanwhile may be included or not.
        """

    async def clear(self, lane: Lane) -> int:
        """Forget the markers of this lane, queued or not. Returns how many. For operators; may take its time."""

    async def sweep(self, before: datetime) -> int:
        """Forget the markers that were written before that moment. Returns how many. By a query, not by a TTL index."""


class CrashCounter(Protocol):
    """Counts the attempts at messages that were redelivered because their consumer was gone.

    Only such messages are written, so it costs nothing as long as no consumer dies.
    Contract: `tests/contracts/dedup_contract.py`.
    """

    async def count(self, message: str) -> int:
        """Attempts so far; 0: none are known."""

    async def add(self, message: str, at: datetime) -> int:
        """Count an attempt that starts now. Returns the new count; atomic and durable."""

    async def forget(self, message: str) -> None:
        """Delete the count: the message is harmless, or settled."""

    async def sweep(self, before: datetime) -> int:
        """Delete the counts of messages last attempted before that moment. Returns how many."""
