"""The picture of a source, and the four classes."""

from __future__ import annotations

import pytest

from ghcrawl.schedule.source_history import pending, traced, user_class
from ghcrawl.values.source import TRACE_DAYS, Trace
from tests.unit.schedule.builders import DAY


def trace_of(*moments: float) -> Trace:
    return traced(Trace(), moments, since=None, now=DAY)


def test_days_move_on_and_what_is_older_than_thirty_is_dropped():
    trace = traced(Trace(), [DAY, DAY, DAY - 29, DAY - 30], since=None, now=DAY)
    assert (trace.days[-1], trace.days[0], sum(trace.days)) == (2, 1, 3)
    later = traced(trace, [DAY + 3], since=DAY, now=DAY + 3)
    assert (later.days[-1], later.days[-4], sum(later.days)) == (1, 2, 3)
    assert sum(traced(later, [], since=DAY + 3, now=DAY + 400).days) == 0


def test_counts_stop_at_what_a_byte_holds():
    trace = trace_of(*[DAY] * 1000)
    assert trace.days[-1] == 255
    assert max(trace.hours) <= 255


def test_a_clock_that_goes_back_moves_nothing():
    trace = trace_of(DAY)
    back = traced(trace, [DAY - 5], since=DAY, now=DAY - 5)
    assert (back.day, back.days[-1], back.days[-6]) == (int(DAY), 1, 1)


def test_the_table_expects_what_came_at_the_same_hour():
    trace = Trace()
    for day in range(20):
        trace = traced(trace, [DAY + day + 0.5] * 4, since=DAY + day, now=DAY + day + 1)
    end = DAY + 20
    assert pending(trace, end, end + 0.4) == 0
    assert pending(trace, end, end + 1) == pytest.approx(4, rel=0.5)
    assert pending(trace, end, end + 2.5) == pytest.approx(2 * pending(trace, end, end + 1))


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ([DAY - 3, DAY - 20], "inactive"),
        ([DAY - day - part / 24 for day in range(30) for part in range(24)], "authority"),
        ([DAY - day - part / 24 for day in range(30) for part in (0, 1, 2)], "constant"),
        ([DAY - 1 - part / 100 for part in range(90)], "instable"),
    ],
)
def test_the_four_classes(moments: list[float], expected: str):
    trace = trace_of(*moments)
    assert len(trace.days) == TRACE_DAYS
    assert user_class(trace) == expected
