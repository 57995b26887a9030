"""One tick: the budget is spent on the best, never exceeded, and the price follows."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.schedule.estimator import Reading
from ghcrawl.schedule.platform_statistics import Outlook
from ghcrawl.schedule.strategies import Power, RoundRobin
from ghcrawl.schedule.tick import (
    Budget,
    Plan,
    aged_wanted,
    answered,
    backed_off,
    choose,
    first_price,
    next_due,
    repriced,
    wanted,
)
from ghcrawl.values.frozen import replace
from tests.unit.schedule.builders import DAY, a_source, read_source

NOW = DAY + 1


def chosen(sources, calls: int, *, aged=(), price: float = 1.0, now: float = NOW):
    budget = Budget(calls=calls, asks=calls)
    return choose(sources, aged, budget, now, Plan(price=price))


def keys(choice) -> list[str]:
    return [source.url for source, _ in choice.ask]


def test_the_best_are_asked_and_the_budget_is_never_exceeded():
    sources = [read_source(str(rate), rate=rate) for rate in (1, 5, 2, 9, 3)]
    assert keys(chosen(sources, 2)) == ["https://9.example/feed", "https://5.example/feed"]


def test_a_budget_of_nothing_asks_nothing_reads_nothing_and_leaves_the_price():
    budget = Budget(calls=0, asks=0)
    choice = chosen([read_source(rate=5)], 0, aged=[read_source("old", rate=1)])
    assert (wanted(budget), aged_wanted(budget)) == (0, 0)
    assert choice.ask == ()
    assert repriced(3.0, choice.level, 1.0) == 3.0


def test_what_is_not_due_yet_fills_a_budget_that_is_left():
    """Work conserving: the only limit of a rich budget are floors."""
    early = read_source(rate=0.01, due=NOW + 100)
    floored = read_source("b", rate=50, not_before=NOW + 0.001)
    assert keys(chosen([early, floored], 10, price=1e9)) == [early.url]


def test_what_is_under_way_is_not_asked_again():
    assert chosen([read_source(rate=9, asked=NOW + 0.01)], 5).ask == ()


def test_what_was_never_read_comes_first_and_then_pins_that_are_due():
    pinned = read_source("pinned", rate=0.001, pin=0.5)
    choice = chosen([read_source("busy", rate=90), pinned, a_source("new")], 2)
    assert set(keys(choice)) == {pinned.url, a_source("new").url}
    assert next_due(pinned, DAY, Plan(price=1e9)) == DAY + 0.5


def test_a_tenth_at_most_goes_to_sources_because_they_are_old():
    aged = [read_source(f"old{number}", rate=0.001, last=DAY - 29) for number in range(50)]
    busy = [read_source(f"busy{number}", rate=20 + number) for number in range(50)]
    assert sum("old" in url for url in keys(chosen(busy, 20, aged=aged))) == 2


def test_leftovers_that_are_not_worth_the_price_make_room():
    best, poor = read_source("best", rate=90), read_source("poor", rate=0.01, due=DAY)
    choice = chosen([best, poor], 1, price=20.0)
    [(later, due)] = choice.later
    assert later is poor
    assert due > NOW
    assert chosen([best, poor], 1, price=1e-9).later == (), "worth the price: it stays, and is looked at again"


@pytest.mark.slow
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.integers(0, 10))
def test_whatever_there_is_no_more_is_asked_than_the_budget_allows(rates, calls):
    sources = [read_source(str(number), rate=rate) for number, rate in enumerate(rates)]
    assert len(chosen(sources, calls, aged=sources[:3]).ask) <= calls


def test_free_answers_fill_requests_but_charged_ones_stay_within_their_budget():
    sources = [read_source(str(number), rate=0.02, last=NOW - 0.02, free=True) for number in range(100)]
    choice = choose(sources, (), Budget(calls=1, asks=60), NOW, Plan(price=1.0))
    assert len(choice.ask) == 60
    assert choice.cost < 1


@pytest.mark.slow
def test_half_the_budget_is_half_the_calls_within_one_tick():
    sources = [read_source(str(number), rate=1 + number) for number in range(100)]
    assert [len(chosen(sources, calls).ask) for calls in (40, 20, 40)] == [40, 20, 40]


def test_the_price_follows_what_is_paid_slowly_and_ends_there():
    price, seen = 10.0, []
    for _ in range(200):
        price = repriced(price, 40.0, 1.0)
        seen.append(price)
    assert seen == sorted(seen), "no oscillation"
    assert seen[0] <= 10.0 * 1.026
    assert seen[-1] == pytest.approx(40.0, rel=0.01)


def test_a_price_is_found_at_which_a_sample_asks_for_the_budget():
    sample = [read_source(str(number), rate=0.1 * 1.1**number) for number in range(60)]
    price = first_price(sample, 6000, 150.0, Plan())
    asked = sum(100 / (Power().due(each, price, Outlook()) - DAY) for each in sample) / 24
    assert asked == pytest.approx(150, rel=0.01)
    assert first_price([], 0, 150.0, Plan()) == 0
    assert first_price(sample, 6000, 0.0, Plan()) == 0


class TestAnswers:
    def read(self, source, reading):
        return answered(source, reading, Plan(price=20.0))

    def test_news_make_it_due_sooner_and_silence_later(self):
        source = read_source(rate=1)
        silent = self.read(source, Reading(now=NOW))
        lively = self.read(source, Reading(now=NOW, times=[NOW - 0.1 * number for number in range(9)]))
        assert lively.due < silent.due
        assert (lively.calls, lively.items, lively.news) == (1, 9, NOW)
        assert silent.due - NOW >= Power().due(source, 20.0, Outlook()) - DAY - 1e-9

    def test_history_is_no_news(self):
        assert self.read(a_source(), Reading(now=NOW, times=[NOW - 1])).items == 0

    def test_a_late_duplicate_changes_nothing_but_the_lease(self):
        source = read_source(rate=1, asked=NOW)
        assert self.read(source, Reading(now=DAY, times=[DAY])) == replace(source, asked=0.0)

    def test_floors_hold_whatever_the_price(self):
        source = replace(read_source(rate=500), gap=0.25)
        assert self.read(source, Reading(now=NOW)).due >= NOW + 0.25
        floored = replace(source, not_before=NOW + 2)
        assert self.read(floored, Reading(now=NOW)).due >= NOW + 2

    def test_errors_back_off_and_leave_the_estimate(self):
        source, waits = read_source(rate=50), []
        for _ in range(14):
            source = backed_off(source, NOW)
            waits.append(source.not_before - NOW)
        assert waits[1] == pytest.approx(2 * waits[0])
        assert waits[-1] == 1.0
        assert source.estimate == read_source(rate=50).estimate
        assert self.read(source, Reading(now=NOW + 2)).errors == 0
        assert backed_off(source, NOW, retry_after=3.0).not_before == NOW + 3

    def test_a_source_that_is_never_read_is_worth_everything(self):
        [(_, value)] = chosen([a_source()], 1).ask
        assert value == inf

    def test_all_alike_asks_the_oldest_first(self):
        sources = [read_source(str(last), rate=9, last=DAY - last) for last in (3, 9, 6)]
        choice = choose(sources, (), Budget(calls=3, asks=3), NOW, Plan(RoundRobin(), price=1.0))
        assert keys(choice) == [f"https://{last}.example/feed" for last in (9, 6, 3)]
