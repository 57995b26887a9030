"""`ghcrawl tables ask` on a terminal."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ghcrawl.cli import asking, output
from ghcrawl.tables.asking import Answer, Tables
from ghcrawl.tables.sqlite import DIALECT
from ghcrawl.tables.target import State
from ghcrawl.values.documents import Document
from processors.github.tables import TABLES
from tests.support.builders import API, a_document, at
from tests.unit.cli.conftest import Command, Fill


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 20 columns shows."""
    file = io.StringIO()
    terminal = Console(file=file, width=20, force_terminal=True, color_system=None)
    monkeypatch.setattr(output, "console", lambda: terminal)
    return file


def test_numbers_are_aligned_and_never_cut(shown: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ("acme/documentation", 3, 1751.88), ("acme/web", 12, None))
    assert shown.getvalue().splitlines() == [
        "repo                number    hours",
        "acme/documentation       3  1751.88",
        "acme/web                12",
    ]


def test_text_in_the_last_column_has_the_room_that_is_left(shown: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ("acme", 3, "a title that is long"))
    assert shown.getvalue().splitlines() == ["repo  number  hours", "acme       3  a tit…"]


def answers(monkeypatch: pytest.MonkeyPatch, *rows: tuple[Any, ...]) -> None:
    found = Answer(columns=("repo", "number", "hours"), rows=rows)
    tables = Tables(state=State(version=1, source="", selection={}), dialect=DIALECT, run=lambda *_: found)
    monkeypatch.setattr(asking, "opened", lambda *_: nullcontext(tables))
    how = asking.Narrowed()
    assert asking.answer(TABLES, "SELECT 1", Path("acme.sqlite"), how, limit=50, json=False) == 0


# Of real tables ----------------------------------------------------------------------------------------------------

ADA, BOB = {"id": 5, "login": "ada", "type": "User"}, {"id": 6, "login": "bob", "type": "User"}
BOT = {"id": 7, "login": "dependabot[bot]", "type": "Bot"}


def a_repo(id: int, name: str) -> Document:
    body = {"id": id, "full_name": name, "name": name.partition("/")[2]}
    return a_document(type="repo", urn=f"urn:repo:{id}", url=f"{API}/repos/{name}", body=body)


def a_pull(number: int, user: object, *, repo: int = 12, days: int = 1, merged: str = "2026-11") -> Document:
    """Opened on the first of a month, and merged some days later."""
    body = {
        "number": number,
        "user": user,
        "state": "closed",
        "created_at": f"{merged}-01T00:00:00Z",
        "merged_at": f"{merged}-{1 + days:02}T00:00:00Z",
    }
    urn = f"urn:repo:{repo}:pull_request:{number}"
    return a_document(type="pull_request", urn=urn, url=f"{API}/{repo}/pulls/{number}", body=body)


@pytest.fixture
def asked(ghcrawl: Command, filled: Fill) -> Callable[..., list[str]]:
    """The lines that a question answers, of tables with two repositories, two people and a bot."""
    filled(
        documents=[
            a_repo(12, "acme/web"),
            a_repo(13, "acme/API"),
            *(a_pull(n, ADA if n % 2 else BOB, days=n) for n in (1, 2, 3, 9)),
            a_pull(5, BOT, days=20),
            a_pull(6, ADA, days=4, merged="2026-10"),
            a_pull(7, ADA, repo=13, days=7),
        ]
    )
    assert ghcrawl("tables", "--to", "acme.sqlite").status == 0

    def ask(*words: str) -> list[str]:
        ran = ghcrawl("tables", "ask", *words, "--in", "acme.sqlite", "--limit", "0")
        assert (ran.status, ran.err) == (0, "")
        return ran.out.replace('"', "").splitlines()[1:]

    return ask


def test_medians_are_by_repository_and_month_and_of_people(asked: Callable[..., list[str]]) -> None:
    assert asked("time_to_merge_by_month") == [
        "acme/API,2026-11,1,168.0",
        "acme/web,2026-10,1,96.0",
        "acme/web,2026-11,4,60.0",
    ]
    assert asked("time_to_merge_by_month", "--bots")[-1] == "acme/web,2026-11,5,72.0"


