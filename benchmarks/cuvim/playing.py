"""A scheduler plays against events: hourly ticks under a budget, and the score."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from benchmarks.cuvim.events import Events
from ghcrawl.schedule import platform_statistics as pools
from ghcrawl.schedule import tick
from ghcrawl.schedule.estimator import Reading
from ghcrawl.schedule.platform_statistics import Outlook, Pool
from ghcrawl.schedule.strategies import Strategy
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import WatchedSource, source_key

PAGE: Final = 100
HOUR: Final = 1.0 / 24.0
SURVEY_EVERY_H: Final = 24
MAX_AGE_D: Final = 30.0
BEGIN_D: Final = 7.0 * 3000
"""The world's day 0 in the scheduler's days: a whole number of weeks."""


class Score(Struct, frozen=True, kw_only=True):
    """items: found; share: of all that appeared; delays: hours, over items found; lost: pushed out of the page."""

    items: int
    share: float
    mean_h: float
    median_h: float
    lost: int
    calls: int
    oldest_d: float = 0.0

    def row(self) -> dict[str, float | int]:
        """For JSON, rounded to what means something."""
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}


@dataclass(slots=True)
class SimulatedApi:
    """What has been found: each source's state on the platform's side."""

    events: Events
    page: int = PAGE
    calls: int = 0
    lost: int = 0
    seen: list[int] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Nothing is seen yet."""
        self.seen = self.events.starts[:-1].tolist()

    def ask(self, source: int, now: float) -> Reading:
        """One call: the newest items up to `now`, at most a page; those that are new, in the scheduler's days."""
        times, begin = self.events.times, self.seen[source]
        end = begin + int(np.searchsorted(times[begin : int(self.events.starts[source + 1])], now, side="right"))
        first = max(begin, end - self.page)
        found = times[first:end].tolist()
        new = [time for time in found if time >= 0.0]
        self.delays += [now - time for time in new]
        self.lost += first - begin - int((times[begin:first] < 0).sum()) if first > begin else 0
        self.seen[source] = end
        self.calls += 1
        moments = [time + BEGIN_D for time in found]
        return Reading(now=now + BEGIN_D, times=moments, truncated=end - begin >= self.page)

    def score(self, oldest_d: float = 0.0) -> Score:
        """What all calls together were worth."""
        delays, total = np.asarray(self.delays), self.events.scored
        return Score(
            items=len(delays),
            share=len(delays) / total if total else 1.0,
            mean_h=float(delays.mean() * 24) if len(delays) else 0.0,
            median_h=float(np.median(delays) * 24) if len(delays) else 0.0,
            lost=self.lost,
            calls=self.calls,
            oldest_d=oldest_d,
        )


class Table:
    """The sources, ordered by when they are due and by when they were read."""

    def __init__(self, sources: Sequence[WatchedSource]) -> None:
        self.rows = {each.key: each for each in sources}
        self.number = {each.key: number for number, each in enumerate(sources)}
        self._due = sorted((each.due, each.key) for each in sources)
        self._read = sorted((each.estimate.last or 0.0, each.key) for each in sources)

    def first(self, count: int) -> list[WatchedSource]:
        """Those that are due first."""
        return [self.rows[key] for _, key in self._due[:count]]

    def oldest(self, count: int, before: float) -> list[WatchedSource]:
        """Those that were read longest ago, before a moment."""
        return [self.rows[key] for last, key in self._read[:count] if last < before]

    @property
    def longest_ago(self) -> float:
        """When the one that was read longest ago was read."""
        return self._read[0][0]

    def put(self, source: WatchedSource) -> None:
        """Replace a source."""
        old = self.rows[source.key]
        _move(self._due, (old.due, old.key), (source.due, source.key))
        _move(self._read, (old.estimate.last or 0.0, old.key), (source.estimate.last or 0.0, source.key))
        self.rows[source.key] = source


def _move(rows: list[tuple[float, str]], old: tuple[float, str], new: tuple[float, str]) -> None:
    if old != new:
        del rows[bisect_left(rows, old)]
        insort(rows, new)


Budgets = Callable[[float], float]
"""Calls an hour that may be spent at a time in days."""


