"""Merges two copies of one request that meet in the queue. Pure; every adapter goes by it.

The copy that stays is the one that was asked for later, in the more urgent queue of the two. A push that is neither
later nor more urgent leaves no trace at all: above all it does not wake a copy that waits for its moment.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from ghcrawl.values.lanes import QUEUES, QueueName

URGENCY: Final[dict[QueueName, int]] = {name: rank for rank, name in enumerate(QUEUES)}
"""Rank of each queue: 0 is the most urgent."""


class Copy(Struct, frozen=True):
    """One of the two, by all that decides between them.

    asked_at: of the request; None, which asks the platform in any case, is later than any moment.
    not_before: None may be popped now.
    """

    queue: QueueName
    asked_at: datetime | None
    not_before: datetime | None


class Merged(Struct, frozen=True):
    """How the waiting copy goes on. replaced: it is now the request that was pushed."""

    queue: QueueName
    not_before: datetime | None
    replaced: bool


def merge(waiting: Copy, pushed: Copy) -> Merged | None:
    """The waiting copy merged with `pushed`; None: it stays as it is, and the push is dropped."""
    later = _later(pushed.asked_at, waiting.asked_at)
    more_urgent = URGENCY[pushed.queue] < URGENCY[waiting.queue]
    if not later and not more_urgent:
        return None
    return Merged(
        queue=pushed.queue if more_urgent else waiting.queue,
        not_before=_earlier(waiting.not_before, pushed.not_before),
        replaced=later,
    )


def _later(one: datetime | None, other: datetime | None) -> bool:
    return other is not None and (one is None or one > other)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return None if one is None or other is None else min(one, other)
