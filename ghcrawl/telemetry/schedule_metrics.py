"""Prometheus metrics of the schedule: what is watched, what a call is worth, and what calls found."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge

from ghcrawl.schedule.poolstate import PoolState
from ghcrawl.schedule.tick import Ticked
from ghcrawl.schedule.ticker import Ticker
from ghcrawl.values.source import DAY_S

LABELS: Final = ["platform"]


class ScheduleMetrics:
    """Metric objects in `registry`. Gauges say what all replicas share; counters what this process did."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._sources = Gauge("ghcrawl_schedule_sources", "Sources that are watched", LABELS, registry=registry)
        self._price = Gauge("ghcrawl_schedule_price", "Value at which calls are made", LABELS, registry=registry)
        self._hourly = Gauge(
            "ghcrawl_schedule_calls_per_hour", "Calls an hour that the schedule may spend", LABELS, registry=registry
        )
        self._oldest = Gauge(
            "ghcrawl_schedule_oldest_timestamp_seconds",
            "When the source was read that was read longest ago",
            LABELS,
            registry=registry,
        )
        self._max_age = Gauge(
            "ghcrawl_schedule_max_age_seconds", "Age that no source should exceed", LABELS, registry=registry
        )
        self._asked = Counter("ghcrawl_schedule_asked", "Sources asked", LABELS, registry=registry)
        self._cost = Counter("ghcrawl_schedule_cost", "Calls that they should cost", LABELS, registry=registry)
        self._expected = Counter(
            "ghcrawl_schedule_expected_items",
            "New items expected of them",
            LABELS,
            registry=registry,
        )
        self._items = Counter("ghcrawl_schedule_items", "New items found", LABELS, registry=registry)

    def follow(self, ticker: Ticker) -> None:
        """From now on what `ticker` does is counted."""
        name = ticker.platform
        for counter in (self._asked, self._cost, self._expected, self._items):
            counter.labels(name)
        ticker.tell = lambda ticked: self._ticked(name, ticked)
        ticker.found = lambda items: self._items.labels(name).inc(items)
        ticker.seen = lambda state: self._seen(name, state, ticker.options.max_age_d)

    def _ticked(self, platform: str, ticked: Ticked) -> None:
        self._asked.labels(platform).inc(ticked.asked)
        self._cost.labels(platform).inc(ticked.cost)
        self._expected.labels(platform).inc(ticked.expected)

    def _seen(self, platform: str, state: PoolState, max_age_d: float) -> None:
        self._sources.labels(platform).set(state.pool.size)
        self._price.labels(platform).set(state.pool.price)
        self._hourly.labels(platform).set(state.pool.budget)
        if state.oldest > 0:
            self._oldest.labels(platform).set(state.oldest * DAY_S)
        self._max_age.labels(platform).set(max_age_d * DAY_S)
