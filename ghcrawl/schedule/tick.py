"""One tick: which sources are asked now, and what the price of a call becomes. Pure.

The price only decides which candidates are looked at; their values of the moment decide who is asked. So it need not
be exact, nor the same in all replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log
from operator import itemgetter
from statistics import median
from typing import Final

from msgspec import Struct

from ghcrawl.schedule.estimator import TOLERANCE_D, Reading, observe, window
from ghcrawl.schedule.platform_statistics import Outlook
from ghcrawl.schedule.source_history import traced
from ghcrawl.schedule.strategies import HORIZON_D, Power, Strategy, charged
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import WatchedSource

LOOK: Final = 8
"""Candidates that are looked at for each call that may be made."""
LEAST_LOOK: Final = 50
AGED_SHARE: Final = 0.1
"""At most this part of the budget goes to sources only because they are old."""
AGED_FROM: Final = 0.75
"""A source counts as old from this part of `max_age_d` on, so that it is asked before."""
STEP_AN_HOUR: Final = 0.05
"""How fast the price follows the values that are paid."""
CLIP: Final = 0.5
BACKOFF_MIN_D: Final = 1.0 / 1440.0
BACKOFF_MAX_D: Final = 1.0
SAMPLE: Final = 800


class Budget(Struct, frozen=True, kw_only=True):
    """The budget of a tick. calls: charged calls; asks: requests in all, free answers included."""

    calls: float
    asks: int


class Plan(Struct, frozen=True):
    """How sources are compared at the moment. price: the value at which a call is worth making; 0: not known yet."""

    strategy: Strategy = Power()
    outlook: Outlook = Outlook()
    price: float = 0.0


class Choice(Struct, frozen=True, kw_only=True):
    """The decision of a tick. ask: best first, with what each is worth. later: others, with the new due moment.

    level: median value of what is asked by value; None: nothing was. cost: calls that are expected to be charged.
    """

    ask: tuple[tuple[WatchedSource, float], ...] = ()
    later: tuple[tuple[WatchedSource, float], ...] = ()
    level: float | None = None
    cost: float = 0.0


def wanted(budget: Budget) -> int:
    """How many candidates to read, in order of due, for this budget."""
    return max(LOOK * budget.asks, LEAST_LOOK) if budget.asks > 0 else 0


def aged_wanted(budget: Budget) -> int:
    """How many of the oldest to read."""
    return max(1, int(budget.asks * AGED_SHARE)) if budget.asks > 0 else 0


def choose(
    candidates: Sequence[WatchedSource],
    aged: Sequence[WatchedSource],
    budget: Budget,
    now: float,
    plan: Plan,
) -> Choice:
    """Spend `budget` on the best of `candidates`, and a tenth of it at most on `aged`.

    Sources that were never read come first, then pins that are due. A source below its floor is not asked. Those that
    are left over and not worth the price yet get a new due moment, so that they make room for others.
    """
    open_ = [each for each in candidates if each.not_before <= now and each.asked <= now]
    ranked = sorted(((worth(each, now, plan), each) for each in open_), key=itemgetter(0), reverse=True)
    old = [each for each in aged if each.not_before <= now and each.asked <= now][: aged_wanted(budget)]
    purse = _Purse(budget)
    taken = {each.key: (each, inf) for each in old if purse.pays(charged(each, now, plan.outlook))}
    values = []
    for value, each in ranked:
        if purse.full:
            break
        if each.key not in taken and purse.pays(charged(each, now, plan.outlook)):
            taken[each.key] = (each, value)
            if value < inf:
                values.append(value)
    left = [(each, value) for value, each in ranked if each.key not in taken and value < plan.price]
    later = tuple((each, next_due(each, now, plan)) for each, _ in left)
    return Choice(
        ask=tuple(taken.values()),
        later=tuple((each, due) for each, due in later if due > each.due),
        level=median(values) if values else None,
        cost=purse.cost,
    )


class _Purse:
    """Counts what a tick spends."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._asks = 0
        self.cost = 0.0

    @property
    def full(self) -> bool:
        """Nothing more can be asked."""
        return self._asks >= self._budget.asks or self.cost >= self._budget.calls

    def pays(self, cost: float) -> bool:
        """Spend `cost`, unless that is more than is left."""
        if self._asks >= self._budget.asks or self.cost + cost > self._budget.calls + 1e-6:
            return False
        self._asks += 1
        self.cost += cost
        return True


