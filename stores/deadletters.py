"""Deadletters in any store: which of them a filter selects, and how they are requeued."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from ghcrawl.ports.deadletters import DeadletterFilter, Deadletters, Forgotten, Requeued
from ghcrawl.ports.queue import Queue
from ghcrawl.values.cancellation import all_of
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Failure, Push, Request
from ghcrawl.values.times import moment

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

FEW_AT_ONCE: Final = 100
MOST_AT_ONCE: Final = 1000
"""Deadletters per batch, at first and at most. A crash may leave those of two batches both requeued and buried."""
HELD_BYTES: Final = 8_000_000
"""Size limit of a batch as JSON. Two batches are in memory at a time, where they take several times as much."""
WEIGHED: Final = 8
"""Deadletters sampled to estimate the size of a batch."""


class RequestCodec(Protocol):
    """Encodes requests as the messages of the queue (`queues.codec` does)."""

    def encode(self, request: Request) -> bytes:
        """The message. Raises Unstorable."""

    def decode(self, body: bytes) -> Request:
        """The request in a message. Raises DecodeError."""


class TimeBudget:
    """A time budget for work in batches: another batch starts while it is expected to end in time.

    at_once: size of the next batch. It starts small, because the speed of the servers is unknown, and adapts so that a
    batch takes between a sixth and a third of the time and fits into `HELD_BYTES`. If given, it is fixed.
    """

    def __init__(
        self, seconds: float = math.inf, *, at_once: int = 0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.at_once = at_once or FEW_AT_ONCE
        self._fixed = at_once > 0
        self._most = MOST_AT_ONCE
        self._seconds = seconds
        self._monotonic = monotonic
        self._began = self._last = monotonic()
        self._slowest = 0.0

    def weigh(self, piece: Sequence[Deadletter]) -> None:
        """Limit the size of the next batches, so that deadletters like these take at most about `HELD_BYTES`."""
        some = piece[:: max(1, len(piece) // WEIGHED)]
        if some and not self._fixed:
            fit = HELD_BYTES * len(some) // max(1, sum(map(_bytes_of, some)))
            self._most = max(1, min(MOST_AT_ONCE, fit))
            self.at_once = min(self.at_once, self._most)

    def has_another(self) -> bool:
        """Whether there is time for another batch as slow as the slowest so far. Call it once after each batch."""
        now = self._monotonic()
        took, self._last = now - self._last, now
        self._slowest = max(self._slowest, took / self.at_once)
        if not self._fixed and took < self._seconds / 6:
            self.at_once = min(self._most, self.at_once * 2)
        elif not self._fixed and took > self._seconds / 3:
            self.at_once = max(1, self.at_once // 2)
        return now - self._began + self._slowest * self.at_once <= self._seconds


def _bytes_of(letter: Deadletter) -> int:
    """The approximate size of a deadletter: its message, traceback and payload; the rest is small."""
    payload = letter.request.payload
    return len(letter.raw or b"") + len(letter.traceback) + (len(dumps(payload.body)) if payload else 0)


def failure_from(value: Mapping[str, Any]) -> Failure:
    """The failure that `Failure.to_json` wrote."""
    return Failure(
        at=moment(value["at"]),
        cause=value["cause"],
        message=value["message"],
        status=value["status"],
        worker=value["worker"],
    )


def host_of(url: str) -> str:
    """The host in `url`, in lower case; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def admits(which: DeadletterFilter, deadletter: Deadletter) -> bool:
    """Whether this deadletter matches `which`."""
    return (
        (not which.urns or deadletter.urn in which.urns)
        and (not which.types or deadletter.request.type_name in which.types)
        and (not which.platforms or deadletter.request.platform in which.platforms)
        and (not which.kinds or deadletter.kind in which.kinds)
        and (not which.reason or which.reason.casefold() in deadletter.reason.casefold())
        and (not which.host or which.host.lower() == host_of(deadletter.request.url))
        and (which.before is None or deadletter.last_at < which.before)
    )


async def requeue(
    deadletters: Deadletters,
    queue: Queue,
    which: DeadletterFilter,
    *,
    now: datetime,
    to: QueueName | None = None,
    time_budget: TimeBudget | None = None,
) -> Requeued:
    """Push the requests of the deadletters that match `which`, with attempts reset, and then delete the deadletters.

    Deadletters are deleted once their pushes are durable, so a crash may leave a request both queued and buried, but
    never loses one.

    now: deadletters buried later stay, so that a request that fails again at once is not requeued again.
    to: the queue to push to; None returns each request to its own queue.
    time_budget: time budget; the newest deadletters are first. None: no limit.
    Raises QueueError, StoreError.
    """
    which, time_budget = which.until(now), time_budget or TimeBudget()
    done, durable = Requeued(), list[str]()
    page = await deadletters.list(which, limit=time_budget.at_once)
    while page:  # pushes a page while it reads the next one and deletes the one before
        time_budget.weigh(page)
        readable = [letter for letter in page if letter.raw is None]
        pushes = [Push(request=letter.request.renewed(), queue=to or letter.queue) for letter in readable]
        pushing, reading = queue.push(pushes), deadletters.list(which, limit=time_budget.at_once, after=page[-1].urn)
        pushed, following, _ = await _all_of(pushing, reading, deadletters.delete(durable))
        done = Requeued(
            queued=done.queued + pushed.queued,
            bounced=done.bounced + pushed.bounced,
            unreadable=done.unreadable + len(page) - len(readable),
        )
        durable, last, page = [letter.urn for letter in readable], page[-1].last_at, following
        # Stop only between two moments: `before` cannot separate deadletters that were buried at the same one.
        if not time_budget.has_another() and page and page[0].last_at < last:
            rest = replace(which, before=last)
            left, _ = await asyncio.gather(deadletters.count(rest), deadletters.delete(durable))
            return replace(done, left=left.total, before=last if left.total else None)
    await deadletters.delete(durable)
    return done


async def forget(
    deadletters: Deadletters,
    which: DeadletterFilter,
    *,
    now: datetime,
    time_budget: TimeBudget | None = None,
) -> Forgotten:
    """Delete the deadletters that match `which` and were buried before `now`. time_budget: as for `requeue`.

    Raises StoreError.
    """
    which, time_budget, deleted = which.until(now), time_budget or TimeBudget(), 0
    while page := await deadletters.list(which, limit=time_budget.at_once):
        time_budget.weigh(page)
        deleted += await deadletters.delete([letter.urn for letter in page])
        if not time_budget.has_another():
            left = (await deadletters.count(which)).total
            return Forgotten(deleted=deleted, left=left, before=which.before if left else None)
    return Forgotten(deleted=deleted)


async def _all_of(first: Awaitable[A], second: Awaitable[B], third: Awaitable[C]) -> tuple[A, B, C]:
    """Await all three, and return their results. Raises the first error once all have ended."""
    return cast("tuple[A, B, C]", tuple(await all_of((first, second, third))))


async def move(source: Deadletters, target: Deadletters, *, at_once: int = 100) -> None:
    """Move all deadletters to `target`. A crash may leave some in both. Raises StoreError."""
    while page := await source.list(DeadletterFilter(), limit=at_once):
        for letter in page:
            await target.bury(letter)
        await source.delete([letter.urn for letter in page])
