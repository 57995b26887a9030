from __future__ import annotations

import fcntl
import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from ghcrawl.cli.server import watch
from ghcrawl.values.requests import Push
from ghcrawl.values.times import iso
from ghcrawl.wiring import crawled_by
from tests.support.builders import API, a_deadletter, a_document, a_request
from tests.unit.cli.conftest import Command, Fill

BEGUN = datetime.now(UTC) - timedelta(hours=3)
CRAWLS = {
    "unfinished": [
        {
            "specs": ["acme"],
            "policy": "default",
            "api_url": API,
            "asked_at": iso(BEGUN),
            "command": "ghcrawl crawl acme --db 'a b.db'",
        }
    ],
    "last": None,
}


@pytest.fixture
def db(filled: Fill) -> Path:
    return filled(
        documents=[a_document(1), a_document(2), a_document(type="issues", urn="urn:repo:12:issues:page:1")],
        pushes=[Push(request=a_request(5), queue="soon")],
        deadletters=[a_deadletter(1)],
        crawls=CRAWLS,
        live={"crawl.loops": 5, "crawl.paused": True},
    )


def test_everything_is_told_at_a_glance(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("status")
    lines = ran.out.splitlines()
    assert lines[0].startswith("file         ghcrawl.db, ")
    assert lines[1:] == [
        "crawled by   no process",
        f"unfinished   acme, started {BEGUN:%Y-%m-%d %H:%M:%S} UTC (3 h ago)",
        "waiting      event 0 · immediate 0 · soon 1 · normal 0 · later 0",
        "documents    2 entities: issue 2",
        "             1 list page or cursor",
        "deadletters  1: http_503 1",
        "live         crawl.loops = 5, crawl.paused = true",
    ]
    assert ran.err == (
        "# resume acme\nghcrawl crawl acme --db 'a b.db'\n"
        "# list deadletters and their reasons\nghcrawl deadletters list\n"
    )


def test_the_same_is_told_to_a_program(ghcrawl: Command, db: Path) -> None:
    figures = ghcrawl("status", "--json", "--db", db).json
    assert figures["db"] == str(db)
    assert figures["size_bytes"] >= 4096
    assert figures["crawled_by"] is None
    assert figures["unfinished"][0]["command"] == "ghcrawl crawl acme --db 'a b.db'"
    assert figures["queues"]["soon"]["ready"] == 1
    assert figures["documents"] == {"entities": 2, "by_type": {"issue": 2}, "lists": 1}
    assert figures["deadletters"] == {"total": 1, "by_class": {"http_503": 1}}
    assert figures["live"] == {"crawl.loops": 5, "crawl.paused": True}


def test_a_file_in_which_nothing_happened_is_fine(ghcrawl: Command, filled: Fill) -> None:
    filled()
    ran = ghcrawl("status")
    assert "documents    0 entities" in ran.out
    assert ran.err == ""


def test_requests_that_wait_are_worked_through_by_a_crawl_of_nothing(ghcrawl: Command, filled: Fill) -> None:
    filled(pushes=[Push(request=a_request(), queue="soon")])
    assert ghcrawl("status").err == "# process the queued requests\nghcrawl crawl\n"


def test_whoever_crawls_it_now_is_told(ghcrawl: Command, db: Path) -> None:
    with Path(f"{db}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(str(os.getpid()))
        lock.flush()
        ran = ghcrawl("status")
        assert f"crawled by   process {os.getpid()}" in ran.out
        assert ran.err == ""
    assert crawled_by(db) is None, "the lock died with whoever had it"


@pytest.mark.parametrize("text", ["", "nobody", "999999999"])
def test_a_lock_file_that_nobody_holds_means_nobody(tmp_path: Path, text: str) -> None:
    Path(tmp_path / "x.db.lock").write_text(text)
    assert crawled_by(tmp_path / "x.db") is None
    assert crawled_by(tmp_path / "y.db") is None


def test_what_is_watched_fits_the_terminal_and_only_values_are_cut() -> None:
    out = Console(width=40, height=3, file=io.StringIO(), force_terminal=True, color_system=None)
    out.print(watch.table([("deadletters", "x" * 99), ("in flight", "short"), ("", "beyond the last line")], out))
    assert isinstance(out.file, io.StringIO)
    lines = out.file.getvalue().splitlines()
    assert [line.rstrip() for line in lines] == [f"deadletters  {'x' * 26}…", "in flight    short"]
