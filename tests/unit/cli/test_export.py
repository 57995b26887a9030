from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.cli import export
from ghcrawl.tables.partial import Partial
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from tests.support.builders import API, a_document, at
from tests.unit.cli.conftest import Command, Fill

USER = {"id": 5, "login": "ada", "type": "User"}
REPO = a_document(
    type="repo",
    urn="urn:repo:12",
    url=f"{API}/repos/acme/web",
    body={"id": 12, "full_name": "acme/web", "private": False, "created_at": "2026-11-01T10:00:00Z"},
)
PAGE = a_document(type="issues", urn="urn:repo:12:issues:page:1", url=f"{API}/repos/acme/web/issues?page=1")


def an_issue(number: int, **body: Any) -> Document:
    labels = [{"id": 208, "name": "bug"}, {"id": 209, "name": "slow"}]
    said = {"id": number, "number": number, "title": 'It, "breaks"', "labels": labels, "user": USER, "locked": False}
    return a_document(number, body=said | body)


ALL = (REPO, PAGE, an_issue(1), an_issue(2, created_at="2026-11-01T10:00:00Z"))


def messages(text: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# One file a type -------------------------------------------------------------------------------------------------


def test_each_type_gets_a_file(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    ran = ghcrawl("documents", "export", "--by-type", "-o", "acme")
    assert (ran.status, ran.out, ran.err) == (0, "", "4 documents written to acme.\n")
    assert sorted(path.name for path in Path("acme").iterdir()) == ["issue.jsonl", "issues.jsonl", "repo.jsonl"]
    assert [each["number"] for each in messages(Path("acme/issue.jsonl").read_text())] == [1, 2]


@pytest.mark.slow
def test_duckdb_and_pandas_read_what_each_type_is(ghcrawl: Command, filled: Fill) -> None:
    duckdb: Any = pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    pandas: Any = import_module("pandas")
    filled(documents=ALL)
    ghcrawl("documents", "export", "--by-type", "--flat", "-o", "acme")
    sql = "SELECT number, user.login, _urn, _repo FROM 'acme/issue.jsonl' ORDER BY number"
    with duckdb.connect() as connection:
        found = connection.execute(sql).fetchall()
    assert found == [
        (1, "ada", "urn:repo:12:issue:1", "acme/web"),
        (2, "ada", "urn:repo:12:issue:2", "acme/web"),
    ]
    frame = pandas.read_json("acme/issue.jsonl", lines=True)
    assert list(frame["number"]) == [1, 2]
    assert list(frame["_type"]) == ["issue", "issue"]


# Atomicity -------------------------------------------------------------------------------------------------------

FORMS = [("--by-type", "-o", "acme"), ("-o", "acme.jsonl"), ("--type", "issue", "--format", "csv", "-o", "issues.csv")]


def contents() -> Mapping[str, bytes]:
    """What lies in this folder beside the crawl's own file."""
    here = [path for path in Path().rglob("*") if path.is_file() and ".bin" not in path.parts]
    return {str(path): path.read_bytes() for path in here if not path.name.startswith("ghcrawl.db")}


@pytest.mark.parametrize("words", FORMS)
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_is_stopped_leaves_the_old_files(
    ghcrawl: Command, filled: Fill, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], number: int, status: int
) -> None:
    filled(documents=ALL)
    assert ghcrawl("documents", "export", *words).status == 0
    before = contents()
    filled(documents=[an_issue(3)])

    async def stopped(*_: Any) -> AsyncIterator[Document]:
        yield ALL[2]
        os.kill(os.getpid(), number)
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(export, "selected", stopped)
        assert ghcrawl("documents", "export", *words).status == status
    assert contents() == before
    assert ghcrawl("documents", "export", *words).status == 0
    assert contents() != before


KILLED = """
import os, sys
from ghcrawl.cli import export, main
real = export.selected
async def selected(*words):
    async for document in real(*words):
        yield document
        os._exit(9)
export.selected = selected
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", FORMS)
def test_a_run_that_is_killed_leaves_the_old_files(ghcrawl: Command, filled: Fill, words: tuple[str, ...]) -> None:
    filled(documents=ALL)
    ghcrawl("documents", "export", *words)
    before = contents()
    ran = subprocess.run([sys.executable, "-c", KILLED, "documents", "export", *words], check=False)
    assert ran.returncode == 9
    assert {name: text for name, text in contents().items() if ".partial" not in name and ".lock" not in name} == before
    assert ghcrawl("documents", "export", *words).status == 0
    assert contents() == before


def test_a_folder_is_replaced_as_a_whole_if_an_export_wrote_it(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    ghcrawl("documents", "export", "--by-type", "-o", "acme")
    ghcrawl("documents", "export", "--by-type", "--type", "repo", "-o", "acme")
    assert list(contents()) == ["acme/repo.jsonl"]
    Path("acme/notes.txt").write_text("mine")
    ran = ghcrawl("documents", "export", "--by-type", "-o", "acme")
    assert (ran.status, ran.err) == (
        2,
        "ghcrawl: acme is replaced as a whole, and holds notes.txt; name another folder\n",
    )
    assert sorted(contents()) == ["acme/notes.txt", "acme/repo.jsonl"]


def test_one_process_at_a_time_writes_a_file(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    other = Partial(Path("acme.jsonl"))
    other.lock()
    ran = ghcrawl("documents", "export", "-o", "acme.jsonl")
    other.release()
    assert (ran.status, ran.err) == (
        2,
        "ghcrawl: another process is writing acme.jsonl; run the command again later\n",
    )


# CSV and Parquet -------------------------------------------------------------------------------------------------


def test_one_type_is_exported_as_csv(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    rows = list(csv.DictReader(io.StringIO(ghcrawl("documents", "export", "--type", "issue", "--format", "csv").out)))
    told = [(row["urn"], row["number"], row["title"], row["user_login"], row["created_at"]) for row in rows]
    title = 'It, "breaks"'
    assert told == [
        ("urn:repo:12:issue:1", "1", title, "ada", ""),
        ("urn:repo:12:issue:2", "2", title, "ada", "2026-11-01T10:00:00.000Z"),
    ]
    ran = ghcrawl("documents", "export", "--type", "issue", "--format", "csv", "-o", "issues.csv")
    assert ran.err == "2 documents written to issues.csv.\n"
    assert list(csv.DictReader(Path("issues.csv").read_text().splitlines())) == rows


@pytest.mark.slow
def test_one_type_is_exported_as_parquet(ghcrawl: Command, filled: Fill) -> None:
    duckdb: Any = pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    filled(documents=ALL)
    ran = ghcrawl("documents", "export", "--type", "issue", "--format", "parquet", "-o", "issues.parquet")
    assert ran.err == "2 documents written to issues.parquet.\n"
    sql = "SELECT number, locked, user_id, created_at FROM 'issues.parquet' ORDER BY number DESC LIMIT 1"
    with duckdb.connect() as connection:
        assert connection.execute(sql).fetchall() == [(2, False, 5, datetime(2026, 11, 1, 10, tzinfo=UTC))]
    assert sorted(path.name for path in Path().glob("issues*")) == ["issues.parquet"]


# Singer ----------------------------------------------------------------------------------------------------------


def test_singer_gets_schemas_then_records_then_a_state(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    ran = ghcrawl("documents", "export", "--format", "singer")
    told = messages(ran.out)
    assert [key for key, _ in _runs(told)] == ["SCHEMA", "RECORD", "STATE"]
    schemas = {each["stream"]: each for each in told if each["type"] == "SCHEMA"}
    assert schemas["issues"]["key_properties"] == ["urn"]
    assert schemas["issues"]["schema"]["properties"]["created_at"] == {
        "type": ["null", "string"],
        "format": "date-time",
    }
    (issue,) = (
        each["record"]
        for each in told
        if each.get("stream") == "issues" and "record" in each and each["record"]["number"] == 1
    )
    assert (issue["urn"], issue["user_id"], issue["locked"]) == ("urn:repo:12:issue:1", 5, False)
    assert [each["label_name"] for each in issue["issue_labels"]] == ["bug", "slow"]
    assert {each["stream"] for each in told if each["type"] == "RECORD"} == {"repos", "issues", "accounts"}


def _runs(told: list[Mapping[str, Any]]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for each in told:
        if not found or found[-1][0] != each["type"]:
            found.append((each["type"], 0))
    return found


def test_singer_is_told_of_the_wanted_streams_only(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    told = messages(ghcrawl("documents", "export", "--format", "singer", "--type", "issue").out)
    assert [each["stream"] for each in told if each["type"] == "SCHEMA"] == ["accounts", "issues"]
    assert {each["stream"] for each in told if each["type"] == "RECORD"} == {"accounts", "issues"}
    Path("state.json").write_text(json.dumps(told[-1]["value"]))
    again = messages(
        ghcrawl("documents", "export", "--format", "singer", "--type", "issue", "--state", "state.json").out
    )
    assert [each["type"] for each in again] == ["SCHEMA", "SCHEMA", "STATE"]


def test_singer_goes_on_from_a_state(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=ALL)
    said = ghcrawl("documents", "export", "--format", "singer").out.splitlines()
    Path("state.json").write_text(f"{json.dumps(json.loads(said[-1])['value'])}\n")
    later = replace(an_issue(2, labels=[]), processed_at=at(60), observed_at=at(60), changed_at="2026-11-22")
    filled(documents=[later])
    told = messages(ghcrawl("documents", "export", "--format", "singer", "--state", "state.json").out)
    records = [each["record"] for each in told if each["type"] == "RECORD" and each["stream"] == "issues"]
    assert [(each["number"], each["issue_labels"]) for each in records] == [(2, [])]


def test_a_state_of_another_store_is_not_gone_on_from(ghcrawl: Command, filled: Fill, tmp_path: Path) -> None:
    db = filled(documents=ALL)
    said = ghcrawl("documents", "export", "--format", "singer").out.splitlines()
    Path("state.json").write_text(json.dumps(json.loads(said[-1])["value"]))
    db.rename(tmp_path / "first.db")
    filled(documents=ALL)
    ran = ghcrawl("documents", "export", "--format", "singer", "--state", "state.json")
    why = "state.json was filled from ghcrawl.db, and this is another store in its place"
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"ghcrawl: {why}; leave out --state to export everything\n"


@pytest.mark.slow
def test_a_singer_target_takes_it(ghcrawl: Command, filled: Fill, tmp_path: Path) -> None:
    filled(documents=ALL)
    ghcrawl("documents", "export", "--format", "singer", "-o", "messages")
    target = Path(sys.executable).with_name("target-jsonl")
    (tmp_path / "config.json").write_text('{"destination_path": "taken", "do_timestamp_file": false}')
    (tmp_path / "taken").mkdir()
    with Path("messages").open() as file:
        ran = subprocess.run(
            [target, "--config", "config.json"], stdin=file, capture_output=True, text=True, check=True
        )
    assert [each["number"] for each in messages(Path("taken/issues.jsonl").read_text())] == [1, 2]
    assert [each["login"] for each in messages(Path("taken/accounts.jsonl").read_text())] == ["ada"]
    assert json.loads(ran.stdout.splitlines()[-1])["source"].endswith("ghcrawl.db")


# What cannot be done ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "xml"), "unknown format xml; use jsonl, csv, parquet, singer"),
        (("--format", "csv"), "name one type with --type; `ghcrawl tables` writes a table for each"),
        (("--format", "csv", "--type", "issues"), "issues has no table; export it as jsonl"),
        (("--format", "csv", "--type", "issue", "--flat"), "--flat and --by-type are for jsonl; csv has a column"),
        (("--format", "parquet", "--type", "issue"), "name a file with --output"),
        (("--by-type",), "name a folder with --output"),
        (("--state", "state.json"), "--state is for --format singer"),
        (("--format", "singer", "--state", "none.json"), "cannot read the state none.json: No such file or directory"),
        (("--format", "singer", "--state", "ghcrawl.db"), "ghcrawl.db was not written by ghcrawl"),
        (("--by-type", "-o", "ghcrawl.db"), "cannot write ghcrawl.db: File exists"),
    ],
)
def test_what_cannot_be_done_is_one_line(ghcrawl: Command, filled: Fill, words: tuple[str, ...], said: str) -> None:
    pytest.importorskip("pyarrow", reason="the extra `tables` is not installed")
    filled(documents=ALL)
    ran = ghcrawl("documents", "export", *words)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