def test_a_question_is_narrowed_to_a_repository_and_to_what_happened_since(asked: Callable[..., list[str]]) -> None:
    assert len(asked("time_to_merge")) == 6
    assert [line.split(",")[:2] for line in asked("time_to_merge", "--repo", "ACME/api")] == [["acme/API", "7"]]
    assert [line.split(",")[1] for line in asked("time_to_merge", "--since", "2026-11-04")] == ["9", "7", "3"]
    assert asked("time_to_merge_by_month", "--since", "2026-11-01", "--repo", "acme/web") == ["acme/web,2026-11,4,60.0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("time_to_merge", "--repo", "acme/wbe"), "acme/wbe is not in the tables; did you mean acme/web?"),
        (("time_to_merge", "--repo", "x'y"), "x'y is not in the tables; there are acme/API, acme/web"),
        (("time_to_merge", "--since", "soon"), "'soon' is not a date"),
        (("time_to_murge",), "did you mean time_to_merge?"),
        (("SELECT 1", "--bots"), "in SQL, write a WHERE instead"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    asked: Callable[..., list[str]], ghcrawl: Command, words: tuple[str, ...], said: str
) -> None:
    ran = ghcrawl("tables", "ask", *words, "--in", "acme.sqlite")
    assert (ran.status, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert said in ran.err


def test_an_empty_answer_says_which_tables_are_empty(ghcrawl: Command, asked: Callable[..., list[str]]) -> None:
    ran = ghcrawl("tables", "ask", "ci_failure_rate", "--in", "acme.sqlite")
    assert ran.out == '"repo","name","runs","failures","failure_rate"\r\n'
    assert ran.err == "No rows: acme.sqlite has no check_runs; the crawl may have left them out.\n"


def test_a_selection_still_names_repositories_and_a_question_says_what_it_lacks(
    ghcrawl: Command, asked: Callable[..., list[str]]
) -> None:
    assert ghcrawl("tables", "--to", "acme.sqlite", "--only", "pull_request").err.startswith("9 documents")
    assert [line.split(",")[0] for line in asked("time_to_merge")].count("acme/web") == 5
    ran = ghcrawl("tables", "ask", "review_load", "--in", "acme.sqlite")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "ghcrawl: review_load needs review, which acme.sqlite was written without; "
        "run `ghcrawl tables --to acme.sqlite` without --only, or with these types too\n"
    )


def test_a_type_that_fills_several_missing_tables_is_named_once(
    ghcrawl: Command, asked: Callable[..., list[str]]
) -> None:
    ghcrawl("tables", "--to", "acme.sqlite", "--only", "issue")
    ran = ghcrawl("tables", "ask", "review_load", "--in", "acme.sqlite")
    assert ran.err.startswith("ghcrawl: review_load needs pull_request, review, which acme.sqlite was written without")


def test_repositories_that_are_not_there_are_told_apart_by_their_urn(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=[a_pull(1, ADA), a_pull(1, ADA, repo=13)])
    ghcrawl("tables", "--to", "acme.sqlite")
    lines = ghcrawl("tables", "ask", "time_to_merge_by_month", "--in", "acme.sqlite").out.splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ['"urn:repo:12"', '"urn:repo:13"']


def test_now_is_when_the_tables_were_written(ghcrawl: Command, filled: Fill) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=10)).isoformat()
    body = {"number": 1, "state": "open", "created_at": long_ago}
    filled(documents=[a_document(1, body=body, observed_at=at(-9_000))])
    ghcrawl("tables", "--to", "acme.sqlite")
    (found,) = json.loads(ghcrawl("tables", "ask", "open_issue_age", "--in", "acme.sqlite", "--json").out)
    assert found["days_open"] == pytest.approx(10, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acme.duckdb", "acme [x]*", "csv-acme"])
def test_each_form_answers_the_same(ghcrawl: Command, asked: Callable[..., list[str]], name: str) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    assert ghcrawl("tables", "--to", name).status == 0
    for question in TABLES.questions:
        words = ("tables", "ask", question.name, "--limit", "0", "--json", "--in")
        found, expected = (json.loads(ghcrawl(*words, where).out) for where in (name, "acme.sqlite"))
        assert found == expected, question.name
    (written,) = json.loads(ghcrawl("tables", "ask", "SELECT written_at FROM _ghcrawl", "--in", name, "--json").out)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(written["written_at"])) < timedelta(minutes=5)
