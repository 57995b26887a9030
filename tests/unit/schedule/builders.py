"""Sources with only what a test is about."""

from __future__ import annotations

from typing import Any

from ghcrawl.schedule.estimator import Reading, observe
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import Estimate, WatchedSource, source_key

DAY = 20_000.0


def a_source(name: str = "a", **fields: Any) -> WatchedSource:
    """A source that was never read."""
    return WatchedSource(
        key=source_key("web", "feed", name), platform="web", type="feed", url=f"https://{name}.example/feed", **fields
    )


def read_source(name: str = "a", *, rate: float, days: float = 60.0, last: float = DAY, **fields: Any) -> WatchedSource:
    """A source that was read at `last`, when it had shown `rate` items a day for some days."""
    times = [last - days + (number + 0.5) / rate for number in range(int(rate * days))] if rate else []
    before = Estimate(last=last - days)
    return replace(a_source(name, **fields), estimate=observe(before, Reading(now=last, times=times)))
