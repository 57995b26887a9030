"""One principal's limits, without a socket: time is a number."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghcrawl.fetch.budgets import CallWindow
from ghcrawl.fetch.github import headers
from ghcrawl.fetch.github.budget import Budget, Quota
from ghcrawl.fetch.github.call_windows import Load
from ghcrawl.fetch.github.limits import Finished, Limits
from ghcrawl.fetch.github.server_clock import ServerClock


def quota(remaining: int, *, limit: int = 100, resets: int = 1000, resource: str = "core") -> Quota:
    return Quota(resource=resource, limit=limit, remaining=remaining, resets=resets)


def reported(remaining: int, *, until: float = 1000.0, seconds: float = 0.0, **over: Any) -> Finished:
    return Finished(quota=quota(remaining, **over), until=until, seconds=seconds, answered=True)


def limits(**over: Any) -> Limits:
    fields: dict[str, Any] = {"concurrency": 8, "reserve": 0.05}
    return Limits(**(fields | over))


def known(remaining: int, **over: Any) -> Limits:
    made = limits(**over)
    made.take("core")
    made.finish("core", reported(remaining), 0.0)
    return made


def test_limits_may_change_while_calls_are_made() -> None:
    made = known(60, reserve=0.05)
    made.take("core")
    assert made.wait("core", 0.0) is None
    made.change(concurrency=1, reserve=0.05)
    assert made.wait("core", 0.0) is not None
    made.change(concurrency=8, reserve=0.60)
    wait = made.wait("core", 0.0)
    assert wait is not None
    assert wait.until == 1000.0
    made.change(concurrency=8, reserve=0.0)
    assert made.wait("core", 0.0) is None


# Budgets -----------------------------------------------------------------------------------------------------


def test_until_the_first_answer_one_call_at_a_time_is_made() -> None:
    made = limits()
    assert made.wait("core", 0.0) is None
    made.take("core")
    wait = made.wait("core", 0.0)
    assert wait is not None
    assert wait.settles


def test_what_is_in_flight_counts_as_spent() -> None:
    made = known(8, reserve=0.05)  # 5 of 100 stay
    for _ in range(3):
        assert made.wait("core", 0.0) is None
        made.take("core")
    wait = made.wait("core", 0.0)
    assert wait is not None
    assert wait.settles


def test_the_reserve_is_left_untouched() -> None:
    made = known(5, reserve=0.05)
    wait = made.wait("core", 0.0)
    assert wait is not None
    assert (wait.until, wait.reason, wait.settles) == (1000.0, "budget", False)


def test_without_a_reserve_the_last_call_is_made() -> None:
    assert known(1, reserve=0.0).wait("core", 0.0) is None
    assert known(0, reserve=0.0).wait("core", 0.0) is not None


def test_answers_that_overtake_each_other_do_not_bring_calls_back() -> None:
    made = known(50)
    made.take("core")
    made.finish("core", reported(70), 1.0)
    assert made.budget("core").remaining == 50


@pytest.mark.parametrize("said", ["https://example.com/", "Core", "a b", "x" * 41, "", "sécrét"])
def test_a_budget_that_has_no_name_is_the_one_that_was_asked_of(said: str) -> None:
    told = {"x-ratelimit-limit": "100", "x-ratelimit-remaining": "9", "x-ratelimit-reset": "1000"}
    strange = headers.quota({**told, "x-ratelimit-resource": said}, "search")
    named = headers.quota({**told, "x-ratelimit-resource": "code_search"}, "search")
    assert (strange and strange.resource, named and named.resource) == ("search", "code_search")


def test_windows_that_differ_by_a_second_are_one() -> None:
    made = known(50)
    made.take("core")
    made.finish("core", reported(70, resets=1001, until=1001.0), 1.0)
    assert made.budget("core").remaining == 50


def test_a_new_window_brings_a_new_budget() -> None:
    made = known(5)
    made.take("core")
    made.finish("core", reported(99, resets=4600, until=4600.0), 1001.0)
    assert made.wait("core", 1001.0) is None


def test_a_late_answer_of_the_window_before_says_nothing() -> None:
    made = known(90)
    made.take("core")
    made.finish("core", reported(1, resets=10, until=5000.0), 1.0)
    assert made.budget("core").remaining == 90


def test_after_a_window_one_call_finds_out_how_the_next_one_stands() -> None:
    made = known(0)
    assert made.wait("core", 999.9) is not None
    assert made.wait("core", 1000.0) is None
    made.take("core")
    assert made.wait("core", 1000.0) is not None


def test_a_report_about_a_window_without_end_is_not_believed() -> None:
    made = limits()
    made.take("core")
    made.finish("core", reported(0, resets=10**12, until=10.0**12), 0.0)
    assert made.wait("core", 0.0) is None


def test_a_call_that_nobody_answered_is_reckoned_as_charged() -> None:
    made = known(7)
    made.take("core")
    made.finish("core", Finished(), 1.0)
    assert made.budget("core").remaining == 6


def test_a_server_that_reports_nothing_is_limited_by_concurrency_only() -> None:
    made = limits(concurrency=2)
    made.take("core")
    made.finish("core", Finished(answered=True), 0.0)
    made.take("core")
    assert made.wait("core", 0.0) is None
    made.take("core")
    assert made.wait("core", 0.0) is not None


def test_a_breakdown_does_not_prove_that_nothing_is_metered() -> None:
    made = limits()
    made.take("core")
    made.finish("core", Finished(answered=False), 0.0)
    made.take("core")
    assert made.wait("core", 0.0) is not None


def test_each_resource_has_a_budget_of_its_own() -> None:
    made = known(0)
    assert made.wait("core", 0.0) is not None
    assert made.wait("search", 0.0) is None


def test_a_backlog_comes_back_window_by_window_and_not_all_at_once() -> None:
    made = known(0, reserve=0.0)
    backlog = []
    for _ in range(250):
        wait = made.wait("core", 0.0)
        assert wait is not None
        backlog.append(made.come_back("core", wait, 0.0))
    assert backlog == [1000.0] * 100 + [2000.0] * 100 + [3000.0] * 50


def test_the_backlog_is_never_sent_further_away_than_some_windows() -> None:
    budget = Budget(0.0)
    budget.observe(quota(0, limit=1), until=1000.0, started=0.0, now=0.0)
    assert max(budget.put_off() for _ in range(1000)) == 4000.0


def test_requests_that_wait_their_turn_come_back_one_behind_the_other() -> None:
    made = known(90, concurrency=1)
    made.take("core")
    wait = made.wait("core", 1.0)
    assert wait is not None
    returns = [made.come_back("core", wait, 1.0) for _ in range(10)]
    assert returns == sorted(returns)
    assert len(set(returns)) == 10
    assert all(made.come_back("core", wait, 1.0) <= 31.0 for _ in range(10_000))


# Benches -----------------------------------------------------------------------------------------------------


def test_a_bench_is_as_long_as_the_longest_that_was_asked_for() -> None:
    made = limits()
    made.bench(100.0, "secondary")
    made.bench(50.0, "secondary")
    wait = made.wait("core", 0.0)
    assert wait is not None
    assert wait.until == 100.0


def test_secondary_limits_without_advice_wait_a_minute_then_longer_and_longer() -> None:
    made = limits()
    now, waits = 0.0, []
    for _ in range(8):
        until = made.strike(now, None, now)
        waits.append(until - now)
        now = until
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_what_was_in_flight_at_the_first_hit_is_the_same_hit() -> None:
    made = limits()
    made.strike(0.0, 3.0, 1.0)
    made.strike(0.5, None, 1.5)
    assert made.benched_until == 4.0
    made.strike(0.5, 7.0, 2.0)
    assert made.benched_until == 9.0
    assert made.strike(10.0, None, 10.0) == 10.0 + 120


def test_a_success_after_the_bench_forgives_and_one_before_it_does_not() -> None:
    made = limits()
    made.strike(0.0, None, 1.0)
    made.succeeded(0.9)
    assert made.strike(61.0, None, 61.0) == 61.0 + 120
    made.succeeded(200.0)
    assert made.strike(300.0, None, 300.0) == 300.0 + 60


def test_advice_is_followed() -> None:
    made = limits()
    assert made.strike(0.0, 7.0, 0.0) == 7.0


def test_a_primary_limit_stops_that_resource_until_it_says() -> None:
    made = known(50)
    made.exhaust("core", 2000.0, 1.0)
    wait = made.wait("core", 1.0)
    assert wait is not None
    assert (wait.until, wait.reason) == (2000.0, "primary")
    assert made.wait("search", 1.0) is None


def test_a_primary_limit_that_does_not_say_until_when_rests_for_a_minute() -> None:
    made = limits()
    made.exhaust("core", None, 10.0)
    assert made.wait("core", 69.0) is not None
    assert made.wait("core", 70.0) is None


# Allowances and load -----------------------------------------------------------------------------------------


def test_concurrency_is_bounded() -> None:
    made = known(1000, concurrency=3)
    for _ in range(3):
        assert made.wait("core", 0.0) is None
        made.take("core")
    assert made.wait("core", 0.0) is not None


def test_a_call_that_was_not_made_gives_everything_back() -> None:
    made = limits(concurrency=1, calls_per_min=1)
    made.take("core")
    made.cancel("core")
    assert made.wait("core", 0.0) is None


def test_calls_a_minute_are_bounded() -> None:
    made = known(1000, calls_per_min=2)
    made.take("core")
    made.finish("core", reported(900), 0.1)
    wait = made.wait("core", 0.2)
    assert wait is not None
    assert wait.until == pytest.approx(60.0)


def test_summed_response_time_is_bounded_with_what_is_in_flight() -> None:
    load = Load(60.0)
    for second in range(10):
        load.finish(float(second), 6.0)
    wait = load.wait(10.0, 0)
    assert wait is not None
    assert wait.until == 60.0  # the first one leaves the minute
    assert load.wait(60.0, 0) is None
    assert load.wait(60.0, 8) is not None


@given(
    st.lists(st.tuples(st.floats(0, 3), st.floats(0, 2)), min_size=1, max_size=200),
    st.integers(1, 10),
)
def test_no_window_of_the_servers_ever_holds_more_than_was_declared(
    steps: list[tuple[float, float]], calls: int
) -> None:
    """Whenever between take and finish a call reaches the server, and whenever the server's windows begin."""
    window = CallWindow(calls, 5.0)
    now, taken, arrivals = 0.0, list[float](), list[tuple[float, float]]()
    for pause, takes in steps:
        now += pause
        while taken and taken[0] <= now:
            window.finish(heapq.heappop(taken))
        if window.wait(now) is None:
            window.take()
            heapq.heappush(taken, now + takes)
            arrivals.append((now, now + takes))
    rng = random.Random(len(steps))
    reached = sorted(rng.uniform(begin, end) for begin, end in arrivals)
    for first in reached:
        assert sum(first <= moment < first + 5.0 for moment in reached) <= calls


