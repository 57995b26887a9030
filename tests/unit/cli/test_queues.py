from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.cli.opening import existing
from ghcrawl.cli.options import Place
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Push, Request
from queues.sqlite.queue import SqliteQueue
from tests.support.builders import API, a_failure, a_request, at
from tests.unit.cli.conftest import Command, Fill
from tests.unit.cli.test_documents import CRAWLS

PUSHES = [
    Push(request=a_request(1), queue="soon"),
    Push(request=a_request(2, attempt=1, failures=(a_failure(),)), queue="soon"),
    Push(request=a_request(3), queue="later", not_before=at(10**9)),
]


@pytest.fixture
def db(filled: Fill) -> Path:
    return filled(pushes=PUSHES, crawls=CRAWLS)


def waiting(queue: QueueName, db: Path = Path("ghcrawl.db")) -> list[Request]:
    async def look() -> list[Request]:
        async with existing(Place(db=db)) as opened:
            return list(await opened.backend.queue.peek(queue, limit=100))

    return asyncio.run(look())


def test_depths_are_shown_for_every_queue(ghcrawl: Command, db: Path) -> None:
    assert ghcrawl("queue").rows == [
        ["event", "0", "0", "0"],
        ["immediate", "0", "0", "0"],
        ["soon", "2", "0", "0"],
        ["normal", "0", "0", "0"],
        ["later", "0", "1", "0"],
    ]
    depths = ghcrawl("queue", "--json").json
    assert depths["later"] == {"ready": 0, "delayed": 1, "in_flight": 0, "total": 1}


def test_one_queue_is_emptied_and_no_other(ghcrawl: Command, db: Path) -> None:
    assert ghcrawl("queue", "purge", "soon", "--yes").err == "2 requests deleted.\n"
    assert ghcrawl("queue", "purge", "soon", "--yes").err == "Queue soon is empty.\n"
    assert not waiting("soon")
    assert len(waiting("later")) == 1


