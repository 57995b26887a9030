"""Strategies as values: which source is worth a call most, and when one will be worth a given price.

All answer two questions of one source. `value`: how much is a call worth now; only the order of values matters. `due`:
from when on is it worth at least `price`. A new strategy is a class here and a row in `STRATEGIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, inf, sqrt
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from ghcrawl.schedule.estimator import expected, rates
from ghcrawl.schedule.platform_statistics import Outlook
from ghcrawl.schedule.source_history import pending
from ghcrawl.values.source import StrategyName, WatchedSource

EXPONENT: Final = 0.5
FREE_RHO: Final = 0.01
"""Cost of a free answer, as a fraction of a charged one."""
HASH_SPAN_D: Final = 30.0
"""The Hash model asks a source at least this often."""
HORIZON_D: Final = 400.0
"""Nothing is planned further ahead."""

STEPS: Final = 60
CLOSE: Final = 1e-4
"""Relative distance from the price within which a moment counts as due."""


class Strategy(Protocol):
    """Decides between sources; holds no state. Both methods assume that the source has been read before."""

    def value(self, source: WatchedSource, now: float, outlook: Outlook) -> float:
        """Value of a call now."""

    def due(self, source: WatchedSource, price: float, outlook: Outlook) -> float:
        """The first moment at which a call is worth at least `price`, 400 days ahead at most."""


class Power(Struct, frozen=True):
    """Expected new items times age in hours to the power of `exponent`: the cost of an item is its delay to that power.

    0 finds the most new items a call, 1 the least mean delay; 0.5 is the best compromise of items, delay and losses.
    """

    exponent: float = EXPONENT

    def value(self, source: WatchedSource, now: float, outlook: Outlook) -> float:
        """Value of a call now."""
        estimate = source.estimate
        age = now - _last(source)
        if age <= 0:
            return 0.0
        slow, fast = rates(estimate, outlook.prior)
        items = expected(slow, fast, outlook.profile.elapsed(now - age, now))
        return _worth(source, items, age * 24.0, self.exponent)

    def due(self, source: WatchedSource, price: float, outlook: Outlook) -> float:
        """The first moment at which a call is worth at least `price`."""
        slow, fast = rates(source.estimate, outlook.prior)
        last, phi = _last(source), outlook.profile.at
        begin = phi(last)

        def worth(age: float) -> float:
            items = expected(slow, fast, phi(last + age) - begin)
            return _worth(source, items, age * 24.0, self.exponent)

        guess = (price / (max(slow, fast) * source.weight * 24.0**self.exponent)) ** (1.0 / (1.0 + self.exponent))
        return last + (_first(worth, price, source.gap) if source.free else _crossing(worth, price, guess))


class Poisson(Struct, frozen=True):
    """CUVIM's Poisson model: a constant rate, and the most expected new items first."""

    def value(self, source: WatchedSource, now: float, outlook: Outlook) -> float:
        """Expected new items, at most a page."""
        slow, _ = rates(source.estimate, outlook.prior)
        return source.weight * _paged(slow * (now - _last(source)), source.page)

    def due(self, source: WatchedSource, price: float, outlook: Outlook) -> float:
        """When this many items are expected."""
        slow, _ = rates(source.estimate, outlook.prior)
        part = price / source.weight / source.page
        items = price / source.weight / sqrt(1.0 - part * part) if part < 0.999 else source.page * 22.0
        return _last(source) + min(items / slow, HORIZON_D)


class RoundRobin(Struct, frozen=True):
    """All alike: the one that was asked longest ago."""

    def value(self, source: WatchedSource, now: float, _outlook: Outlook) -> float:
        """Its age in days."""
        return now - _last(source)

    def due(self, source: WatchedSource, price: float, _outlook: Outlook) -> float:
        """When it reaches this age."""
        return _last(source) + min(price, HORIZON_D)


class Hash(Struct, frozen=True):
    """CUVIM's Hash model: a table of expected items for each hour of the day, and a call every 30 days at least.

    Those 30 days make it due. They give it no precedence, because all of the quiet reach them on one day: that would
    cost a third of what the strategy finds at 27 calls an hour for 10,000 sources.
    """

    def value(self, source: WatchedSource, now: float, _outlook: Outlook) -> float:
        """New items since the last call that its table expects."""
        return pending(source.trace, _last(source), now)

    def due(self, source: WatchedSource, price: float, _outlook: Outlook) -> float:
        """When its table has filled up to `price`, or after 30 days."""
        last, daily = _last(source), sum(source.trace.table)
        if daily * HASH_SPAN_D <= price:
            return last + HASH_SPAN_D
        whole = float(int(price / daily))
        low, high = whole, whole + 1.0
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if pending(source.trace, last, last + middle) < price else (low, middle)
        return last + min(high, HASH_SPAN_D)


