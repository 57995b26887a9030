"""Deadletters in any store: which of them a filter selects, and how they are requeued."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from ghcrawl.ports.deadletters import DeadletterFilter, Deadletters
from ghcrawl.ports.queue import Queue
from ghcrawl.values.jsontext import dumps
from ghcrawl.values.model import (
    Deadletter,
    Failure,
    Push,
    QueueName,
    Request,
    moment,
)

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

FEW_AT_ONCE: Final = 100
MOST_AT_ONCE: Final = 1000
"""Deadletters that share their round trips: a crash may leave two such pieces both waiting and buried."""
HELD_BYTES: Final = 8_000_000
"""Of a piece of them, as JSON. Two are in memory at a time, where they take several times as much."""
WEIGHED: Final = 8
"""Deadletters of a piece whose size is measured."""


class RequestCodec(Protocol):
    """How requests become bytes: the messages of the queue (`queues.codec` is one)."""

    def encode(self, request: Request) -> bytes:
        """The message. Raises Unstorable."""

    def decode(self, body: bytes) -> Request:
        """The request in a message. Raises DecodeError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeued:
    """What a requeue came to.

    queued: wait now because of it. bounced: waited already. unreadable: stay, because they never were requests.
    left: are meant too, and there was no time for them. before: all of these were buried before that moment, and those
    that had their turn were not; None where none are left.
    """

    queued: int = 0
    bounced: int = 0
    unreadable: int = 0
    left: int = 0
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What deleting came to. left, before: as in `Requeued`."""

    deleted: int = 0
    left: int = 0
    before: datetime | None = None


class Allowance:
    """Time for work in pieces: another piece starts while it can be expected to end in time.

    at_once: how many the next piece holds. It starts small, because the speed of the
    servers is unknown, and grows and shrinks so that a piece takes a fair part of the time, and of memory.
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
        """From now on a piece of deadletters like these is about `HELD_BYTES` at the most."""
        some = piece[:: max(1, len(piece) // WEIGHED)]
        if some and not self._fixed:
            fit = HELD_BYTES * len(some) // max(1, sum(map(_bytes_of, some)))
            self._most = max(1, min(MOST_AT_ONCE, fit))
            self.at_once = min(self.at_once, self._most)

    def has_another(self) -> bool:
        """Whether there is time for another piece as slow as the slowest so far. Called after each."""
        now = self._monotonic()
        took, self._last = now - self._last, now
        self._slowest = max(self._slowest, took / self.at_once)
        if not self._fixed and took < self._seconds / 6:
            self.at_once = min(self._most, self.at_once * 2)
        elif not self._fixed and took > self._seconds / 3:
            self.at_once = max(1, self.at_once // 2)
        return now - self._began + self._slowest * self.at_once <= self._seconds


def _bytes_of(letter: Deadletter) -> int:
    """About how large it is: what it carries, since the rest is small."""
    payload = letter.request.payload
    return len(letter.raw or b"") + len(letter.traceback) + (len(dumps(payload.body)) if payload else 0)


def failure_json(failure: Failure, *, at: str) -> dict[str, Any]:
    """JSON of `failure`. at: its moment, as the store writes moments."""
    return {
        "at": at,
        "cause": failure.cause,
        "message": failure.message,
        "status": failure.status,
        "worker": failure.worker,
    }


def failure_from(value: Mapping[str, Any]) -> Failure:
    """The failure that `failure_json` wrote."""
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
    """Whether `which` means this deadletter."""
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
    allowance: Allowance | None = None,
) -> Requeued:
    """Push what `which` means as if it had never been tried, and forget the deadletters once that is durable.

    A crash in between leaves some requests both waiting and buried, none of them lost.

    now: deadletters from later stay, so that a request that fails again at once is not requeued again.
    to: the queue to push to; None sends each where it came from.
    allowance: for how long, the newest first; the rest is `left`, to be asked for with `before`. None: to the end.
    Raises QueueError, StoreError.
    """
    which, allowance = which.until(now), allowance or Allowance()
    done, durable = Requeued(), list[str]()
    page = await deadletters.list(which, limit=allowance.at_once)
    while page:  # a page is pushed while the next one is read and the one before it is forgotten
        allowance.weigh(page)
        readable = [letter for letter in page if letter.raw is None]
        pushes = [Push(request=letter.request.renewed(), queue=to or letter.queue) for letter in readable]
        pushing, reading = queue.push(pushes), deadletters.list(which, limit=allowance.at_once, after=page[-1].urn)
        pushed, following, _ = await _all_of(pushing, reading, deadletters.delete(durable))
        done = Requeued(
            queued=done.queued + pushed.queued,
            bounced=done.bounced + pushed.bounced,
            unreadable=done.unreadable + len(page) - len(readable),
        )
        durable, last, page = [letter.urn for letter in readable], page[-1].last_at, following
        # What was buried in one moment is done in one go, because no bound could tell its parts from one another.
        if not allowance.has_another() and page and page[0].last_at < last:
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
    allowance: Allowance | None = None,
) -> Forgotten:
    """Delete what `which` means, but not what is buried from now on. allowance: as for `requeue`. Raises StoreError."""
    which, allowance, deleted = which.until(now), allowance or Allowance(), 0
    while page := await deadletters.list(which, limit=allowance.at_once):
        allowance.weigh(page)
        deleted += await deadletters.delete([letter.urn for letter in page])
        if not allowance.has_another():
            left = (await deadletters.count(which)).total
            return Forgotten(deleted=deleted, left=left, before=which.before if left else None)
    return Forgotten(deleted=deleted)


async def _all_of(first: Awaitable[A], second: Awaitable[B], third: Awaitable[C]) -> tuple[A, B, C]:
    """Their results once all have ended. Raises the first error."""
    ends = await asyncio.gather(first, second, third, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    return cast("tuple[A, B, C]", tuple(ends))


async def move(source: Deadletters, target: Deadletters, *, at_once: int = 100) -> None:
    """All of them are in `target` instead. A crash in between leaves some in both. Raises StoreError."""
    while page := await source.list(DeadletterFilter(), limit=at_once):
        for letter in page:
            await target.bury(letter)
        await source.delete([letter.urn for letter in page])
