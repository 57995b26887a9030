from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.fetch.github.server_clock import ServerClock
from ghcrawl.fetch.headers import http_date

START = 1_795_262_400.0


def heard(clock: ServerClock, *, skew: float, started: float, ended: float) -> None:
    clock.learn(formatdate(int((started + ended) / 2 + skew), usegmt=True), started, ended)


def test_what_was_never_heard_is_ours() -> None:
    assert ServerClock().offset_s == 0
    assert ServerClock().passed(100.0) == 101.0


def test_a_small_difference_may_be_none() -> None:
    clock = ServerClock()
    heard(clock, skew=1.9, started=START, ended=START + 0.1)
    assert clock.offset_s == 0


def test_a_notable_difference_is_corrected() -> None:
    clock = ServerClock()
    heard(clock, skew=60.0, started=START, ended=START + 0.1)
    assert clock.offset_s == pytest.approx(60, abs=1)
    ours = datetime.fromtimestamp(START, UTC)
    assert clock.as_server_time(ours, START) - ours == timedelta(seconds=clock.offset_s)


@given(
    st.floats(-100, 100),
    st.lists(st.tuples(st.floats(0, 100), st.floats(0.001, 5)), min_size=1, max_size=30),
    st.integers(0, 5000),
)
def test_the_servers_moment_has_certainly_passed(skew: float, answers: list[tuple[float, float]], moment: int) -> None:
    clock, now = ServerClock(), START
    for pause, took in answers:
        now += pause
        heard(clock, skew=skew, started=now, ended=now + took)
        now += took
    at = START + moment
    assert clock.passed(at) + skew >= at + 1 - 0.01
    assert clock.passed(at) + skew <= at + 1 + 1 + 5 + 1


def test_a_clock_that_was_set_is_believed_at_once() -> None:
    clock = ServerClock()
    heard(clock, skew=0.0, started=START, ended=START + 0.1)
    heard(clock, skew=-600.0, started=START + 10, ended=START + 10.1)
    assert clock.offset_s == pytest.approx(-600, abs=1)


def test_nonsense_is_no_date() -> None:
    clock = ServerClock()
    clock.learn("yesterday", START, START)
    clock.learn("", START, START)
    assert clock.offset_s == 0
    assert http_date("yesterday") is None
    assert http_date("Sat, 21 Nov 99999999999 12:00:00 GMT") is None
    assert http_date("Sat, 21 Nov 2026 12:00:00 GMT") == datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
