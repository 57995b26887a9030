"""A watched source: anything that is asked again and again, and how often it had news. Frozen, a few hundred bytes.

Moments are days since 1970-01-01 UTC as floats, because rates are items per day; `days` converts.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final, Literal

from msgspec import Struct

StrategyName = Literal["power", "poisson", "round_robin", "hash", "organ_pipe", "lambda_crawl"]
NamedBy = Literal["operator", "follow", "rule"]
"""Who made it a source: a `watch` command, `--follow` or `serve`, or the rule `schedule.discover`."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
DAY_S: Final = 86_400.0
TRACE_DAYS: Final = 30
HOURS: Final = 24


def days(moment: datetime) -> float:
    """`moment` as days since 1970-01-01 UTC."""
    return (moment - EPOCH).total_seconds() / DAY_S


def moment_of(day: float) -> datetime:
    """The aware UTC datetime that `days` made `day` from."""
    return EPOCH + timedelta(days=day)


class Estimate(Struct, frozen=True):
    """How fast items appear: two gamma posteriors with exponential forgetting, and when the source was last read.

    last: when it was last read; None: never. slow_*, fast_*: items and exposure in days, each discounted to `last`
    with a half-life of 30 days and of 1 day.
    """

    last: float | None = None
    slow_items: float = 0.0
    slow_days: float = 0.0
    fast_items: float = 0.0
    fast_days: float = 0.0


class Trace(Struct, frozen=True):
    """What was seen of a source by day and by hour: for pictures, classes of users and the Hash strategy.

    day: number of the last day in `days`. days: items of each of 30 days, at most 255, oldest first. hours: items by
    hour of the day (UTC), halved whenever one would pass 255. table: the Hash model's items per hour slot.
    """

    day: int = 0
    days: bytes = bytes(TRACE_DAYS)
    hours: bytes = bytes(HOURS)
    table: tuple[float, ...] = (0.0,) * HOURS


class WatchedSource(Struct, frozen=True, kw_only=True):
    """One thing that is asked again and again.

    key: names it: `source_key`. policy: spec string of the requests made for it. owner: type and URL it was named by.
    page: items that one call returns at most. free: an unchanged answer costs no quota.
    due: when its strategy would ask it; not_before: a floor (poll interval, Retry-After, backoff) under that.
    gap: minimum days between two calls. weight: multiplies its index. pin: days between two calls, fixed; 0: no pin.
    asked: until when a call for it is taken to be under way. version: raised by every write; errors: in a row.
    calls, items: totals since it became a source.
    """

    key: str
    platform: str
    type: str
    url: str
    policy: str = "default"
    scope: str = ""
    named_by: NamedBy = "operator"
    estimate: Estimate = Estimate()
    trace: Trace = Trace()
    page: int = 100
    free: bool = False
    due: float = 0.0
    not_before: float = 0.0
    gap: float = 0.0
    weight: float = 1.0
    pin: float = 0.0
    asked: float = 0.0
    version: int = 0
    errors: int = 0
    calls: int = 0
    items: int = 0
    news: float = 0.0


def source_key(platform: str, type: str, url: str) -> str:
    """20 hex digits that name the source. Evenly spread, so that a range of them is a random sample."""
    return blake2b(f"{platform}\n{type}\n{url}".encode(), digest_size=10).hexdigest()
