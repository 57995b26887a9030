from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.tables import choose, csvfiles, parquet
from ghcrawl.tables.fill import Filling
from ghcrawl.tables.target import NATIVE
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.frozen import replace
from processors.github.tables import TABLES
from tests.support.builders import API, a_document, at
from tests.unit.cli.conftest import Command, Fill

pytestmark = pytest.mark.slow

USER = {"id": 5, "login": "ada", "type": "User", "html_url": "https://github.com/ada", "node_id": "x"}
REPO = a_document(
    type="repo",
    urn="urn:repo:12",
    url=f"{API}/repos/acme/web",
    body={"id": 12, "full_name": "acme/web", "name": "web", "private": False, "owner": USER, "topics": ["queue"]},
)


def an_issue(number: int = 34, **body: Any) -> Document:
    said = {
        "id": 9_007_199_254_740_993,
        "number": number,
        "title": "It breaks",
        "locked": False,
        "user": USER,
        "assignees": [USER, {"id": 6, "login": "bob"}],
        "labels": [{"id": 208, "name": "bug"}, {"id": 209, "name": "Bug"}],
        "created_at": "2026-11-01T10:00:00Z",
        "milestone": None,
        "reactions": {"total_count": 3},
    }
    return a_document(number, body=said | body)


ISSUE = an_issue()


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("acme.duckdb", "parquet", "csv-acme")]
"""Targets whose libraries take seconds to load."""