# A server, simulated -----------------------------------------------------------------------------------------


class FixedWindow:
    """Counts as GitHub does: a window begins with the first call after the last one ended."""

    def __init__(self, limit: int, length: float, *, aligned: bool) -> None:
        self.limit, self.length, self.aligned = limit, length, aligned
        self.ends, self.used, self.over = -math.inf, 0, 0
        self.windows: list[int] = []

    def call(self, now: float) -> Quota:
        if now >= self.ends:
            self.windows.append(self.used)
            self.used = 0
            begins = now // self.length * self.length if self.aligned else now
            self.ends = begins + self.length
        self.used += 1
        self.over += self.used > self.limit
        return Quota(resource="core", limit=self.limit, remaining=max(0, self.limit - self.used), resets=int(self.ends))


class Simulation:
    """Loops that call a server whose clock differs, by answers that overtake each other or get lost.

    A discrete-event run: no event loop, no sockets, and every interleaving that the seed comes up with.
    """

    def __init__(
        self, server: FixedWindow, made: Limits, *, seed: int, skew: float, latency: float, loss: float
    ) -> None:
        self.server, self.made, self.skew, self.latency, self.loss = server, made, skew, latency, loss
        self.rng = random.Random(seed)
        self.clock = ServerClock()
        self.order = itertools.count()
        self.events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self.parked = 0

    def at(self, moment: float, what: Callable[..., None], *data: Any) -> None:
        heapq.heappush(self.events, (moment, next(self.order), what, data))

    def run(self, loops: int, until: float) -> None:
        for _ in range(loops):
            self.at(self.rng.random(), self.asks)
        while self.events[0][0] < until:
            now, _, what, data = heapq.heappop(self.events)
            what(now, *data)

    def asks(self, now: float) -> None:
        wait = self.made.wait("core", now)
        if wait is None:
            self.made.take("core")
            self.at(now + self.rng.uniform(0, self.latency), self.arrives, now)
        elif wait.settles:
            self.parked += 1
        else:
            self.at(wait.until, self.asks)

    def arrives(self, now: float, started: float) -> None:
        answer = self.server.call(now + self.skew)
        report = None if self.rng.random() < self.loss else answer
        self.at(now + self.rng.uniform(0, self.latency), self.answered, started, report, now + self.skew)

    def answered(self, now: float, started: float, report: Quota | None, date: float) -> None:
        finished = Finished()
        if report is not None:
            self.clock.learn(formatdate(int(date)), started, now)
            finished = Finished(started=started, quota=report, until=self.clock.passed(report.resets), answered=True)
        self.made.finish("core", finished, now)
        for _ in range(self.parked + 1):
            self.at(now + 0.001, self.asks)
        self.parked = 0


@settings(max_examples=50, deadline=None)
@given(
    server=st.builds(FixedWindow, st.integers(10, 60), st.just(12.0), aligned=st.booleans()),
    seed=st.integers(0, 2**32),
    skew=st.floats(-300, 300),
    latency=st.floats(0.001, 3.0),
    reserve=st.sampled_from([0.0, 0.05, 0.5]),
    loss=st.sampled_from([0.0, 0.0, 0.1]),
)
def test_not_one_call_is_over_the_limit_and_all_but_the_reserve_is_used(
    server: FixedWindow, seed: int, skew: float, latency: float, reserve: float, loss: float
) -> None:
    simulation = Simulation(server, limits(reserve=reserve), seed=seed, skew=skew + 1000.0, latency=latency, loss=loss)
    simulation.run(20, until=100.0)
    assert server.over == 0
    usable = server.limit - int(server.limit * reserve + 1e-9)
    if loss == 0.0:
        assert max(server.windows) <= usable
    if loss == 0.0 and latency < 0.1:
        assert min(server.windows[2:]) == usable
