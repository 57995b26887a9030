from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from ghcrawl.cli import words
from ghcrawl.values.errors import SpecError
from tests.support.builders import NOW, at


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.04, "0.0 s"),
        (0.25, "0.2 s"),
        (5, "5 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3661, "1 h 1 min"),
        (86_400 * 3 + 4 * 3600 + 59, "3 d 4 h"),
        (86_400 + 59, "1 d"),
    ],
)
def test_a_length_of_time_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "just now"), (-5, "just now"), (59, "59 s ago"), (60, "1 min ago"), (7199, "119 min ago"), (7200, "2 h ago")],
)
def test_how_long_ago_is_told_in_one_unit(seconds: float, text: str) -> None:
    assert words.ago(NOW, at(seconds)) == text


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("90s", timedelta(seconds=90)),
        ("30m", timedelta(minutes=30)),
        ("2h", timedelta(hours=2)),
        ("1d12h", timedelta(hours=36)),
        ("1w", timedelta(days=7)),
    ],
)
def test_an_age_is_read(text: str, age: timedelta) -> None:
    assert words.age(text) == age


@pytest.mark.parametrize("text", ["", "2", "h", "2x", "-2h", "2h of them", "2 hours"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="write 30m, 2h, 3d or 1w"):
        words.age(text)


def test_a_time_of_day_has_seconds_when_it_is_near_and_a_date_when_it_is_not_today() -> None:
    assert words.time_of_day(at(30), NOW) == at(30).astimezone().strftime("%H:%M:%S")
    assert words.time_of_day(at(1800), NOW) == at(1800).astimezone().strftime("%H:%M")
    assert words.time_of_day(at(86_400), NOW) == at(86_400).astimezone().strftime("%Y-%m-%d %H:%M")
    before_midnight = datetime(2026, 1, 1, 23, 30).astimezone()
    assert words.time_of_day(before_midnight + timedelta(minutes=45), before_midnight) == "00:15"


def test_counts_are_told_with_their_things() -> None:
    assert words.counted(1, "request") == "1 request"
    assert words.counted(1234, "request") == "1,234 requests"
    assert words.counted(2, "retry", "retries") == "2 retries"
    assert words.tallied({"b": 2, "a": 2, "c": 1000, "none": 0}) == "c 1,000, a 2, b 2"
    assert [words.rate(2.345), words.rate(1234.5)] == ["2.3/s", "1,234/s"]


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (123_456_789, "123 MB"), (2e12, "2.0 TB")],
)
def test_sizes_are_told_in_the_largest_unit(bytes_: int, text: str) -> None:
    assert words.size(int(bytes_)) == text


def test_other_peoples_text_is_one_line_without_control_characters() -> None:
    assert words.one_line("a\n\tb\x1b[31mc\x00 d ") == "a b [31mc d"
    assert words.one_line("abcdef", 4) == "abc…"
    assert words.one_line("abcd", 4) == "abcd"


def test_what_could_move_a_cursor_is_escaped() -> None:
    assert words.printable("plain\nünïcode") == "plain\nünïcode"
    assert words.printable("\x1b[2J\x9b1m\ud800\t") == r"\u001b[2J\u009b1m\ud800\t"
    assert words.path_of("https://x/repos/a?per_page=100#x") == "/repos/a?per_page=100"