@dataclass(slots=True, kw_only=True)
class Player:
    """Plays one strategy through the scheduler that ships: `tick.choose`, `tick.answered`, `tick.repriced`.

    exact: look at all sources at each tick instead of the few that are due first: what the ticker is measured by.
    free: unchanged answers are free, and `asks` requests may be made an hour in all. stride: every source is read
    once at time 0, charged.
    """

    events: Events
    strategy: Strategy
    budget: Budgets
    exact: bool = False
    free: bool = False
    asks: float = 0.0
    page: int = PAGE
    max_age_d: float = MAX_AGE_D
    pool: Pool = field(default_factory=Pool)
    plan: tick.Plan = field(default_factory=tick.Plan)
    spent: list[int] = field(default_factory=list)
    prices: list[float] = field(default_factory=list)
    charged: int = 0
    oldest_d: float = 0.0

    def play(self) -> Score:
        """Everything from time 0 to the horizon."""
        api = SimulatedApi(self.events, self.page)
        sources = [self._source(number) for number in range(self.events.sources)]
        table = Table(sources)
        self.pool = replace(self.pool, size=len(sources), budget=self.budget(0.0))
        for number, each in enumerate(sources):
            self._ask(api, table, each, number, 0.0)
        self._survey(table)
        for each in list(table.rows.values()):
            due = tick.next_due(each, BEGIN_D, self.plan)
            table.put(replace(each, due=due))
        rest = [0.0, 0.0]
        for hour in range(1, int(self.events.horizon * 24) + 1):
            self._tick(api, table, hour, rest)
        return api.score(self.oldest_d)

    def _source(self, number: int) -> WatchedSource:
        key = source_key("world", "source", str(number))
        return WatchedSource(key=key, platform="world", type="source", url=str(number), page=self.page, free=self.free)

    def _survey(self, table: Table) -> None:
        keys = sorted(table.rows)
        sample = [table.rows[key] for key in Random(hash(self.pool.size)).sample(keys, min(tick.SAMPLE, len(keys)))]
        self.pool = pools.surveyed(self.pool, sample, size=len(keys))
        self.plan = tick.Plan(self.strategy, Outlook.of(self.pool), self.pool.price)
        if self.pool.price <= 0 and not self.free:
            price = tick.first_price(sample, self.pool.size, self.pool.budget, self.plan)
            self._set_price(price)

    def _set_price(self, price: float) -> None:
        self.pool = replace(self.pool, price=price)
        self.plan = replace(self.plan, price=price)

    def _ask(self, api: SimulatedApi, table: Table, source: WatchedSource, number: int, now: float) -> None:
        reading = api.ask(number, now)
        reading = replace(reading, reach=self.pool.reach)
        self.charged += bool(reading.times) or source.estimate.last is None or not self.free
        self.pool = pools.noticed(self.pool, source.estimate, reading)
        table.put(tick.answered(source, reading, self.plan))

    def _tick(self, api: SimulatedApi, table: Table, hour: int, rest: list[float]) -> None:
        now = hour * HOUR
        rate = self.budget(now)
        rest[0] += rate
        rest[1] += self.asks if self.free else rate
        budget = tick.Budget(calls=rest[0] if self.free else int(rest[0]), asks=int(rest[1]))
        before = BEGIN_D + now - tick.AGED_FROM * self.max_age_d
        choice = tick.choose(
            list(table.rows.values()) if self.exact else table.first(tick.wanted(budget)),
            table.oldest(tick.aged_wanted(budget), before) if self.max_age_d else (),
            budget,
            BEGIN_D + now,
            replace(self.plan, price=0.0) if self.exact else self.plan,
        )
        self.oldest_d = max(self.oldest_d, BEGIN_D + now - table.longest_ago)
        self.pool = replace(self.pool, budget=rate)
        self._set_price(tick.repriced(self.pool.price, choice.level, 1.0))
        before_calls = self.charged
        for each, _ in choice.ask:
            self._ask(api, table, each, table.number[each.key], now)
        rest[0] -= self.charged - before_calls
        rest[1] -= len(choice.ask)
        self.spent.append(len(choice.ask))
        self.prices.append(self.pool.price)
        for each, due in choice.later:
            table.put(replace(each, due=due))
        if hour % SURVEY_EVERY_H == 0:
            self.pool = pools.faded(self.pool, BEGIN_D + now)
            self._survey(table)
