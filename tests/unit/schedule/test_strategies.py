"""Which source is worth a call most, and when one will be worth a price."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.schedule.platform_statistics import Outlook
from ghcrawl.schedule.profile import profile_of
from ghcrawl.schedule.source_history import traced
from ghcrawl.schedule.strategies import (
    FREE_RHO,
    HORIZON_D,
    STRATEGIES,
    Hash,
    LambdaCrawl,
    OrganPipe,
    Poisson,
    Power,
    RoundRobin,
    charged,
    strategy_of,
)
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import StrategyName, Trace
from tests.unit.schedule.builders import DAY, a_source, read_source

pytestmark = pytest.mark.slow

RHYTHM = Outlook(profile_of([1.0 + 9.0 * (9 <= slot % 24 < 21) for slot in range(168)]))
PRICED = [Power(0.0), Power(0.5), Power(1.0), Poisson(), LambdaCrawl(), RoundRobin()]


def test_every_strategy_that_the_settings_name_is_there():
    assert set(STRATEGIES) == set(get_args(StrategyName))
    assert strategy_of("power", 0.25) == Power(0.25)


@pytest.mark.parametrize("strategy", PRICED, ids=repr)
@given(rate=st.floats(0.02, 200), price=st.floats(0.01, 50), weight=st.floats(0.5, 4))
def test_due_inverts_value(strategy, rate, price, weight):
    source = read_source(rate=rate, weight=weight)
    due = strategy.due(source, price, RHYTHM)
    assert due > DAY
    if due < DAY + 300:
        assert strategy.value(source, due, RHYTHM) == pytest.approx(price, rel=2e-3)


@pytest.mark.parametrize("strategy", [*PRICED, Hash(), OrganPipe()], ids=repr)
@given(rate=st.floats(0, 200), ages=st.lists(st.floats(0.001, 80), min_size=2, max_size=6))
def test_value_never_falls_with_age(strategy, rate, ages):
    source = read_source(rate=rate)
    values = [strategy.value(source, DAY + age, RHYTHM) for age in sorted(ages)]
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(values))


@pytest.mark.parametrize("strategy", [*PRICED, Hash(), OrganPipe()], ids=repr)
def test_nothing_is_planned_further_ahead_than_400_days(strategy):
    assert strategy.due(read_source(rate=0), 1e9, Outlook()) <= DAY + HORIZON_D


def test_the_interval_follows_the_rate_to_the_power_of_two_thirds():
    """With p = 1/2 the rate of calls grows with rate^(1/(1+p)): eight times the news, four times the calls."""
    outlook, strategy = Outlook(prior=1.0), Power(0.5)
    slow, busy = read_source(rate=0.5, page=10**6), read_source(rate=4.0, page=10**6)
    intervals = [strategy.due(each, 20.0, outlook) - DAY for each in (slow, busy)]
    assert intervals[0] / intervals[1] == pytest.approx(4.0, rel=0.1)


def test_more_than_a_page_is_worth_no_more_than_a_page():
    source = read_source(rate=500.0, page=100)
    assert Power(0.0).value(source, DAY + 5, Outlook()) < 100


def test_weight_multiplies_the_index():
    source = read_source(rate=1.0)
    heavy = replace(source, weight=3.0)
    assert Power().value(heavy, DAY + 1, Outlook()) == pytest.approx(3 * Power().value(source, DAY + 1, Outlook()))


def test_where_unchanged_answers_are_free_quiet_sources_are_asked_often():
    quiet = read_source(rate=0.05)
    free = replace(quiet, free=True)
    price = 5.0
    assert Power().due(free, price, Outlook()) - DAY < 0.1 * (Power().due(quiet, price, Outlook()) - DAY)
    assert charged(free, DAY + 0.01, Outlook()) < 0.01
    assert charged(quiet, DAY + 0.01, Outlook()) == 1.0
    assert (
        Power().value(free, DAY + 0.01, Outlook()) < 1.0 / FREE_RHO * Power().value(quiet, DAY + 0.01, Outlook()) * 1.01
    )


def test_a_free_source_is_not_due_before_its_gap():
    free = read_source(rate=1.0, free=True, gap=0.5)
    assert Power().due(free, 1e-6, Outlook()) >= DAY + 0.5 - 1e-5


def test_hash_asks_after_thirty_days_at_the_latest_and_when_its_table_has_filled():
    silent = read_source(rate=0)
    assert Hash().due(silent, 10.0, Outlook()) == DAY + 30
    assert Hash().value(silent, DAY + 31, Outlook()) == 0, "due, but without precedence"
    noon = [DAY - day + 0.5 for day in range(1, 20)]
    punctual = replace(read_source(rate=1), trace=traced(Trace(), noon, since=None, now=DAY))
    due = Hash().due(punctual, sum(punctual.trace.table) * 1.5, Outlook())
    assert 12 <= (due % 1) * 24 <= 13, "it fills at noon"


def test_the_organ_pipe_gives_each_source_one_slot_in_a_cycle_and_the_busy_the_middle():
    outlook = Outlook(rates=tuple(range(1, 65)), cycle=10.0)
    busy, quiet = read_source("x", rate=200.0), read_source("y", rate=0.5)
    slots = [OrganPipe().due(each, 1.0, outlook) % 10.0 for each in (busy, quiet)]
    assert slots[0] == pytest.approx(5.0)
    assert min(slots[1], 10 - slots[1]) < 0.5
    for each in (busy, quiet):
        first = OrganPipe().due(each, 1.0, outlook)
        again = replace(each, estimate=replace(each.estimate, last=first))
        assert OrganPipe().due(again, 1.0, outlook) == pytest.approx(first + 10.0)


def test_what_was_never_read_costs_a_whole_call():
    assert charged(a_source(free=True), DAY, Outlook()) == 1.0
