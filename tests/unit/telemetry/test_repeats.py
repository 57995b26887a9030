"""What repeats is counted instead of logged, and everything else is logged."""

from __future__ import annotations

import logging

from ghcrawl.telemetry.repeats import MAX_EVENTS, PER_WINDOW, WINDOW_S, Repeats


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_the_first_lines_of_a_window_are_logged_and_the_rest_are_counted_once():
    clock = Clock()
    repeats = Repeats(clock)
    assert sum(repeats.admits("refused") for _ in range(1000)) == PER_WINDOW
    assert repeats.admits("other")
    assert repeats.suppressed() == {}
    clock.now_s = WINDOW_S
    assert repeats.suppressed() == {"refused": 1000 - PER_WINDOW}
    assert repeats.suppressed() == {}
    assert sum(repeats.admits("refused") for _ in range(1000)) == PER_WINDOW


def test_what_repeats_slowly_is_always_logged():
    clock = Clock()
    repeats = Repeats(clock)
    for second in range(500):
        clock.now_s = float(second)
        assert repeats.admits("refused")
    assert repeats.suppressed() == {}


def test_a_new_window_loses_nothing_of_the_count():
    clock = Clock()
    repeats = Repeats(clock)
    for _ in range(1000):
        repeats.admits("refused")
    clock.now_s = WINDOW_S
    assert repeats.admits("refused")
    assert repeats.suppressed() == {"refused": 1000 - PER_WINDOW}


def test_what_libraries_say_a_thousand_times_is_counted_too_and_takes_no_memory():
    repeats = Repeats(Clock())
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "socket.accept() out of system resource", (), None)
    assert sum(repeats.filter(record) for _ in range(1000)) == PER_WINDOW
    for number in range(3 * MAX_EVENTS):
        repeats.admits(f"text {number}")
    assert len(repeats._windows) <= MAX_EVENTS
