from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from ghcrawl.cli.progress import Lines, Screen, line, reporter
from ghcrawl.cli.screen import screen
from ghcrawl.cli.snapshot import Quota, Snapshot
from ghcrawl.fetch.circuit_breaker import Outage
from ghcrawl.ports.queue import Depth
from ghcrawl.values.lanes import QUEUES
from tests.support.builders import NOW, at

DEPTHS = {name: Depth(ready=n * 1000, delayed=n, in_flight=n) for n, name in enumerate(QUEUES)}


def a_snapshot(**over: Any) -> Snapshot:
    fields: dict[str, Any] = {
        "now": NOW,
        "title": "Crawling acme",
        "elapsed_s": 80.4,
        "depths": DEPTHS,
        "settled": 10_000,
        "saved": 9000,
        "unchanged": 12,
        "settled_per_s": 412.3,
        "saved_per_s": 99.94,
        "calls": 1234,
        "free": 234,
        "charged": 1000,
        "quotas": [Quota(label="user ada", calls=1200, remaining=4000, limit=5000, reset_at=at(60))],
        "retried": {"http_503": 8, "FetchError": 4},
        "throttles": {"secondary": 1},
        "left": "about 25 s",
    }
    return Snapshot(**(fields | over))


def shown(snapshot: Snapshot, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(screen(snapshot, width))
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue().splitlines()


def test_at_80_columns_every_figure_has_its_line() -> None:
    lines = [line.rstrip() for line in shown(a_snapshot())]
    clock = at(60).astimezone().strftime("%H:%M:%S")
    assert lines[0] == "Crawling acme                                                         1 min 20 s"
    assert lines[1].endswith("  49% of 20,020 requests known")
    assert lines[2:] == [
        "documents  9,000 saved, 99.9/s, 12 unchanged",
        "requests   10,000 done, 412/s, 10 in flight, 10 delayed",
        "waiting    event 0 · immediate 1,001 · soon 2,002 · normal 3,003 · later 4,004",
        "calls      1,234, 234 of them free (304), 0.11 charged per document",
        f"quota      user ada: 1,200 calls, 4,000 of 5,000 left, resets at {clock}",
        "errors     12 retries (http_503 8, FetchError 4) · 1 throttle (secondary 1)",
        "remaining  about 25 s",
        "Ctrl-C stops; run the same command again to resume.",
    ]


@pytest.mark.parametrize("width", [24, 40, 59, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    outage = Outage(base_url="https://api.example.test", reason="connection refused", since=NOW, until=at(8))
    crowded = a_snapshot(
        outage=outage,
        quota_until=at(900),
        buried={"Malformed": 3, "http_422": 1},
        title="Crawling a-rather-long-name, another-one, a-third-one and 12 more",
        quotas=[Quota(label=f"token {n:012}", trouble="secondary rate limit", until=at(90)) for n in range(20)],
    )
    for snapshot in (a_snapshot(), crowded):
        assert max(cell_len(line.rstrip()) for line in shown(snapshot, width)) <= width


def test_trouble_is_told_where_there_is_any() -> None:
    assert any(line.startswith("errors     none") for line in shown(a_snapshot(retried={}, throttles={})))
    text = "\n".join(shown(a_snapshot(retried={}, throttles={}, buried={"Malformed": 2}, restarts=1), 120))
    assert "2 deadletters (Malformed 2) · 1 worker crashed and restarted (-v shows why)" in text


def test_a_principal_that_may_ask_nothing_says_why_and_until_when() -> None:
    quotas = [
        Quota(label="token aa", remaining=10, limit=100, trouble="secondary rate limit", until=at(60)),
        Quota(label="token bb", trouble="refused (401 Bad credentials)", until=at(3600)),
        Quota(label="token cc"),
    ]
    text = "\n".join(shown(a_snapshot(quotas=quotas), 120))
    assert f"token aa: 10 of 100 left, secondary rate limit until {at(60).astimezone():%H:%M:%S}" in text
    assert "token bb: refused (401 Bad credentials) until " in text
    assert "token cc: rate limit not known yet" in text


def test_of_many_principals_only_the_first_are_shown() -> None:
    text = "\n".join(shown(a_snapshot(quotas=[Quota(label=f"t{n}") for n in range(9)])))
    assert "t5" in text
    assert "t6" not in text
    assert "and 3 more" in text


def test_notes_take_the_place_of_the_hint() -> None:
    text = "\n".join(shown(a_snapshot(paused="ghcrawl config set crawl.paused false")))
    assert "paused; resume with: ghcrawl config set crawl.paused false" in text
    assert "Ctrl-C stops" not in text


def test_nothing_known_yet_is_no_division_by_zero() -> None:
    text = "\n".join(shown(a_snapshot(depths={}, settled=0, saved=0, charged=0, left="")))
    assert "not known yet" in text
    assert "0% of 1 request known" in text


# How it is put on the terminal -----------------------------------------------------------------------------------


def a_terminal(width: int = 80, **over: Any) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=width, height=40, force_terminal=True, color_system=None, **over), file


def test_the_live_screen_leaves_only_what_was_said() -> None:
    console, file = a_terminal()
    live = Screen(console)
    live.say("Crawling acme from [here] into ghcrawl.db.")
    live.show(a_snapshot())
    live.stream.write('{"event": "a log line"}\n')
    live.show(a_snapshot(saved=9001))
    live.close()
    live.close()
    text = file.getvalue()
    assert "Crawling acme from [here] into ghcrawl.db." in text
    assert '{"event": "a log line"}' in text
    assert "9,001 saved" in text
    assert text.index("\x1b[?25l") < text.rindex("\x1b[?25h"), "the cursor is hidden, and shown again"
    assert text.endswith("\x1b[2K"), "and the screen is wiped"


def test_no_color_is_respected() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system="truecolor", no_color=True)
    console.print(screen(a_snapshot(buried={"x": 1}), 80))
    assert "\x1b[31m" not in file.getvalue()
    assert "\x1b[32m" not in file.getvalue()


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    file = io.StringIO()
    lines = Lines(file)
    for elapsed_s in (1, 9, 10, 11, 19, 21):
        lines.show(a_snapshot(elapsed_s=elapsed_s))
    lines.close()
    assert len(file.getvalue().splitlines()) == 2
    assert "9,000 documents (99.9/s)" in file.getvalue()


def test_without_a_terminal_a_note_is_said_once_while_it_holds() -> None:
    file = io.StringIO()
    lines = Lines(file)
    for until in (5, 6, None, 7):
        lines.show(a_snapshot(elapsed_s=1, quota_until=at(until) if until else None))
    assert file.getvalue().count("Ctrl-C stops and loses nothing") == 2


def test_a_line_says_what_the_screen_says() -> None:
    quotas = [Quota(label="a", remaining=40, limit=60), Quota(label="b", remaining=2000, limit=5000), Quota(label="c")]
    text = line(a_snapshot(quotas=quotas, buried={"x": 2}))
    assert text == (
        f"{NOW.astimezone():%H:%M:%S} Crawling acme: 9,000 documents (99.9/s), 10,000 requests done (412/s), "
        "10,020 waiting, 1,234 calls, 2,040 calls left, 2 deadletters, remaining: about 25 s"
    )


def test_what_is_shown_depends_on_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    terminal, _ = a_terminal()
    assert isinstance(reporter(quiet=False, terminal=lambda: terminal), Screen)
    assert isinstance(reporter(quiet=False, terminal=lambda: Console(file=io.StringIO())), Lines)
    quiet = reporter(quiet=True, terminal=lambda: terminal)
    quiet.say("x")
    quiet.show(a_snapshot())
    quiet.close()
    assert capsys.readouterr() == ("", "")
