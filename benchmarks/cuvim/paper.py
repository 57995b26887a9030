"""The figures of the seed's paper (CUVIM), table by table, and the algorithms that they came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

from benchmarks.cuvim.events import Events, Floats, Ints

T = TypeVar("T")

TOTAL: Final = 1_853_085
HASH: Final = {
    0.4: (29_822, 1_175_464),
    0.5: (32_211, 1_255_509),
    0.6: (35_421, 1_323_012),
    0.7: (39_446, 1_368_783),
    0.8: (44_605, 1_417_908),
    0.9: (50_421, 1_451_435),
}
"""Table 1: weight of the last day → crawls and messages."""
ROUND_ROBIN: Final = {2: 411_086, 3: 652_641, 4: 818_039, 5: 939_964}
"""Table 2: crawls of each user → messages."""
ONCE: Final = {"round robin": 376_053, "organ pipe": 421_722}
"""Section 6.1: messages of one crawl of each user."""
PAGE: Final = 100
SPAN_H: Final = 720


def organ_pipe(ascending: Sequence[T]) -> list[T]:
    """Algorithm 1: users sorted by rate, in the order in which they are crawled: the busy in the middle."""
    order: list[T] = list(ascending)
    for number, user in enumerate(ascending):
        order[number // 2 if number % 2 == 0 else len(ascending) - (number + 1) // 2] = user
    return order


def penalty(at: float, length: float) -> float:
    """The schedule penalty w of Definition 3: proportional to the mean distance from `at` within [0, length]."""
    return at * at - at * length + length * length / 2.0


def hourly(events: Events, history: int) -> Ints:
    """Items of each source in each hour, from `history` days before time 0 to the horizon."""
    hours = int((events.horizon + history) * 24)
    owners = np.repeat(np.arange(events.sources), np.diff(events.starts))
    slots = np.minimum(((events.times + history) * 24).astype(np.int64), hours - 1)
    counts = np.zeros((events.sources, hours), dtype=np.int64)
    kept = slots >= 0
    np.add.at(counts, (owners[kept], slots[kept]), 1)
    return counts


def hash_model(counts: Ints, weight: float, *, fixed: bool) -> tuple[int, int]:
    """Algorithm 2 for all users, from hour 0, with the true counts of each day: (crawls, messages).

    fixed: h = weight * today + 0.5 * yesterday's h (H2, which the paper's figures follow), instead of an exponentially
    weighted mean (H1). Every user is crawled at hour 0, and nothing is found then.
    """
    users, hours = counts.shape
    sums = np.concatenate([np.zeros((users, 1), dtype=np.int64), counts.cumsum(axis=1)], axis=1)
    table, waiting = np.zeros((users, 24)), np.zeros(users)
    last = np.zeros(users, dtype=np.int64)
    crawls, messages = users, 0
    for hour in range(hours):
        if hour and hour % 24 == 0:
            table = weight * counts[:, hour - 24 : hour] + (0.5 if fixed else 1.0 - weight) * table
        waiting += table[:, hour % 24]
        span = (hour + 1 - last >= SPAN_H) & (hour + 1 < hours - 24)  # the last of them would find nothing new to count
        due = np.flatnonzero((waiting >= PAGE) | span)
        crawls += len(due)
        messages += int(np.minimum(sums[due, hour + 1] - sums[due, last[due]], PAGE).sum())
        waiting[due] = np.maximum(0.0, waiting[due] - PAGE)
        last[due] = hour + 1
    return crawls, messages


def round_robin(events: Events, times: int) -> int:
    """Messages of crawling all users at 0, T/k, …: the first finds nothing, which is the only reading that fits."""
    step = events.horizon / times
    return sum(_found(events, step * number, step * (number + 1)) for number in range(times - 1))


def _found(events: Events, begin: float, end: float) -> int:
    users = range(events.sources)
    counts = [np.searchsorted(events.of(user), [begin, end]) for user in users]
    return int(np.minimum(np.diff(np.asarray(counts), axis=1), PAGE).sum())


def once(events: Events, order: Sequence[int]) -> int:
    """Messages of one crawl of each user, spread over the whole time in this order; at most a page each."""
    total = 0
    for slot, user in enumerate(order):
        begin, end = np.searchsorted(events.of(user), [0.0, (slot + 0.5) * events.horizon / len(order)])
        total += min(int(end - begin), PAGE)
    return total


def history_rates(events: Events) -> Floats:
    """Items a day before time 0: what the paper's estimate knows."""
    before = [int(np.searchsorted(events.of(user), 0.0)) for user in range(events.sources)]
    span = max(-float(events.times.min()), 1.0) if len(events.times) else 1.0
    return np.asarray(before, dtype=np.float64) / span
