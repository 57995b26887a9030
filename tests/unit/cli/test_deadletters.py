from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ghcrawl.cli.opening import existing
from ghcrawl.cli.options import Place
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.requests import Ancestor, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from stores.deadletters import TimeBudget
from stores.sqlite.deadletters import SqliteDeadletters
from tests.support.builders import NOW, a_deadletter, a_failure, a_payload, a_request, a_type, at
from tests.support.cli import fill
from tests.unit.cli.conftest import Command, Fill

LATELY = datetime.now(UTC) - timedelta(minutes=5)
OLD = datetime.now(UTC) - timedelta(days=3)


def a_letter(digits: str, kind: str = "http_503", *, last_at: datetime = LATELY, **over: object) -> Deadletter:
    urn = f"urn:deadletter:{digits:0<8}-0000-4000-8000-000000000000"
    number = int(digits, 16) % 1000
    return a_deadletter(number, urn=urn, kind=kind, reason=f"{kind} it was", last_at=last_at, **over)


LETTERS = [
    a_letter("aa11", last_at=OLD),
    a_letter("aa22"),
    a_letter("bb33", "Malformed", request=a_request(33, type="repo", url="https://ghe.example.test/api/v3/repos/a/b")),
]


@pytest.fixture
def db(filled: Fill) -> Path:
    return filled(deadletters=LETTERS)


def left(db: Path) -> set[str]:
    """The first digits of those that are there."""

    async def look() -> set[str]:
        async with existing(Place(db=db)) as opened:
            letters = await opened.backend.deadletters.list(DeadletterFilter(), limit=100)
            return {letter.urn.split(":")[2][:4] for letter in letters}

    return asyncio.run(look())


def waiting(db: Path, queue: str = "normal") -> list[Request]:
    async def look() -> list[Request]:
        async with existing(Place(db=db)) as opened:
            return list(await opened.backend.queue.peek(queue, limit=100))  # type: ignore[arg-type]  # one of the five

    return asyncio.run(look())


# list and show ---------------------------------------------------------------------------------------------------


def test_they_are_listed_newest_first_with_counts_by_class(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("deadletters", "list")
    assert [row[0] for row in ran.rows[:2]] != [LETTERS[0].urn]
    assert ran.rows[2][0] == LETTERS[0].urn
    assert ran.rows[2][2:] == ["http_503", "issue", LETTERS[0].request.url, "http_503 it was"]
    assert "3 deadletters: http_503 2, Malformed 1." in ran.err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--class", "http_503"), {"aa11", "aa22"}),
        (("--type", "repo"), {"bb33"}),
        (("--platform", "github", "--type", "repo"), {"bb33"}),
        (("--host", "ghe.example.test"), {"bb33"}),
        (("--reason", "MALFORMED"), {"bb33"}),
        (("--older-than", "2h"), {"aa11"}),
        (("--class", "http_503", "--older-than", "4d"), set()),
    ],
)
def test_filters_choose(ghcrawl: Command, db: Path, words: tuple[str, ...], found: set[str]) -> None:
    value = ghcrawl("deadletters", "list", "--json", *words).json
    assert {letter["urn"].split(":")[2][:4] for letter in value["deadletters"]} == found
    assert value["total"] == len(found)


@pytest.mark.parametrize("command", [("deadletters", "list"), ("documents", "list"), ("documents", "export")])
def test_a_platform_that_is_not_there_is_refused(ghcrawl: Command, db: Path, command: tuple[str, ...]) -> None:
    ran = ghcrawl(*command, "--platform", "githib")
    assert (ran.status, ran.out) == (2, "")
    assert "unknown platform githib; known platforms:" in ran.err


def test_none_at_all_and_none_like_that_are_said(ghcrawl: Command, filled: Fill) -> None:
    filled()
    assert ghcrawl("deadletters", "list").err == "There are no deadletters.\n"
    assert ghcrawl("deadletters", "list", "--type", "commit").err == "No deadletters match.\n"


@pytest.mark.parametrize("verb", ["list", "requeue", "delete"])
def test_a_type_that_there_is_not_is_refused_and_what_may_be_meant_named(
    ghcrawl: Command, filled: Fill, verb: str
) -> None:
    filled(deadletters=[*LETTERS, a_letter("cc44", request=a_request(44, type="of_another_version"))])
    ran = ghcrawl("deadletters", verb, "--type", "isue")
    assert (ran.status, ran.out, ran.err) == (2, "", "ghcrawl: unknown type isue; did you mean issue?\n")
    assert ghcrawl("deadletters", verb, "--type", "of_another_version", *["--yes"] * (verb != "list")).status == 0