@pytest.fixture(params=["acme.sqlite", *SLOW])
def to(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name: str = request.param
    if not name.endswith(".sqlite"):
        pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    return tmp_path / name


def duck(to: Path) -> Any:
    """What a reader finds at `to`."""
    duckdb: Any = import_module("duckdb")
    if to.suffix == ".duckdb":
        return duckdb.connect(str(to), read_only=True)
    connection = duckdb.connect()
    for table in TABLES.everything:
        types = ", ".join(f"'{column.name}': '{NATIVE[column.type].duckdb}'" for column in table.columns)
        how = f"read_csv('{to}/{table.name}.csv', header=true, columns={{{types}}}, max_line_size=40000000)"
        parquet = f"read_parquet('{to}/{table.name}/*.parquet')"
        connection.execute(f"CREATE VIEW {table.name} AS FROM {how if to.name.startswith('csv') else parquet}")
    return connection


def rows(to: Path, sql: str) -> Sequence[tuple[Any, ...]]:
    if to.suffix != ".sqlite":
        with duck(to) as connection:
            return list(connection.execute(sql).fetchall())
    with closing(sqlite3.connect(to)) as file:
        return file.execute(sql).fetchall()


def one(to: Path, sql: str) -> Mapping[str, Any]:
    """The only row, by column."""
    if to.suffix != ".sqlite":
        with duck(to) as connection:
            (row,) = connection.sql(sql).to_arrow_table().to_pylist()
            return dict(row)
    with closing(sqlite3.connect(to)) as file:
        file.row_factory = sqlite3.Row
        (found,) = file.execute(sql).fetchall()
        return dict(found)


def test_documents_become_rows_of_declared_types(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[REPO, ISSUE])
    ran = ghcrawl("tables", "--to", to)
    assert (ran.status, ran.out, ran.err) == (0, "", f"2 documents written to {to}.\n")
    issue = one(to, "SELECT * FROM issues")
    assert issue["id"] == 9_007_199_254_740_993
    assert (issue["repo_id"], issue["repo_urn"], issue["number"]) == (12, "urn:repo:12", 34)
    assert (issue["user_id"], issue["user_login"], issue["assignee_id"]) == (5, "ada", None)
    assert bool(issue["locked"]) is False
    assert (issue["reactions_total"], json.loads(issue["reactions"])) == (3, {"total_count": 3})
    made = issue["created_at"]
    assert made == "2026-11-01T10:00:00.000Z" if to.suffix == ".sqlite" else datetime(2026, 11, 1, 10, tzinfo=UTC)
    assert (issue["extra"], issue["_body"], issue["_deleted_at"]) == (None, None, None)


def test_arrays_become_link_tables_in_their_order(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[REPO, ISSUE])
    ghcrawl("tables", "--to", to)
    labels = rows(to, "SELECT issue_urn, position, label_urn, label_name FROM issue_labels ORDER BY position")
    assert labels == [
        ("urn:repo:12:issue:34", 0, "urn:repo:12:label:208", "bug"),
        ("urn:repo:12:issue:34", 1, "urn:repo:12:label:209", "Bug"),
    ]
    assert rows(to, "SELECT user_id, user_login FROM issue_assignees ORDER BY position") == [(5, "ada"), (6, "bob")]
    assert rows(to, "SELECT repo_urn, value FROM repo_topics") == [("urn:repo:12", "queue")]


def test_everybody_who_is_named_is_an_account(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[REPO, ISSUE])
    ghcrawl("tables", "--to", to)
    assert rows(to, "SELECT id, login, type FROM accounts ORDER BY id") == [(5, "ada", "User"), (6, "bob", None)]


def test_what_has_no_column_and_what_does_not_fit_one_lands_in_extra(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[an_issue(comments="many", brand_new={"a": [1]}, created_at="soon", id=2**70)])
    assert ghcrawl("tables", "--to", to).status == 0
    issue = one(to, "SELECT * FROM issues")
    assert (issue["comments"], issue["created_at"], issue["id"]) == (None, None, None)
    assert json.loads(issue["extra"]) == {
        "comments": "many",
        "brand_new": {"a": [1]},
        "created_at": "soon",
        "id": 2**70,
    }


def test_odd_text_is_kept(ghcrawl: Command, filled: Fill, to: Path) -> None:
    odd = "a\0b \ud800 \N{PILE OF POO} 'quoted' \"twice\""
    filled(documents=[an_issue(title=odd, body="x" * 16 * 2**20, extra_text=odd)])
    assert ghcrawl("tables", "--to", to).status == 0
    issue = one(to, "SELECT * FROM issues")
    kept = odd.replace("\ud800", "\N{REPLACEMENT CHARACTER}")
    assert issue["title"] == (kept.replace("\0", "\N{REPLACEMENT CHARACTER}") if to.name == "csv-acme" else kept)
    assert len(issue["body"]) == 16 * 2**20
    assert json.loads(issue["extra"]) == {"extra_text": kept}


def test_whole_bodies_are_kept_where_that_is_asked_for(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[ISSUE])
    ghcrawl("tables", "--to", to, "--bodies")
    assert json.loads(one(to, "SELECT _body FROM issues")["_body"]) == dict(ISSUE.body)


def test_a_column_and_a_table_stay_when_there_is_nothing_for_them(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[])
    assert ghcrawl("tables", "--to", to).status == 0
    assert rows(to, "SELECT merged_at, head_sha FROM pull_requests") == []


def test_only_what_changed_is_written_again(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[REPO, ISSUE, an_issue(35)])
    ghcrawl("tables", "--to", to)
    assert ghcrawl("tables", "--to", to).err == f"0 documents written to {to}.\n"
    later = an_issue(title="It works", labels=[{"id": 300, "name": "done"}], updated_at="2026-11-21T13:00:00Z")
    later = replace(later, observed_at=at(60), processed_at=at(60), changed_at="2026-11-21T13:00:00Z")
    filled(documents=[later])
    assert ghcrawl("tables", "--to", to).err == f"1 document written to {to}.\n"
    assert rows(to, "SELECT number, title FROM issues ORDER BY 1") == [(34, "It works"), (35, "It breaks")]
    assert rows(to, "SELECT label_name FROM issue_labels WHERE issue_urn LIKE '%:34'") == [("done",)]


def test_names_that_differ_only_by_case_are_rows_of_their_own(ghcrawl: Command, filled: Fill, to: Path) -> None:
    upper = {**USER, "id": 7, "login": "Ada"}
    repos = [
        replace(REPO, urn=f"urn:repo:{id}", url=f"{API}/repos/{name}", body={**REPO.body, "id": id, "full_name": name})
        for id, name in ((12, "acme/web"), (13, "Acme/Web"))
    ]
    branches = [
        a_document(type="branch", urn=f"urn:repo:12:branch:{name}", url=f"{API}/b/{name}", body={"name": name})
        for name in ("main", "Main")
    ]
    filled(documents=[*repos, *branches, an_issue(assignees=[USER, upper])])
    for _ in range(2):
        assert ghcrawl("tables", "--to", to).status == 0
        found = rows(to, "SELECT id, full_name FROM repos ORDER BY id")
        assert found == [(12, "acme/web"), (13, "Acme/Web")]
        assert rows(to, "SELECT name FROM branches ORDER BY name") == [("Main",), ("main",)]
        assert rows(to, "SELECT user_login FROM issue_assignees ORDER BY position") == [("ada",), ("Ada",)]
        assert rows(to, "SELECT id, login FROM accounts ORDER BY id") == [(5, "ada"), (7, "Ada")]
        assert rows(to, "SELECT count(*) FROM repos WHERE full_name = 'acme/web'") == [(1,)]
        filled(documents=[replace(repos[1], body={**repos[1].body, "private": True}, processed_at=at(99))])


def test_later_runs_leave_one_row_a_document(
    ghcrawl: Command, filled: Fill, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "PART_ROWS", 20)
    monkeypatch.setattr(parquet, "SMALL_ROWS", 10)
    monkeypatch.setattr(parquet, "SMALL_PARTS", 3)
    monkeypatch.setattr(csvfiles, "CHUNK_BYTES", 2_000)
    monkeypatch.setattr("ghcrawl.tables.fill.BATCH", 7)
    chance, now = random.Random(to.name), 1
    state: dict[int, tuple[str, list[str]]] = {}
    for _ in range(9):
        some = chance.sample(range(60), 25 if not state else chance.randint(0, 12))
        for number in some:
            labels = chance.sample(["bug", "docs", "later"], chance.randint(0, 3))
            state[number] = (f'At {now}, "quoted"\r\n"urn:repo:12:issue:7",', labels)
        documents = [
            an_issue(n, title=state[n][0], labels=[{"id": 1, "name": each} for each in state[n][1]]) for n in some
        ]
        filled(documents=[replace(one, observed_at=at(now), processed_at=at(now)) for one in documents])
        now += 1
        assert ghcrawl("tables", "--to", to).err.startswith(f"{len(some)} document")
        assert rows(to, "SELECT number, title FROM issues ORDER BY 1") == [(n, state[n][0]) for n in sorted(state)]
        sql = "SELECT issue_urn, label_name FROM issue_labels ORDER BY issue_urn, position"
        linked = {f"urn:repo:12:issue:{number}": labels for number, (_, labels) in state.items()}
        assert rows(to, sql) == [(urn, label) for urn in sorted(linked) for label in linked[urn]]


def test_parquet_is_rewritten_only_where_rows_changed(
    ghcrawl: Command, filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    monkeypatch.setattr(parquet, "PART_ROWS", 10)
    monkeypatch.setattr(parquet, "SMALL_ROWS", 2)
    monkeypatch.setattr("ghcrawl.tables.fill.BATCH", 10)
    filled(documents=[an_issue(100 + number) for number in range(30)])
    ghcrawl("tables", "--to", "acme")
    before = {path.name: path.stat().st_ino for path in (tmp_path / "acme" / "issues").iterdir()}
    assert sorted(before) == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    changed = [replace(an_issue(number, title="later"), observed_at=at(9), processed_at=at(9)) for number in (115, 130)]
    filled(documents=changed)
    ghcrawl("tables", "--to", "acme")
    after = {path.name: path.stat().st_ino for path in (tmp_path / "acme" / "issues").iterdir()}
    assert {name for name in after if after[name] != before.get(name)} == {"part-00001.parquet", "part-00003.parquet"}
    assert rows(tmp_path / "acme", "SELECT count(*), count(DISTINCT urn) FROM issues") == [(31, 31)]


def test_small_parts_do_not_pile_up(
    ghcrawl: Command, filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    monkeypatch.setattr(parquet, "SMALL_PARTS", 3)
    for number in range(9):
        filled(documents=[replace(an_issue(number), observed_at=at(number), processed_at=at(number))])
        ghcrawl("tables", "--to", "acme")
        assert len(list((tmp_path / "acme" / "issues").iterdir())) <= 5
    assert rows(tmp_path / "acme", "SELECT number FROM issues ORDER BY 1") == [(number,) for number in range(9)]


def test_a_folder_that_an_older_version_wrote_is_brought_up_to_date(
    ghcrawl: Command, filled: Fill, tmp_path: Path
) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    filled(documents=[an_issue(1), an_issue(2)])
    ghcrawl("tables", "--to", "acme")
    for folder in (tmp_path / "acme").iterdir():
        if folder.is_dir():
            (folder / "part-00000.parquet").rename(folder / f"{folder.name}.parquet")
    filled(documents=[replace(an_issue(1, title="later"), observed_at=at(9), processed_at=at(9))])
    assert ghcrawl("tables", "--to", "acme").err == "1 document written to acme.\n"
    assert rows(tmp_path / "acme", "SELECT number, title FROM issues ORDER BY 1") == [(1, "later"), (2, "It breaks")]


def test_a_tombstone_is_a_row_that_says_since_when(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[ISSUE])
    ghcrawl("tables", "--to", to)
    gone = replace(ISSUE, deleted_at=at(90), observed_at=at(90), processed_at=at(90), deleted_reason="404 Not Found")
    filled(documents=[gone])
    assert ghcrawl("tables", "--to", to).err.startswith("1 document written")
    issue = one(to, "SELECT * FROM issues")
    assert issue["_deleted_at"] is not None
    assert (issue["_deleted_reason"], issue["title"]) == ("404 Not Found", "It breaks")


def test_a_selection_is_kept_and_another_one_begins_anew(ghcrawl: Command, filled: Fill, to: Path) -> None:
    other = a_document(type="repo", urn="urn:repo:120", url=f"{API}/repos/acme/api", body={"id": 120})
    filled(documents=[REPO, ISSUE, other])
    ghcrawl("tables", "--to", to, "--under", "urn:repo:12")
    assert rows(to, "SELECT count(*) FROM repos") == [(1,)]
    ghcrawl("tables", "--to", to, "--only", "issue,label")
    assert rows(to, "SELECT (SELECT count(*) FROM repos), (SELECT count(*) FROM issues)") == [(2, 1)]


def test_a_run_that_breaks_leaves_the_old_tables(
    ghcrawl: Command, filled: Fill, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(documents=[ISSUE])
    ghcrawl("tables", "--to", to)
    before = sorted(path.name for path in to.parent.iterdir())
    filled(documents=[an_issue(35)])
    for words in ((), ("--whole",)):
        with monkeypatch.context() as patch:
            patch.setattr("ghcrawl.tables.fill.Filling.state", _broken)
            assert ghcrawl("tables", "--to", to, *words).status != 0
        assert rows(to, "SELECT number FROM issues") == [(34,)]
        assert sorted(path.name for path in to.parent.iterdir()) == before


def _broken(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + bytes(100)])
def test_a_target_that_is_something_else_stays_as_it_is(
    ghcrawl: Command, filled: Fill, to: Path, content: bytes
) -> None:
    filled(documents=[ISSUE])
    file = to if to.suffix else to / "something"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    ran = ghcrawl("tables", "--to", to)
    assert (ran.status, ran.err) == (2, f"ghcrawl: {to} was not written by ghcrawl tables; name another target\n")
    assert file.read_bytes() == content


def test_a_folder_is_no_file_and_a_file_no_folder(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[ISSUE])
    if to.suffix:
        to.mkdir()
    else:
        to.write_text("mine")
    ran = ghcrawl("tables", "--to", to)
    assert (ran.status, ran.err) == (2, f"ghcrawl: {to} was not written by ghcrawl tables; name another target\n")
    assert to.is_dir() if to.suffix else to.read_text() == "mine"


def test_the_crawls_own_file_and_another_format_are_no_targets(ghcrawl: Command, filled: Fill, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    db = filled(documents=[ISSUE])
    ghcrawl("tables", "--to", "csv-one")
    (tmp_path / "csv-one").rename(tmp_path / "one")
    for wrong in (db, tmp_path / "one"):
        ran = ghcrawl("tables", "--to", wrong)
        assert (ran.status, ran.err) == (
            2,
            f"ghcrawl: {wrong} was not written by ghcrawl tables; name another target\n",
        )


def test_a_newer_schema_stays_as_it_is(ghcrawl: Command, filled: Fill, to: Path) -> None:
    filled(documents=[ISSUE])
    ghcrawl("tables", "--to", to)
    if to.suffix:
        connection: Any = sqlite3.connect(to) if to.suffix == ".sqlite" else import_module("duckdb").connect(str(to))
        connection.execute("""UPDATE _ghcrawl SET state = replace(state, '"version":', '"version":99')""")
        connection.commit()
        connection.close()
    else:
        state = to / "_ghcrawl.json"
        state.write_text(state.read_text().replace('"version":', '"version":99'))
    ran = ghcrawl("tables", "--to", to)
    assert ran.status == 2
    assert "was written by a newer ghcrawl (tables 99" in ran.err


def test_a_file_that_moved_is_the_same_source(ghcrawl: Command, filled: Fill, to: Path, tmp_path: Path) -> None:
    db = filled(documents=[ISSUE])
    ghcrawl("tables", "--to", to)
    elsewhere = db.rename(tmp_path / "moved.db")
    assert ghcrawl("tables", "--to", to, "--db", elsewhere).err == f"0 documents written to {to}.\n"


def test_a_target_of_another_store_is_not_mixed_up(ghcrawl: Command, filled: Fill, to: Path, tmp_path: Path) -> None:
    first = filled(documents=[ISSUE])
    ghcrawl("tables", "--to", to)
    first.rename(tmp_path / "first.db")
    other = filled(documents=[an_issue(35)])
    ran = ghcrawl("tables", "--to", to)
    assert ran.status == 2
    remedy = "name another target, or use --whole"
    assert ran.err == f"ghcrawl: {to} was filled from ghcrawl.db, and this is another store in its place; {remedy}\n"
    second = other.rename(tmp_path / "second.db")
    ran = ghcrawl("tables", "--to", to, "--db", second)
    assert ran.err == f"ghcrawl: {to} was filled from ghcrawl.db, and this is {second}; {remedy}\n"
    assert rows(to, "SELECT number FROM issues") == [(34,)]
    assert ghcrawl("tables", "--to", to, "--db", second, "--whole").status == 0
    assert rows(to, "SELECT number FROM issues") == [(35,)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a target: --to acme.sqlite"),
        (("--to", "acme.xls"), "acme.xls is no target"),
        (("--to", "acme.sqlite", "--only", "isue"), "did you mean issue?"),
        (("--to", "nowhere/acme.sqlite"), "cannot be written"),
        (("--to", "nowhere/acme.duckdb"), "cannot be written"),
        (("--to", "nowhere/acme"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(ghcrawl: Command, filled: Fill, words: tuple[str, ...], said: str) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    filled(documents=[ISSUE])
    ran = ghcrawl("tables", *words, "--db", "ghcrawl.db")
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_without_the_extra_one_line_says_what_to_install(
    ghcrawl: Command, filled: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(documents=[ISSUE])
    monkeypatch.setattr(choose, "find_spec", lambda _: None)
    ran = ghcrawl("tables", "--to", "acme.duckdb")
    assert ran.status == 2
    assert ran.err == "ghcrawl: duckdb needs duckdb and pyarrow; install with: pip install 'ghcrawl[tables]'\n"
    assert ghcrawl("tables", "--to", "acme.sqlite").status == 0


def test_links_name_what_is_linked(ghcrawl: Command, filled: Fill, to: Path) -> None:
    link = Link(type="resource", href="urn:repo:12:milestone:3")
    filled(documents=[replace(ISSUE, links={**ISSUE.links, "milestone": link})])
    ghcrawl("tables", "--to", to)
    assert rows(to, "SELECT milestone_urn FROM issues") == [("urn:repo:12:milestone:3",)]


def test_words_are_found_in_sqlite_and_found_no_more_once_they_are_gone(
    ghcrawl: Command, filled: Fill, tmp_path: Path
) -> None:
    to = tmp_path / "acme.sqlite"
    filled(documents=[ISSUE, an_issue(35, title="The queue drains")])
    ghcrawl("tables", "--to", to)
    find = "SELECT number FROM issues WHERE rowid IN (SELECT rowid FROM issues_fts WHERE issues_fts MATCH '{}')"
    assert rows(to, find.format("breaks")) == [(34,)]
    later = replace(an_issue(title="Mended"), observed_at=at(60), processed_at=at(60), changed_at="2026-11-22")
    filled(documents=[later])
    ghcrawl("tables", "--to", to)
    assert (rows(to, find.format("breaks")), rows(to, find.format("mended"))) == ([], [(34,)])


def test_datasette_is_told_what_there_is(ghcrawl: Command, filled: Fill, tmp_path: Path) -> None:
    filled(documents=[ISSUE])
    ghcrawl("tables", "--to", tmp_path / "acme.sqlite")
    told = json.loads((tmp_path / "acme.metadata.json").read_text())["databases"]["acme"]["tables"]
    columns = told["issues"].pop("columns")
    assert told["issues"] == {
        "label_column": "title",
        "fts_table": "issues_fts",
        "fts_pk": "rowid",
        "sort_desc": "created_at",
        "facets": ["state", "state_reason", "author_association"],
    }
    assert columns["reactions_total"] == "`reactions.total_count`"
    assert columns["_observed_at"] == "when the row was true"
    assert {name for name, facts in told.items() if not facts.get("hidden")} == {
        *("issues", "issue_labels", "issue_assignees", "accounts"),
        *(question.name for question in TABLES.questions),
    }
    filled(documents=[replace(REPO, processed_at=at(9))])
    ghcrawl("tables", "--to", tmp_path / "acme.sqlite")
    told = json.loads((tmp_path / "acme.metadata.json").read_text())["databases"]["acme"]["tables"]
    assert "hidden" not in told["repos"]


def test_metadata_that_a_person_changed_stays(ghcrawl: Command, filled: Fill, tmp_path: Path) -> None:
    beside = tmp_path / "acme.metadata.json"
    filled(documents=[ISSUE])
    ghcrawl("tables", "--to", "acme.sqlite")
    for mine in (beside.read_text().replace("acme, crawled by ghcrawl", "Our issues"), "title: not JSON"):
        beside.write_text(mine)
        said = ghcrawl("tables", "--to", "acme.sqlite", "--whole").err.splitlines()
        assert said[1:] == [
            "acme.metadata.json is not as ghcrawl wrote it, and stays as it is; delete it for a new one."
        ]
        assert beside.read_text() == mine
    beside.unlink()
    ghcrawl("tables", "--to", "acme.sqlite")
    assert "acme, crawled by ghcrawl" in beside.read_text()


def test_weeks_and_days_are_moments(ghcrawl: Command, filled: Fill, to: Path) -> None:
    weeks = a_document(
        type="code_frequency",
        urn="urn:repo:12:code_frequency",
        url=f"{API}/w",
        body={"elements": [[1781395200, 5, -2]]},
    )
    views = a_document(
        type="views", urn="urn:repo:12:views:2026-06-14", url=f"{API}/v", body={"count": 3, "uniques": 1, "views": []}
    )
    filled(documents=[weeks, views])
    ghcrawl("tables", "--to", to)
    day = "2026-06-14T00:00:00.000Z" if to.suffix == ".sqlite" else datetime(2026, 6, 14, tzinfo=UTC)
    assert rows(to, "SELECT week, additions FROM code_weeks") == [(day, 5)]
    assert rows(to, "SELECT day, count FROM views") == [(day, 3)]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URNs of documents that runs read."""
    found: list[str] = []
    see = Filling._see

    def seen(self: Filling, document: Document) -> None:
        found.append(document.urn)
        see(self, document)

    monkeypatch.setattr(Filling, "_see", seen)
    return found


def test_a_later_run_reads_only_what_was_processed_since(
    ghcrawl: Command, filled: Fill, tmp_path: Path, read: list[str]
) -> None:
    hour = 3600
    filled(documents=[replace(an_issue(n), processed_at=at(n * hour)) for n in range(5)])
    ghcrawl("tables", "--to", "acme.sqlite")
    assert len(read) == 5
    read.clear()
    gone = replace(an_issue(1), deleted_at=at(90 * hour), observed_at=at(90 * hour), processed_at=at(90 * hour))
    filled(documents=[gone])
    assert ghcrawl("tables", "--to", "acme.sqlite").err == "1 document written to acme.sqlite.\n"
    assert read == [gone.urn, "urn:repo:12:issue:4"]
    assert rows(tmp_path / "acme.sqlite", "SELECT number FROM issues WHERE _deleted_at IS NOT NULL") == [(1,)]


def test_a_run_with_dates_reads_its_selection_as_a_whole(
    ghcrawl: Command, filled: Fill, tmp_path: Path, read: list[str]
) -> None:
    filled(documents=[an_issue(1), an_issue(2)])
    for _ in range(2):
        read.clear()
        assert ghcrawl("tables", "--to", "acme.sqlite", "--since", "2026-11-01").err.startswith("2 documents")
        assert len(read) == 2


def test_what_an_owner_got_meanwhile_is_in_its_tables(ghcrawl: Command, filled: Fill, tmp_path: Path) -> None:
    org = a_document(type="org", urn="urn:org:9", url=f"{API}/orgs/acme", body={"id": 9, "login": "acme"})
    org = replace(org, links={"repos": Link(type="collection", href="urn:org:9:repos")})
    page = a_document(type="repos", urn="urn:org:9:repos:page:1", url=f"{API}/orgs/acme/repos", body={"elements": []})
    both = {"siblings": Link(type="collection", href="urn:org:9:repos")}
    repos = [replace(REPO, urn=f"urn:repo:{n}", url=f"{API}/repositories/{n}", links=both) for n in (12, 13)]
    hrefs = tuple(one.urn for one in repos)
    filled(documents=[org, repos[0], replace(page, links={"resources": Link(type="resource", hrefs=hrefs)})])
    ghcrawl("tables", "--to", "acme.sqlite", "--under", "urn:org:9")
    old = replace(repos[1], processed_at=at(-90_000), body={**repos[1].body, "id": 13})
    filled(documents=[old])
    ghcrawl("tables", "--to", "acme.sqlite", "--under", "urn:org:9")
    assert rows(tmp_path / "acme.sqlite", "SELECT urn FROM repos ORDER BY 1") == [("urn:repo:12",), ("urn:repo:13",)]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_leaves_the_old_tables_and_nothing_beside_them(
    ghcrawl: Command, filled: Fill, to: Path, number: signal.Signals, status: int
) -> None:
    filled(documents=[an_issue(1)])
    assert ghcrawl("tables", "--to", to).status == 0
    names = sorted(path.name for path in to.parent.iterdir())
    filled(documents=[replace(an_issue(n), processed_at=at(9)) for n in range(2, 30)])
    script = (
        "import signal, sys, ghcrawl.cli; from ghcrawl.tables.fill import Filling; see = Filling._see\n"
        "def slowly(self, document):\n"
        "    see(self, document)\n"
        f"    if self.filled.documents == 20: signal.raise_signal({int(number)})\n"
        "Filling._see = slowly\n"
        f"sys.exit(ghcrawl.cli.main(['tables', '--whole', '--to', {str(to)!r}, '--db', 'ghcrawl.db']))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (status, "")
    left = {path.name for path in to.parent.iterdir()} - {"ghcrawl.db-shm", "ghcrawl.db-wal"}  # of the crawl's file
    assert sorted(left) == names
    assert rows(to, "SELECT number FROM issues") == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("before", [False, True], ids=["new", "again"])
def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(
    ghcrawl: Command, filled: Fill, to: Path, before: bool
) -> None:
    if before:
        filled(documents=[an_issue(1)])
        assert ghcrawl("tables", "--to", to).status == 0
    names = sorted(path.name for path in to.parent.iterdir())
    letters = random.Random(7)
    said = ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=60_000)) for _ in range(40)]
    filled(documents=[replace(an_issue(2 + n, body=text), processed_at=at(9)) for n, text in enumerate(said)])
    command = (sys.executable, "-m", "ghcrawl", "tables", "--to", str(to), "--db", "ghcrawl.db")
    limited = ("/bin/sh", "-c", 'ulimit -f 1000; exec "$@"', "sh", *command)
    ran = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "cannot be written" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    journals = {f"{to.name}-journal", f"{to.name}.wal"}  # with which the next reader takes back what was begun
    assert {path.name for path in to.parent.iterdir()} - {*names, *journals, "ghcrawl.db"} == set()
    if before:
        assert rows(to, "SELECT number FROM issues") == [(1,)]


@pytest.mark.parametrize("words", [("tables", "--to"), ("tables", "ask", "time_to_merge", "--in")])
def test_a_duckdb_file_that_another_program_has_open_is_one_line(
    ghcrawl: Command, filled: Fill, tmp_path: Path, words: tuple[str, ...]
) -> None:
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    filled(documents=[ISSUE])
    to = tmp_path / "acme.duckdb"
    assert ghcrawl("tables", "--to", to).status == 0
    code = f"import duckdb; held = duckdb.connect({str(to)!r}); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        ran = ghcrawl(*words, to)
        other.communicate(b"\n")
    why = f"is open in another program (PID {other.pid}); close it there, then run the command again"
    assert (ran.status, ran.out, ran.err) == (2, "", f"ghcrawl: {to} {why}\n")
