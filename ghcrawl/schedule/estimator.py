"""Estimates a source's rate from its answers: two gamma posteriors with exact forgetting. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, log
from typing import Final

from msgspec import Struct

from ghcrawl.values.frozen import replace
from ghcrawl.values.source import Estimate

SLOW_D: Final = 30.0
FAST_D: Final = 1.0
"""Half-lives in days: what a source is like, and what it does at the moment."""
FADE_D: Final = 3.0
"""A burst is expected to fade with this time constant."""
PRIOR_ITEMS: Final = 0.35
"""Weight of the pool's mean rate, in items."""
FAST_PRIOR_D: Final = 0.75
"""Weight of the slow rate within the fast one, in days."""
REACH_CAP_D: Final = 90.0
"""A first answer proves silence no further back."""
TOLERANCE_D: Final = 1.0 / 24.0
"""Two clocks may differ by this much; dates further off are wrong."""
LN2: Final = log(2.0)


class Reading(Struct, frozen=True, kw_only=True):
    """The result of one call.

    now: when it was made, days by our clock. times: dates of the new items, in any order. undated: new items without
    one. truncated: the page was full, and older new items were pushed out of it.
    reach: on a first call, for how many days silence can be taken for silence (see `Pool.reach`).
    """

    now: float
    times: Sequence[float] = ()
    undated: int = 0
    truncated: bool = False
    reach: float = 0.0


class Window(Struct, frozen=True):
    """The time that a reading covers without a gap. times: of its items, sorted; spread: items with no usable date."""

    begin: float
    now: float
    times: tuple[float, ...]
    spread: int


def window(estimate: Estimate, reading: Reading) -> Window:
    """What `reading` proves.

    Dates later than now by more than an hour, or earlier than the last reading by more than an hour, are lies: their
    items are new and counted, spread over the window. The oldest item of a truncated page only says where that starts.
    """
    now, last = reading.now, estimate.last
    reach = REACH_CAP_D * 4 if last is None else now - last
    good = sorted(min(each, now) for each in reading.times if now - reach - TOLERANCE_D <= each <= now + TOLERANCE_D)
    spread = reading.undated + (len(reading.times) - len(good) if last is not None else 0)
    if last is None:
        oldest = good[0] if good else now
        if not reading.truncated:
            return Window(min(oldest, now - min(reading.reach, REACH_CAP_D)), now, tuple(good), spread)
    elif not reading.truncated:
        return Window(last, now, tuple(max(each, last) for each in good), spread)
    if not good:  # a full page without one date: at least these came since
        return Window(now - (reading.reach if last is None else reach), now, (), spread)
    begin = good[0] if last is None else max(good[0], last)
    return Window(begin, now, tuple(max(each, begin) for each in good[1:]), spread)


def observe(estimate: Estimate, reading: Reading) -> Estimate:
    """`estimate` with what `reading` says.

    A reading that is not later than the last one is a late duplicate and changes nothing, unless the last one lies in
    the future by more than an hour: then a clock was wrong, and counting starts again from `reading.now`.
    """
    now, last = reading.now, estimate.last
    if last is not None and now <= last:
        return replace(estimate, last=now) if last - now > TOLERANCE_D else estimate
    seen = window(estimate, reading)
    passed = 0.0 if last is None else now - last
    slow = _discounted(estimate.slow_items, estimate.slow_days, passed, SLOW_D, seen)
    fast = _discounted(estimate.fast_items, estimate.fast_days, passed, FAST_D, seen)
    return Estimate(now, *slow, *fast)


def _discounted(items: float, exposure: float, passed: float, half: float, seen: Window) -> tuple[float, float]:
    rate = LN2 / half
    keep = exp(-rate * passed)
    covered = -expm1(-rate * (seen.now - seen.begin)) / rate
    now = seen.now
    items = items * keep + sum([exp(rate * (time - now)) for time in seen.times])
    if seen.spread:
        span = seen.now - seen.begin
        items += seen.spread * (covered / span if span > 0 else 1.0)
    return items, exposure * keep + covered


def rates(estimate: Estimate, prior: float) -> tuple[float, float]:
    """Items a day: what the source is like, and what it does at the moment."""
    slow = (PRIOR_ITEMS + estimate.slow_items) / (PRIOR_ITEMS / prior + estimate.slow_days)
    fast = (FAST_PRIOR_D * slow + estimate.fast_items) / (FAST_PRIOR_D + estimate.fast_days)
    return slow, fast


def expected(slow: float, fast: float, passed: float) -> float:
    """New items to expect `passed` days of the pool's clock after the last reading."""
    return slow * passed - (fast - slow) * FADE_D * expm1(-passed / FADE_D)