def test_only_for_a_type_that_the_platform_has_not_all_deadletters_are_counted(
    ghcrawl: Command, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[DeadletterFilter] = []

    async def count(letters: SqliteDeadletters, which: DeadletterFilter) -> DeadletterCounts:
        counted.append(which)
        return await original(letters, which)

    original = SqliteDeadletters.count
    monkeypatch.setattr(SqliteDeadletters, "count", count)
    assert ghcrawl("deadletters", "list", "--type", "issue").status == 0
    assert [which.types for which in counted] == [(a_type(),)]
    assert ghcrawl("deadletters", "list", "--type", "isue").status == 2
    assert [which.types for which in counted[1:]] == [()]


def test_a_list_that_was_cut_says_so(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("deadletters", "list", "--limit", "1")
    assert len(ran.rows) == 1
    assert "Showing the newest 1; --limit 0 shows all." in ran.err
    assert len(ghcrawl("deadletters", "list", "--limit", "0").rows) == 3


def test_one_is_told_like_an_incident(ghcrawl: Command, filled: Fill) -> None:
    context = a_request().context
    request = a_request(
        7,
        context=type(context)(
            qualifier="urn:repo:12",
            history=(Ancestor("org", "https://x/orgs/acme"), Ancestor("repo", "https://x/repos/acme/web")),
        ),
        payload=a_payload(),
        attempt=2,
    )
    failures = (
        a_failure(worker="pod-1"),
        a_failure(at=at(4), cause="KeyError", message="'id'", status=None, worker="pod-2"),
    )
    letter = a_deadletter(
        1,
        request=request,
        kind="KeyError",
        reason="'id'",
        failures=failures,
        first_at=NOW,
        last_at=at(4),
        traceback="Traceback (most recent call last):\n  File x\n    ^^^^\nKeyError: 'id'\n",
    )
    filled(deadletters=[letter])
    out = ghcrawl("deadletters", "show", "00000000").out
    for line in (
        "KeyError: 'id'",
        "deadletter     urn:deadletter:00000000-0000-4000-8000-000000000001",
        f"request        issue {request.url}",
        "policy         default:issue",
        "queue          normal",
        "parent         urn:repo:12",
        "payload        from a list",
        "How it was discovered",
        "org https://x/orgs/acme",
        "  repo https://x/repos/acme/web",
        f"    issue {request.url}",
        "1. 2026-11-21 12:00:00 UTC, worker pod-1: http_503",
        "   Service Unavailable",
        "2. 2026-11-21 12:00:04 UTC, 4 s later, worker pod-2: KeyError",
        "  File x",
        "KeyError: 'id'",
        "To retry",
        "ghcrawl deadletters requeue 00000000 && ghcrawl crawl",
    ):
        assert line in out.splitlines(), line
    assert "^^^^" not in out
    assert "after 2 attempts" in out
    value = ghcrawl("deadletters", "show", letter.urn, "--json").json
    assert [failure["worker"] for failure in value["failures"]] == ["pod-1", "pod-2"]
    assert value["history"] == list(map(str, request.context.history))
    assert value["traceback"].startswith("Traceback")


def test_what_never_was_a_request_is_shown_as_it_came(ghcrawl: Command, filled: Fill) -> None:
    filled(
        deadletters=[
            a_letter(
                "cc44",
                "DecodeError",
                raw=b"not \xff json",
                request=Request(platform=LEGACY_PLATFORM, type="unknown", url=""),
            )
        ]
    )
    assert r"not \xff json" in ghcrawl("deadletters", "show", "cc44").out
    assert ghcrawl("deadletters", "show", "cc44", "--json").json["raw"] == r"not \xff json"


def test_an_id_that_is_unknown_or_begins_several_is_refused(ghcrawl: Command, db: Path) -> None:
    assert ghcrawl("deadletters", "show", "aa").err == "ghcrawl: aa matches 2 IDs; type more digits\n"
    ran = ghcrawl("deadletters", "show", "ffff")
    assert (ran.status, ran.err) == (1, "ghcrawl: deadletter ffff not found; run `ghcrawl deadletters list`\n")
    ran = ghcrawl("deadletters", "show", "urn:deadletter:00000000-0000-4000-8000-000000000009")
    assert ran.status == 1
    assert "deadletter urn:deadletter:0000" in ran.err


def test_what_is_given_up_while_others_are_deleted_stays(ghcrawl: Command, filled: Fill) -> None:
    db = filled(deadletters=[LETTERS[0], a_letter("dd55", last_at=datetime.now(UTC) + timedelta(hours=1))])
    assert ghcrawl("deadletters", "delete", "--all", "--yes").err == "1 deadletter deleted.\n"
    assert left(db) == {"dd55"}


# requeue and delete ----------------------------------------------------------------------------------------------


def test_requeued_ones_wait_again_where_they_came_from(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("deadletters", "requeue", "--class", "http_503", "--yes")
    assert ran.status == 0
    assert ran.err == "2 requests requeued.\n# process the queued requests\nghcrawl crawl\n"
    assert left(db) == {"bb33"}
    assert {(request.attempt, request.failures) for request in waiting(db)} == {(0, ())}


def test_they_may_be_put_elsewhere(ghcrawl: Command, db: Path) -> None:
    assert ghcrawl("deadletters", "requeue", "bb33", "--to", "Immediate").status == 0, (
        "one that is named needs no --yes"
    )
    assert [request.type for request in waiting(db, "immediate")] == ["repo"]
    ran = ghcrawl("deadletters", "requeue", "--all", "--to", "immediat", "--yes")
    assert (ran.status, ran.err) == (2, "ghcrawl: unknown queue immediat; did you mean immediate?\n")
    assert left(db) == {"aa11", "aa22"}


def test_what_cannot_be_requeued_stays(ghcrawl: Command, filled: Fill) -> None:
    db = filled(
        deadletters=[
            a_letter("cc44", "DecodeError", raw=b"?", request=Request(platform=LEGACY_PLATFORM, type="unknown", url=""))
        ]
    )
    ran = ghcrawl("deadletters", "requeue", "--all", "--yes")
    assert "1 deadletter is not a readable request and was kept." in ran.err
    assert left(db) == {"cc44"}
    asyncio.run(
        fill(
            db,
            deadletters=[a_letter("dd55", raw=b"!", request=Request(platform=LEGACY_PLATFORM, type="unknown", url=""))],
        )
    )
    ran = ghcrawl("deadletters", "requeue", "--all", "--yes")
    assert "2 deadletters are not readable requests and were kept." in ran.err


def test_deleted_ones_are_gone(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("deadletters", "delete", "--older-than", "1d", "--yes")
    assert (ran.status, ran.err) == (0, "1 deadletter deleted.\n")
    assert left(db) == {"aa22", "bb33"}
    assert ghcrawl("deadletters", "delete", "--all", "--yes").err == "2 deadletters deleted.\n"
    assert left(db) == set()


def test_what_takes_several_answers_is_done_to_the_end(
    ghcrawl: Command, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghcrawl.backend.TimeBudget", lambda _: TimeBudget(0, at_once=1))
    assert ghcrawl("deadletters", "delete", "--class", "http_503", "--yes").err == "2 deadletters deleted.\n"
    filled = [a_letter(f"{digits}00", last_at=OLD + timedelta(seconds=digits)) for digits in (31, 32, 33)]
    asyncio.run(fill(db, deadletters=filled))
    assert ghcrawl("deadletters", "requeue", "--all", "--yes").err.startswith("4 requests requeued.\n")
    assert left(db) == set()


@pytest.mark.parametrize("verb", ["requeue", "delete"])
def test_without_saying_which_nothing_is_done(ghcrawl: Command, db: Path, verb: str) -> None:
    ran = ghcrawl("deadletters", verb, "--yes")
    assert ran.status == 2
    assert "select deadletters by ID" in ran.err
    assert len(left(db)) == 3


@pytest.mark.parametrize("verb", ["requeue", "delete"])
def test_a_dry_run_only_says_what_it_would_do(ghcrawl: Command, db: Path, verb: str) -> None:
    ran = ghcrawl("deadletters", verb, "--all", "--dry-run")
    assert (ran.status, ran.err) == (0, f"This would {verb} 3 deadletters (http_503 2, Malformed 1).\n")
    assert len(left(db)) == 3


def test_where_nobody_can_answer_yes_is_demanded(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("deadletters", "delete", "--all")
    assert ran.status == 2
    question = "Delete 3 deadletters (http_503 2, Malformed 1)?"
    assert ran.err == f"ghcrawl: {question} Standard input is not a terminal: confirm with --yes\n"
    assert len(left(db)) == 3


@pytest.mark.parametrize(("answer", "count"), [("y", 0), ("n", 3)])
def test_on_a_terminal_a_person_is_asked(
    ghcrawl: Command, db: Path, monkeypatch: pytest.MonkeyPatch, answer: str, count: int
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: answer == "y")
    assert ghcrawl("deadletters", "delete", "--all").status == 0
    assert len(left(db)) == count


def test_an_age_that_nobody_can_read_is_refused(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("deadletters", "delete", "--older-than", "long", "--yes")
    assert (ran.status, ran.err) == (2, "ghcrawl: 'long' is not a duration; write 30m, 2h, 3d or 1w\n")
    assert len(left(db)) == 3
