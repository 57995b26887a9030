"""The benchmark of a month on the simulator, made small: the same code over days instead of a month."""

from __future__ import annotations

import pytest

from benchmarks.month import compared


@pytest.mark.slow
async def test_at_as_many_calls_the_schedule_sees_news_at_least_a_third_sooner_than_polling_all_alike():
    seen = await compared(repos=40, days=6, every_h=8.0)
    follow, watched, third = seen["follow"], seen["watch"], seen["watch, a third"]
    assert follow.found > 300, "there were news"
    assert follow.mean_h == pytest.approx(4.0, abs=0.8), "polling all alike sees news after half its interval"
    assert 0.9 * follow.calls <= watched.calls <= follow.calls
    assert third.calls <= follow.calls / 3
    assert watched.mean_h <= follow.mean_h / 1.5
    assert watched.found >= follow.found
