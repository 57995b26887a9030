"""The benchmark of a month on the simulator, made small: the same code over days instead of a month."""

from __future__ import annotations

import pytest

from benchmarks.month import compared


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_at_as_many_calls_news_is_seen_twice_as_early_and_a_third_of_the_calls_keeps_as_much_freshness():
    seen = await compared(repos=50, days=7, every_h=6.0)
    follow, watched, third = seen["follow"], seen["watch"], seen["watch, a third"]
    assert follow.found > 500, "there were news"
    assert follow.mean_h == pytest.approx(3.0, abs=0.6), "polling all alike sees news after half its interval"
    assert 0.98 * follow.calls <= watched.calls <= follow.calls
    assert watched.mean_h <= follow.mean_h / 2
    assert watched.found >= follow.found
    assert third.calls <= follow.calls / 3
    assert third.fresh >= follow.fresh
    assert third.found >= follow.found
    assert third.mean_h <= 1.5 * follow.mean_h, "the mean is of the rare ones, which are asked seldom"
