"""The hours of a week: a pool's common rhythm, as a clock on which its news come evenly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct

SLOTS: Final = 168
"""Hours of a week. Slot 0 starts with day 0 of the clock, on any weekday."""
WEEK: Final = 7.0
FLOOR: Final = 0.05
"""Every hour runs at least at this part of the mean pace: a silent hour must not stop the clock."""
WEIGHT: Final = 4.0
"""Items that each hour of the week starts with, shared out like those of the same hour on all days."""


class Profile(Struct, frozen=True):
    """A clock that runs fast in busy hours and slow in quiet ones, with a mean pace of 1.

    cumulative: days of this clock that have passed at the start of each of the 168 hours, and 7.0 at the end.
    """

    cumulative: tuple[float, ...]

    def at(self, day: float) -> float:
        """What this clock shows at `day`."""
        weeks, rest = divmod(day, WEEK)
        position = rest * 24.0
        slot = int(position)
        if slot >= SLOTS:  # a rest that was rounded up to a whole week
            return (weeks + 1.0) * WEEK
        begin = self.cumulative[slot]
        return weeks * WEEK + begin + (position - slot) * (self.cumulative[slot + 1] - begin)

    def elapsed(self, since: float, until: float) -> float:
        """Days of this clock between two moments."""
        return self.at(until) - self.at(since)


FLAT: Final = Profile(tuple(slot / 24.0 for slot in range(SLOTS + 1)))
"""No rhythm: the clock on the wall."""


def profile_of(counts: Sequence[float]) -> Profile:
    """The rhythm of items counted by hour of the week; FLAT where there are none. counts: 168, never negative."""
    if sum(counts) <= 0:
        return FLAT
    of_day = [sum(counts[hour::24]) + WEIGHT for hour in range(24)]
    mean = sum(of_day) / 24
    paces = [counts[slot] + WEIGHT * of_day[slot % 24] / mean for slot in range(SLOTS)]
    floor = FLOOR * sum(paces) / SLOTS
    raised = [max(pace, floor) for pace in paces]
    unit = WEEK / sum(raised)
    sums = list(accumulate((pace * unit for pace in raised), initial=0.0))
    return Profile((*sums[:-1], WEEK))


def slot_of(day: float) -> int:
    """The hour of the week that `day` lies in."""
    return min(int((day % WEEK) * 24.0), SLOTS - 1)


def counted(counts: Sequence[float], times: Iterable[float], *, keep: float = 1.0) -> tuple[float, ...]:
    """`counts`, multiplied by `keep`, and `times` counted in."""
    sums = [count * keep for count in counts]
    for time in times:
        sums[slot_of(time)] += 1.0
    return tuple(sums)
