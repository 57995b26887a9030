"""The clock on which a pool's news come evenly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.schedule.profile import FLAT, SLOTS, counted, profile_of, slot_of

BY_DAY = [10.0 if 9 <= slot % 24 < 21 else 0.0 for slot in range(SLOTS)]


@given(st.floats(-1e5, 1e5))
def test_without_a_rhythm_it_is_the_clock_on_the_wall(day: float):
    assert FLAT.at(day) == pytest.approx(day, abs=1e-6)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1e6), min_size=SLOTS, max_size=SLOTS), st.floats(0, 3e4), st.floats(0, 100))
def test_it_never_stops_and_a_week_is_a_week(counts, day, passed):
    profile = profile_of(counts)
    assert profile.elapsed(day, day + 7.0) == pytest.approx(7.0, abs=1e-6)
    assert profile.elapsed(day, day + passed) >= 0.04 * passed - 1e-6


def test_it_runs_fast_while_there_is_news_and_slowly_at_night():
    profile = profile_of(counted(BY_DAY, []))
    noon, night = profile.elapsed(12 / 24, 13 / 24), profile.elapsed(3 / 24, 4 / 24)
    assert noon > 5 * night > 0


def test_few_items_make_no_rhythm():
    counts = counted([0.0] * SLOTS, [0.5 / 24])
    assert counts[slot_of(0.5 / 24)] == 1
    profile = profile_of(counts)
    assert profile.elapsed(0, 1 / 24) < 5 * profile.elapsed(1 / 24, 2 / 24), "one item moves the clock a little"
    assert profile_of([0.0] * SLOTS) is FLAT