class OrganPipe(Struct, frozen=True):
    """CUVIM's Algorithm 1: in each cycle once, the quiet at its ends and the busy in its middle."""

    def value(self, source: WatchedSource, now: float, outlook: Outlook) -> float:
        """By how many cycles its slot has passed; one source has one slot in a cycle."""
        return max(0.0, 1.0 + (now - self._slot(source, outlook)) / outlook.cycle)

    def due(self, source: WatchedSource, _price: float, outlook: Outlook) -> float:
        """Its slot in the next cycle; the price does not matter."""
        return min(self._slot(source, outlook), _last(source) + HORIZON_D)

    def _slot(self, source: WatchedSource, outlook: Outlook) -> float:
        last, cycle = _last(source), outlook.cycle
        rank = outlook.rank(rates(source.estimate, outlook.prior)[0])
        place = rank / 2.0 if int(source.key, 16) % 2 == 0 else 1.0 - rank / 2.0
        middle = last / cycle + 0.5  # at least half a cycle later, so that each has one slot in each cycle
        begin = float(int(middle - place)) + place
        return (begin if begin >= middle else begin + 1.0) * cycle


class LambdaCrawl(Struct, frozen=True):
    """Kolobov et al. 2019 with importance equal to rate: the least harmonic staleness, as an index."""

    def value(self, source: WatchedSource, now: float, outlook: Outlook) -> float:
        """The multiplier at which this age is the best interval."""
        slow, _ = rates(source.estimate, outlook.prior)
        items = slow * (now - _last(source))
        return source.weight * items * items / (1.0 + items)

    def due(self, source: WatchedSource, price: float, outlook: Outlook) -> float:
        """The best interval at this multiplier."""
        slow, _ = rates(source.estimate, outlook.prior)
        level = price / source.weight
        items = (level + sqrt(level * level + 4.0 * level)) / 2.0
        return _last(source) + min(items / slow, HORIZON_D)


def strategy_of(name: StrategyName, exponent: float = EXPONENT) -> Strategy:
    """The strategy that the settings name. exponent: of `power` only."""
    return STRATEGIES[name](exponent)


STRATEGIES: Final[Mapping[StrategyName, Callable[[float], Strategy]]] = {
    "power": Power,
    "poisson": lambda _: Poisson(),
    "round_robin": lambda _: RoundRobin(),
    "hash": lambda _: Hash(),
    "organ_pipe": lambda _: OrganPipe(),
    "lambda_crawl": lambda _: LambdaCrawl(),
}

Worth: TypeAlias = Callable[[float], float]


def new_items(source: WatchedSource, now: float, outlook: Outlook) -> float:
    """New items to expect of a call now; 0 for what was never read."""
    last = source.estimate.last
    if last is None:
        return 0.0
    return expected(*rates(source.estimate, outlook.prior), outlook.profile.elapsed(last, now))


def charged(source: WatchedSource, now: float, outlook: Outlook) -> float:
    """Calls that asking now is expected to cost: less than 1 where an unchanged answer is free."""
    if not source.free or source.estimate.last is None:
        return 1.0
    return _found(new_items(source, now, outlook))


def _found(items: float) -> float:
    """The probability of at least one new item, for items that come in bursts."""
    return items / (1.0 + items)


def _worth(source: WatchedSource, items: float, hours: float, exponent: float) -> float:
    worth: float = source.weight * _paged(items, source.page) * hours**exponent
    if not source.free:
        return worth
    twice = 1.0 - exp(-items) * (1.0 + items)
    return worth / (FREE_RHO + twice)


def _paged(items: float, page: int) -> float:
    """`items`, capped smoothly at one page."""
    part = items / page
    return items / sqrt(1.0 + part * part)


def _last(source: WatchedSource) -> float:
    last = source.estimate.last
    return -inf if last is None else last


def _crossing(worth: Worth, price: float, guess: float) -> float:
    """The age at which `worth`, which grows with age, reaches `price`: regula falsi between two ages."""
    low, high = 0.0, min(max(guess, 1e-6), HORIZON_D)
    at_low, at_high = -price, worth(high) - price
    while at_high < 0:
        if high >= HORIZON_D:
            return HORIZON_D
        low, at_low, high = high, at_high, min(high * 2.0, HORIZON_D)
        at_high = worth(high) - price
    for _ in range(STEPS):
        if high - low < 1e-5 * high or at_high < CLOSE * price:
            break
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        here = worth(middle) - price
        if -CLOSE * price < here < 0:
            return middle
        if here < 0:
            low, at_low, at_high = middle, here, at_high / 2.0
        else:
            high, at_high, at_low = middle, here, at_low / 2.0
    return high


def _first(worth: Worth, price: float, gap: float) -> float:
    """The first age at which `worth` reaches `price`, where it may fall again behind that: steps, then bisection."""
    low = high = max(gap, 30.0 / 86_400.0)
    while worth(high) < price:
        if high >= HORIZON_D:
            return HORIZON_D
        low, high = high, min(high * 1.5, HORIZON_D)
    for _ in range(20):
        middle = (low + high) / 2.0
        low, high = (middle, high) if worth(middle) < price else (low, middle)
    return high
