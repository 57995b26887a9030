"""What answers say about a rate, and what becomes of answers that cannot be true."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.schedule.estimator import Reading, expected, observe, rates, window
from ghcrawl.values.source import Estimate
from tests.unit.schedule.builders import DAY

PRIOR = 1.0


def slow_rate(estimate: Estimate) -> float:
    return rates(estimate, PRIOR)[0]


def evenly(rate: float, begin: float, end: float) -> list[float]:
    return [begin + (number + 0.5) / rate for number in range(int(rate * (end - begin)))]


@pytest.mark.parametrize("rate", [0.2, 3.0, 40.0])
def test_even_news_are_estimated_at_their_rate(rate: float):
    estimate = Estimate(last=DAY)
    for day in range(1, 121):
        estimate = observe(estimate, Reading(now=DAY + day, times=evenly(rate, DAY + day - 1, DAY + day)))
    if rate < 1:
        estimate = observe(Estimate(last=DAY), Reading(now=DAY + 120, times=evenly(rate, DAY, DAY + 120)))
    assert slow_rate(estimate) == pytest.approx(rate, rel=0.1)


def test_a_page_that_was_cut_tells_the_rate_of_the_time_it_covers():
    """A hundred items of the last hour of ten days are 2,400 a day at the moment, and not ten."""
    times = [DAY - 1 / 24 + number / 100 / 24 for number in range(100)]
    cut = observe(Estimate(last=DAY - 10), Reading(now=DAY, times=times, truncated=True))
    whole = observe(Estimate(last=DAY - 10), Reading(now=DAY, times=times))
    assert slow_rate(cut) > 200
    assert slow_rate(whole) < 15


def test_forgetting_is_exact_however_often_it_is_asked():
    """Reading the same items in one call or in thirty gives the same posterior, to rounding."""
    times = evenly(7.3, DAY, DAY + 30)
    once = observe(Estimate(last=DAY), Reading(now=DAY + 30, times=times))
    often = Estimate(last=DAY)
    for day in range(1, 31):
        often = observe(often, Reading(now=DAY + day, times=[each for each in times if day - 1 <= each - DAY < day]))
    assert often.slow_items == pytest.approx(once.slow_items)
    assert often.slow_days == pytest.approx(once.slow_days)
    assert often.fast_items == pytest.approx(once.fast_items)


def test_the_first_answer_counts_from_its_oldest_item_or_as_far_as_the_pool_reaches():
    times = [DAY - 5, DAY - 2, DAY - 1]
    assert window(Estimate(), Reading(now=DAY, times=times)).begin == DAY - 5
    assert window(Estimate(), Reading(now=DAY, times=times, reach=30.0)).begin == DAY - 30
    assert window(Estimate(), Reading(now=DAY, times=times, reach=30.0, truncated=True)).begin == DAY - 5
    silent = observe(Estimate(), Reading(now=DAY, reach=30.0))
    assert slow_rate(silent) < 0.05
    assert slow_rate(observe(Estimate(), Reading(now=DAY))) == pytest.approx(PRIOR), "nothing was proved"


@given(st.floats(0.01, 50), st.floats(0.01, 30))
def test_an_answer_without_news_never_raises_the_rate(rate: float, passed: float):
    before = observe(Estimate(last=DAY - 30), Reading(now=DAY, times=evenly(rate, DAY - 30, DAY)))
    after = observe(before, Reading(now=DAY + passed))
    assert slow_rate(after) <= slow_rate(before) * (1 + 1e-9)
    assert expected(*rates(after, PRIOR), 1.0) <= expected(*rates(before, PRIOR), 1.0) * (1 + 1e-9)


def test_a_burst_is_seen_at_once_and_expected_to_fade():
    quiet = observe(Estimate(last=DAY - 60), Reading(now=DAY, times=evenly(0.5, DAY - 60, DAY)))
    burst = observe(quiet, Reading(now=DAY + 1, times=evenly(20, DAY, DAY + 1)))
    slow, fast = rates(burst, PRIOR)
    assert fast > 5 > slow
    assert expected(slow, fast, 1.0) > 3
    assert expected(slow, fast, 61.0) - expected(slow, fast, 60.0) == pytest.approx(slow, rel=0.01)


class TestDatesThatLie:
    """Their items are new and count, spread over the time since the last reading."""

    def test_dates_in_the_future_count_as_undated(self):
        times = [DAY + 400, DAY + 20_000]
        lied = observe(Estimate(last=DAY - 2), Reading(now=DAY, times=times))
        undated = observe(Estimate(last=DAY - 2), Reading(now=DAY, undated=2))
        assert lied == undated
        assert lied.slow_items == pytest.approx(2, rel=0.05)

    def test_a_clock_that_is_minutes_ahead_is_no_lie(self):
        ahead = observe(Estimate(last=DAY - 2), Reading(now=DAY, times=[DAY + 0.01]))
        assert ahead == observe(Estimate(last=DAY - 2), Reading(now=DAY, times=[DAY]))

    def test_new_items_dated_1970_count_as_undated(self):
        lied = observe(Estimate(last=DAY - 2), Reading(now=DAY, times=[0.0, 0.0, 0.0]))
        assert lied == observe(Estimate(last=DAY - 2), Reading(now=DAY, undated=3))

    def test_a_first_answer_full_of_1970_proves_nothing(self):
        assert slow_rate(observe(Estimate(), Reading(now=DAY, times=[0.0] * 50, truncated=True))) == PRIOR

    def test_the_order_of_dates_does_not_matter(self):
        times = evenly(3.0, DAY - 4, DAY)
        shuffled = [*times[5:], *reversed(times[:5])]
        reading = Reading(now=DAY, times=shuffled, truncated=True)
        assert observe(Estimate(last=DAY - 9), reading) == observe(
            Estimate(last=DAY - 9), Reading(now=DAY, times=times, truncated=True)
        )

    def test_a_full_page_with_one_and_the_same_date_stays_finite(self):
        estimate = observe(Estimate(last=DAY - 1), Reading(now=DAY, times=[DAY] * 100, truncated=True))
        assert all(map(isfinite, rates(estimate, PRIOR)))

    @given(
        st.lists(st.floats(-1e6, 1e6), max_size=40),
        st.booleans(),
        st.one_of(st.none(), st.floats(0, 3e4)),
        st.integers(0, 9),
    )
    def test_whatever_it_says_rates_stay_positive_and_finite(self, times, truncated, last, undated):
        before = Estimate(last=last)
        after = observe(before, Reading(now=DAY, times=times, truncated=truncated, undated=undated, reach=1e9))
        slow, fast = rates(after, PRIOR)
        assert 0 < slow < 1e7
        assert 0 < fast < 1e7
        assert 0 <= expected(slow, fast, 3.0) < 1e8


class TestClocksThatJump:
    def test_a_late_duplicate_changes_nothing(self):
        before = observe(Estimate(last=DAY - 1), Reading(now=DAY, times=[DAY - 0.5]))
        assert observe(before, Reading(now=DAY, times=[DAY - 0.5])) is before
        assert observe(before, Reading(now=DAY - 0.01, times=[DAY - 0.5])) is before

    def test_a_last_reading_in_the_far_future_is_taken_back(self):
        wrong = observe(Estimate(last=DAY - 1), Reading(now=DAY + 400))
        right = observe(wrong, Reading(now=DAY, times=[DAY - 0.5]))
        assert right.last == DAY, "it is asked again, and what it learned stays"
        assert right.slow_days == wrong.slow_days

    def test_a_leap_of_a_year_makes_it_look_silent_until_the_next_news(self):
        busy = observe(Estimate(last=DAY - 30), Reading(now=DAY, times=evenly(10, DAY - 30, DAY)))
        leapt = observe(busy, Reading(now=DAY + 365))
        assert slow_rate(leapt) < 0.1
        again = observe(leapt, Reading(now=DAY + 366, times=evenly(10, DAY + 365, DAY + 366)))
        assert rates(again, PRIOR)[1] > 3


class TestPages:
    def test_an_empty_page_is_silence(self):
        assert observe(Estimate(last=DAY), Reading(now=DAY + 2)).slow_items == 0

    def test_a_page_of_a_hundred_thousand_items_is_a_rate_like_another(self):
        times = evenly(100_000, DAY - 1, DAY)
        assert rates(observe(Estimate(last=DAY - 1), Reading(now=DAY, times=times)), PRIOR)[1] > 50_000