def test_emptying_needs_somebody_who_wants_it(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("queue", "purge", "soon")
    assert (ran.status, ran.err) == (
        2,
        "ghcrawl: Permanently delete 2 requests in queue soon? Standard input is not a terminal: confirm with --yes\n",
    )
    assert len(waiting("soon")) == 2


def test_what_a_lost_broker_seems_to_hold_is_forgotten_although_nothing_is_seen_there(
    ghcrawl: Command, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = []

    async def purge(_: Any, queue: QueueName) -> int:
        purged.append(queue)
        return 0

    monkeypatch.setattr(SqliteQueue, "purge", purge)
    assert ghcrawl("queue", "purge", "event", "--yes").err == "Queue event is empty.\n"
    assert purged == ["event"]


@pytest.mark.parametrize("words", [("queue", "purge", "later on"), ("requests", "peek", "nothing")])
def test_there_are_five_queues(ghcrawl: Command, db: Path, words: tuple[str, ...]) -> None:
    ran = ghcrawl(*words)
    assert ran.status == 2
    assert f"unknown queue {words[-1]}; " in ran.err


def test_what_waits_is_shown_and_stays(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("requests", "peek", "soon")
    assert ran.rows == [
        ["issue", "default:issue", "0", a_request(1).url],
        ["issue", "default:issue", "1", a_request(2).url],
    ]
    assert ghcrawl("requests", "peek", "soon", "--limit", "1").err == "Showing 1 of 2; --limit 0 shows all.\n"
    assert ghcrawl("requests", "peek", "event").err == "Queue event is empty.\n"
    second = ghcrawl("requests", "peek", "soon", "--limit", "0", "--json").json[1]
    assert second["last_failure"] == "http_503, 2026-11-21 12:00:00 UTC"
    assert len(waiting("soon")) == 2


def test_nobody_is_bid_to_work_through_what_somebody_is_at_already(ghcrawl: Command, db: Path) -> None:
    with Path(f"{db}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        assert ghcrawl("requests", "push", "acme").err == "1 request queued in immediate.\n"


def test_specs_are_pushed_where_they_are_wanted(ghcrawl: Command) -> None:
    ran = ghcrawl("requests", "push", "acme", "acme/web", "--queue", "later", "--policy", "refresh:self")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "2 requests queued in later.\n# process the queued requests\nghcrawl crawl\n"
    found = {request.url: request for request in waiting("later")}
    assert set(found) == {"https://api.github.com/orgs/acme", "https://api.github.com/repos/acme/web"}
    assert {request.policy for request in found.values()} == {"refresh:self"}
    assert all(request.asked_at for request in found.values())


def test_specs_mean_what_they_meant_when_the_file_was_crawled(ghcrawl: Command, db: Path) -> None:
    ghcrawl("requests", "push", "acme/api")
    assert [request.url for request in waiting("immediate")] == [f"{API}/repos/acme/api"]
    ghcrawl("requests", "push", "acme/docs", "--api-url", "https://ghe.example.test/api/v3")
    assert waiting("immediate")[1].url == "https://ghe.example.test/api/v3/repos/acme/docs"


def test_requests_are_pushed_as_json(ghcrawl: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        json.dumps({"type": "repo", "url": f"{API}/repos/acme/r{n}", "context": {"scope": "acme"}}) for n in (1, 2)
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([lines[1], "", "acme"])))
    assert ghcrawl("requests", "push", lines[0], "-", "--api-url", API).status == 0
    first, second, third = waiting("immediate")
    assert (first.type, first.url, first.policy, first.context.scope) == (
        "repo",
        f"{API}/repos/acme/r1",
        "default",
        "acme",
    )
    assert (second.url, third.type) == (f"{API}/repos/acme/r2", "org")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ('{"type": "repo"}', "the message lacks 'url'"),
        ('{"type": "repo", "url": 5}', "the message is malformed"),
        ('{"type": "rpo", "url": "https://x"}', "unknown type 'rpo'; did you mean repo?"),
        ('{"type": "org", "url": "https://x", "attempt": -5}', "attempt is -5"),
        ('{"type": "repo", "url": "https://evil.example/x"}', "is not below https://api.github.com"),
        ('{"type": "repo", "platform": "nowhere", "url": "https://x"}', "unknown platform 'nowhere'"),
        ("https://api.github.com/orgs/acme?access_token=sesame-1", "a SPEC looks like a token"),
        ("{nonsense", "is not a JSON object"),
        ("two words", "is nothing to crawl"),
    ],
)
def test_what_is_no_request_is_refused_and_nothing_is_pushed(ghcrawl: Command, typed: str, sentence: str) -> None:
    ran = ghcrawl("requests", "push", "acme", typed)
    assert ran.status == 2
    assert sentence in ran.err
    assert "sesame" not in ran.err
    assert not Path("ghcrawl.db").exists()


def test_a_dry_run_says_what_would_be_queued_and_queues_nothing(ghcrawl: Command) -> None:
    ran = ghcrawl("requests", "push", "acme/web", "--policy", "refresh", "--dry-run")
    assert ran.status == 0
    assert "Would queue in immediate: repo https://api.github.com/repos/acme/web (refresh)" in ran.err
    assert not Path("ghcrawl.db").exists()


def test_what_waited_already_is_said(ghcrawl: Command) -> None:
    push: tuple[Any, ...] = ("requests", "push", "acme")
    ghcrawl(*push)
    assert "1 request queued in immediate, 1 of which were already queued." in ghcrawl(*push).err


def test_rows_of_several_platforms_name_the_platform(ghcrawl: Command, filled: Fill) -> None:
    theirs = [a_request(number, platform="mastodon", type="status") for number in (8, 9)]
    more = [Push(request=theirs[0], queue="soon"), Push(request=theirs[1], queue="normal")]
    filled(pushes=[*PUSHES, *more], crawls=CRAWLS)
    assert {row[0] for row in ghcrawl("requests", "peek", "soon").rows} == {"github/issue", "mastodon/status"}
    assert {row[0] for row in ghcrawl("requests", "peek", "normal").rows} == {"status"}
