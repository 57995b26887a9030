"""History of a source by day and hour, and the four classes of users that CUVIM tells apart. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import fmean, pstdev
from typing import Final, Literal

from ghcrawl.values.source import HOURS, TRACE_DAYS, Trace

UserClass = Literal["inactive", "instable", "constant", "authority"]

LAST_DAY: Final = 0.05
"""Weight of the last day in the Hash model's table, the days before fading by as much each: what it does best with.

With 0.5, which is CUVIM's, it finds 4 % less, and 1.6 times as late, at 150 calls an hour for 10,000 sources.
"""


def traced(trace: Trace, times: Sequence[float], *, since: float | None, now: float) -> Trace:
    """`trace` with items of these `times`, found by a call `now`; the call before was at `since`."""
    day = int(now)
    shift = day - trace.day if trace.day else TRACE_DAYS
    days = bytearray(TRACE_DAYS)
    if 0 <= shift < TRACE_DAYS:
        days[: TRACE_DAYS - shift] = trace.days[shift:]
    elif shift < 0:  # a clock went back: nothing moves
        day, days = trace.day, bytearray(trace.days)
    hours = list(trace.hours)
    keep = 0.0 if since is None else (1.0 - LAST_DAY) ** max(now - since, 0.0)
    table = [slot * keep for slot in trace.table]
    for time in times:
        age = max(now - time, 0.0)
        place = TRACE_DAYS - 1 - (day - int(time))
        if 0 <= place < TRACE_DAYS:
            days[place] = min(days[place] + 1, 255)
        hour = int(time % 1.0 * HOURS)
        hours[hour] += 1
        table[hour] += LAST_DAY * (1.0 - LAST_DAY) ** age
    while max(hours) > 255:
        hours = [count // 2 for count in hours]
    return Trace(day, bytes(days), bytes(hours), tuple(table))


def pending(trace: Trace, since: float, now: float) -> float:
    """Items that the Hash model's table expects between two moments."""
    table = trace.table
    whole = int(now - since)
    total = whole * sum(table)
    begin, end = since % 1.0 * HOURS, (since + (now - since - whole)) % 1.0 * HOURS
    first, last = int(begin) % HOURS, int(end) % HOURS
    if first == last and end >= begin:
        return total + table[first] * (end - begin)
    between = sum(table[first + 1 : last]) if first < last else sum(table[first + 1 :]) + sum(table[:last])
    return total + table[first] * (int(begin) + 1.0 - begin) + between + table[last] * (end - int(end))


def user_class(trace: Trace) -> UserClass:
    """Which of CUVIM's four classes the last 30 days look like. For reports only: no strategy depends on it."""
    rate = fmean(trace.days)
    if rate < 1.0:
        return "inactive"
    variation = pstdev(trace.days) / rate
    if rate >= 5.0 and entropy(trace.hours) >= 0.85 and variation <= 0.8:
        return "authority"
    active = sum(count > 0 for count in trace.days) / TRACE_DAYS
    if longest_silence(trace.days) >= 9 or (active < 0.45 and variation > 2.0):
        return "instable"
    return "constant"


def entropy(hours: Sequence[int]) -> float:
    """How evenly a day is filled: 1 around the clock, 0 within one hour."""
    total = sum(hours)
    parts = [count / total for count in hours if count]
    return -sum(part * log(part) for part in parts) / log(HOURS)


def longest_silence(days: Sequence[int]) -> int:
    """The longest run of days without an item."""
    longest = run = 0
    for count in days:
        run = 0 if count else run + 1
        longest = max(longest, run)
    return longest
