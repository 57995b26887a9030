"""Statistics of all sources of one platform: rhythm, mean rate, the price of a call. One row in the store."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from ghcrawl.schedule.estimator import REACH_CAP_D, Reading, rates
from ghcrawl.schedule.profile import FLAT, SLOTS, WEEK, Profile, counted, profile_of
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import Estimate, WatchedSource

DEFAULT_PRIOR: Final = 1.0
"""Items a day of a source of which nothing is known, in a pool of which nothing is known."""
RHYTHM_HALF_D: Final = 30.0
QUANTILES: Final = 64


class Pool(Struct, frozen=True, kw_only=True):
    """Statistics of the sources of one platform.

    price: the index at which a call is worth making at the budget of the moment; 0: not known yet.
    counts: items by hour of the week, discounted to `counted_at`. prior: mean items a day of a source.
    reach: for how many days back first answers have been seen to go. rates: 64 quantiles of the sources' rates,
    ascending. size: sources; read: those of them that were read. budget: calls an hour, at the last tick.
    """

    price: float = 0.0
    counts: tuple[float, ...] = (0.0,) * SLOTS
    counted_at: float = 0.0
    prior: float = DEFAULT_PRIOR
    reach: float = 0.0
    rates: tuple[float, ...] = ()
    size: int = 0
    read: float = 0.0
    budget: float = 0.0


class Outlook(Struct, frozen=True):
    """A pool as strategies look at it, with its rhythm worked out."""

    profile: Profile = FLAT
    prior: float = DEFAULT_PRIOR
    rates: tuple[float, ...] = ()
    cycle: float = 1.0
    """Days in which every source can be asked once."""

    @classmethod
    def of(cls, pool: Pool) -> Outlook:
        """The outlook on `pool`."""
        cycle = pool.size / (pool.budget * 24.0) if pool.budget > 0 and pool.size else 1.0
        return cls(profile_of(pool.counts), pool.prior, pool.rates, cycle)

    def rank(self, rate: float) -> float:
        """The share of sources with a lower rate."""
        return bisect_right(self.rates, rate) / len(self.rates) if self.rates else 0.5


def noticed(pool: Pool, before: Estimate, reading: Reading) -> Pool:
    """`pool` with what an answer says of the common rhythm, and of how far back first answers go.

    A page that was cut shows the hours before the call rather than those of the source, so only whole weeks count.
    """
    times = [time for time in reading.times if reading.now - REACH_CAP_D <= time <= reading.now]
    if not times:
        return pool
    reach = pool.reach if before.last is not None else max(pool.reach, reading.now - min(times))
    if reading.truncated or before.last is None:
        weeks = (reading.now - min(times)) // WEEK * WEEK
        times = [time for time in times if time >= reading.now - weeks]
    return replace(pool, reach=reach, counts=counted(pool.counts, times), counted_at=reading.now)


def surveyed(pool: Pool, sample: Sequence[WatchedSource], *, size: int) -> Pool:
    """`pool` with its mean rate and the quantiles of rates taken from a random `sample` of its `size` sources."""
    known = [each.estimate for each in sample if each.estimate.last is not None]
    if not known:
        return replace(pool, size=size, read=0.0)
    items = sum(rates(each, pool.prior)[0] for each in known)
    prior = max(items / len(known), 1e-3)
    slow = sorted(rates(each, prior)[0] for each in known)
    last = len(slow) - 1
    quantiles = tuple(slow[round(last * step / (QUANTILES - 1))] for step in range(QUANTILES))
    return replace(pool, prior=prior, rates=quantiles, size=size, read=size * len(known) / len(sample))


def faded(pool: Pool, now: float) -> Pool:
    """`pool` with its counts discounted to `now`, half in 30 days."""
    passed = now - pool.counted_at
    if passed <= 0 or not pool.counted_at:
        return replace(pool, counted_at=now)
    keep = 0.5 ** (passed / RHYTHM_HALF_D)
    return replace(pool, counts=tuple(count * keep for count in pool.counts), counted_at=now)