def worth(source: WatchedSource, now: float, plan: Plan) -> float:
    """Value of asking `source` now; infinite if it was never read or its pin is due."""
    last = source.estimate.last
    if last is None or (source.pin and now - last >= source.pin):
        return inf
    return plan.strategy.value(source, now, plan.outlook)


def next_due(source: WatchedSource, now: float, plan: Plan) -> float:
    """When `source` will be worth the price, never below its floor. Without a price: at once."""
    last = source.estimate.last
    if last is None:
        return max(now, source.not_before)
    due = plan.strategy.due(source, plan.price, plan.outlook) if plan.price > 0 else last
    if source.pin:
        due = min(due, last + source.pin)
    return max(due, source.not_before, last + source.gap)


def repriced(price: float, level: float | None, hours: float) -> float:
    """`price` after a tick that paid `level` at the median. hours: since the tick before.

    A tick moves it by at most 2.5 % an hour, so a budget that jumps makes it drift and never swing.
    """
    if level is None or level <= 0:
        return price
    if price <= 0:
        return level
    return price * exp(STEP_AN_HOUR * min(hours, 24.0) * max(-CLIP, min(CLIP, log(level / price))))


def first_price(sample: Sequence[WatchedSource], size: int, budget: float, plan: Plan) -> float:
    """The price at which all sources together ask for `budget` calls an hour, from a random sample of them; or 0."""
    known = [each for each in sample if each.estimate.last is not None]
    if not known or budget <= 0:
        return 0.0
    each = size / len(known)
    low, high = 1e-9, 1e9
    for _ in range(50):
        middle = (low * high) ** 0.5
        asked = each * sum(1.0 / max(_interval(source, middle, plan), 1e-4) for source in known) / 24.0
        low, high = (middle, high) if asked > budget else (low, middle)
    return high


def _interval(source: WatchedSource, price: float, plan: Plan) -> float:
    last = source.estimate.last or 0.0
    return min(plan.strategy.due(source, price, plan.outlook) - last, HORIZON_D)


def backed_off(source: WatchedSource, now: float, *, retry_after: float = 0.0) -> WatchedSource:
    """`source` after a call that failed: a later floor, the same estimate. retry_after: days."""
    errors = min(source.errors + 1, 30)
    wait = max(min(BACKOFF_MIN_D * 2.0 ** (errors - 1), BACKOFF_MAX_D), retry_after, source.gap)
    return replace(source, errors=errors, not_before=now + wait, due=max(source.due, now + wait), asked=0.0)


def answered(source: WatchedSource, reading: Reading, plan: Plan) -> WatchedSource:
    """`source` after a call that answered: what it learned, and when it is due again."""
    last = source.estimate.last
    if last is not None and 0.0 <= last - reading.now <= TOLERANCE_D:
        return replace(source, asked=0.0)  # a late duplicate
    seen = window(source.estimate, reading)
    found = len(reading.times) + reading.undated
    read = replace(
        source,
        estimate=observe(source.estimate, reading),
        trace=traced(source.trace, seen.times, since=last, now=reading.now),
        asked=0.0,
        errors=0,
        calls=source.calls + 1,
        items=source.items + (found if last is not None else 0),
        news=max(source.news, max(seen.times, default=source.news)),
    )
    return replace(read, due=next_due(read, reading.now, plan))


class Ticked(Struct, frozen=True, kw_only=True):
    """Report of one tick.

    expected: new items of what was asked. oldest_d: age of the source that was read longest ago; short: it is too old.
    """

    asked: int = 0
    cost: float = 0.0
    expected: float = 0.0
    sources: int = 0
    overdue: int = 0
    price: float = 0.0
    hourly: float = 0.0
    oldest_d: float = 0.0
    short: bool = False
