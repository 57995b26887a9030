"""What the sources of a platform have in common."""

from __future__ import annotations

import pytest

from ghcrawl.schedule.estimator import Reading
from ghcrawl.schedule.platform_statistics import Outlook, Pool, faded, noticed, surveyed
from ghcrawl.schedule.profile import FLAT
from ghcrawl.values.source import Estimate
from tests.unit.schedule.builders import DAY, a_source, read_source

READ = Estimate(last=DAY - 2)


def test_an_answer_counts_into_the_common_rhythm():
    pool = noticed(Pool(), READ, Reading(now=DAY, times=[DAY - 1, DAY - 0.5]))
    assert sum(pool.counts) == 2
    assert pool.reach == 0, "only first answers say how far back answers go"


def test_a_page_that_was_cut_within_a_week_says_nothing_of_the_rhythm():
    reading = Reading(now=DAY, times=[DAY - 0.01] * 100, truncated=True)
    assert sum(noticed(Pool(), READ, reading).counts) == 0
    weeks = Reading(now=DAY, times=[DAY - 10 + day for day in range(10)], truncated=True)
    assert sum(noticed(Pool(), READ, weeks).counts) == 7


def test_first_answers_show_how_far_back_they_go():
    pool = noticed(Pool(), Estimate(), Reading(now=DAY, times=[DAY - 29, DAY - 1]))
    assert pool.reach == 29
    assert noticed(pool, Estimate(), Reading(now=DAY, times=[0.0])).reach == 29, "1970 is no history"


def test_counts_fade_by_half_in_thirty_days():
    pool = noticed(Pool(), READ, Reading(now=DAY, times=[DAY - 0.5] * 8))
    assert sum(faded(pool, DAY + 30).counts) == pytest.approx(4)
    assert faded(pool, DAY - 3).counts == pool.counts, "a clock that goes back fades nothing"


def test_a_sample_gives_the_mean_rate_and_the_order_of_rates():
    sample = [read_source(str(rate), rate=rate) for rate in (1, 2, 3, 10)]
    pool = surveyed(Pool(budget=10), [*sample, a_source("new")], size=400)
    assert pool.prior == pytest.approx(4, rel=0.1)
    outlook = Outlook.of(pool)
    assert outlook.rank(0.1) == 0
    assert outlook.rank(100) == 1
    assert outlook.cycle == pytest.approx(400 / 240)


def test_nothing_is_known_of_an_empty_pool():
    outlook = Outlook.of(surveyed(Pool(), [], size=0))
    assert (outlook.profile, outlook.prior, outlook.rank(3.0), outlook.cycle) == (FLAT, 1.0, 0.5, 1.0)
