"""One run after another into each kind of target: what is written, kept, and refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.platforms.tables import Schema
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.tables.asking import opened
from ghcrawl.tables.choose import format_of, target
from ghcrawl.tables.fill import Filling
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import digest
from ghcrawl.values.type_names import TypeName
from processors.github.tables import TABLES
from stores.memory import MemoryStore
from tests.support.builders import NOW, a_document

pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
TARGETS = ("acme.sqlite", "acme.duckdb", "parquet", "csv-acme")
STARTED = NOW + timedelta(hours=1)


def an_issue(number: int, title: str, *, minutes: float = 0.0, user: Mapping[str, Any] | None = None) -> Document:
    """Seen and processed that many minutes after NOW."""
    urn, at = f"urn:repo:12:issue:{number}", NOW + timedelta(minutes=minutes)
    body = {"id": number, "number": number, "title": title, **({"user": user} if user else {})}
    document = a_document(number, type="issue", url=f"https://api.test/repos/acme/web/issues/{number}", body=body)
    seen = {"observed_at": at, "processed_at": at, "changed_at": at.isoformat()}
    return replace(document, urn=urn, digest=digest(body), **seen)  # type: ignore[arg-type]


def a_user(login: str) -> Mapping[str, Any]:
    return {"id": 5, "login": login, "type": "User", "html_url": f"https://github.test/{login}"}


async def these(*documents: Document) -> AsyncIterator[Document]:
    for document in documents:
        yield document


async def run(
    where: Path, documents: AsyncIterator[Document] | None = None, *, store: MemoryStore | None = None, late: float = 0
) -> int:
    """A run into `where`, started an hour and `late` minutes after NOW. Returns how many documents it wrote."""
    into = target(where, format_of(where), TABLES)
    before = into.state()
    started = STARTED + timedelta(minutes=late)
    filling = Filling(into, TABLES, before, bodies=False, started_at=started)

    def behind(type: TypeName, urn: str) -> AsyncIterator[Document]:
        assert store is not None
        return store.list(DocumentFilter(types=(type,), scope=urn))

    if documents is None:
        assert store is not None
        documents = store.list(DocumentFilter(processed_since=filling.since))
    try:
        into.begin(whole=before is None)
        await filling.take(documents, lambda _: None, behind)
        into.commit(filling.state("here", {}))
    finally:
        into.abandon()
    return filling.filled.documents


def rows(where: Path, table: str, *columns: str) -> list[tuple[str, ...]]:
    if where.name.startswith("csv"):
        lines = [line.split(",") for line in (where / f"{table}.csv").read_text().splitlines()]
        places = [lines[0].index(column) for column in columns]
        return sorted(tuple(line[place].strip('"') for place in places) for line in lines[1:])
    with opened(where, TABLES) as tables:
        found = tables.run(f"SELECT {', '.join(columns)} FROM {table}", 0).rows
    return sorted(tuple(map(str, row)) for row in found)


@pytest.fixture(params=TARGETS)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


async def test_a_document_that_changes_behind_a_run_that_takes_long_is_read_by_the_next(where: Path) -> None:
    store = MemoryStore()
    for number in (1, 2):
        await store.save(an_issue(number, "old"))

    async def while_it_reads() -> AsyncIterator[Document]:
        yield an_issue(1, "old")
        await store.save(an_issue(1, "new", minutes=61))  # passed already
        await store.save(an_issue(2, "new", minutes=75))
        yield an_issue(2, "new", minutes=75)

    await run(where, while_it_reads())
    assert rows(where, "issues", "number", "title") == [("1", "old"), ("2", "new")]
    await run(where, store=store, late=20)
    assert rows(where, "issues", "number", "title") == [("1", "new"), ("2", "new")]
    assert await run(where, store=store, late=21) == 0


async def test_an_account_keeps_its_newest_name(where: Path) -> None:
    await run(where, these(an_issue(1, "a", minutes=30, user=a_user("new-name"))))
    await run(where, these(an_issue(2, "b", minutes=-500, user=a_user("old-name"))))
    assert rows(where, "accounts", "id", "login") == [("5", "new-name")]
    await run(where, these(an_issue(3, "c", minutes=40, user=a_user("newest-name"))))
    assert rows(where, "accounts", "id", "login") == [("5", "newest-name")]
    assert len(rows(where, "issues", "number")) == 3


async def test_documents_without_a_digest_are_told_apart_by_their_moments(where: Path) -> None:
    tied = replace(an_issue(1, "one", minutes=59), digest="")
    await run(where, these(tied))
    assert await run(where, these(tied)) == 0
    assert await run(where, these(replace(an_issue(1, "other", minutes=59.5), digest=""))) == 1
    assert rows(where, "issues", "title") == [("other",)]


def members(at: float, number: int, *logins: str) -> Document:
    """A page of a generation that was begun that many minutes after NOW."""
    moment = NOW + timedelta(minutes=at)
    whole = f"urn:org:9:members:pages:{moment:%Y%m%dT%H%M%S}000Z"
    body = {"elements": [{"id": len(login), "login": login} for login in logins]}
    return a_document(
        type="members",
        urn=f"{whole}:page:{number}",
        url=f"https://api.test/orgs/acme/members?page={number}&at={at}",
        body=body,
        digest=digest(body),
        links={"origin": Link(type="resource", href="urn:org:9")},
        observed_at=moment,
        processed_at=moment,
    )


async def test_a_relation_has_the_rows_of_its_complete_generation(where: Path) -> None:
    store, table = MemoryStore(), ("org_members", "org_urn", "user_login")
    for page in (members(0, 1, "a", "bb"), members(0, 2, "ccc"), members(1, 1, "bb", "dddd")):
        await store.save(page)
    await run(where, store=store)
    assert rows(where, *table) == [("urn:org:9", "a"), ("urn:org:9", "bb"), ("urn:org:9", "ccc")]
    await store.save(members(75, 2, "eeeee"), supersede="")
    await run(where, store=store, late=20)
    assert [login for _, login in rows(where, *table)] == ["a", "bb", "ccc"]
    last = replace(members(1, 2, "eeeee"), processed_at=NOW + timedelta(minutes=90))
    await store.save(last, supersede="urn:org:9:members:pages:")
    await run(where, store=store, late=40)
    assert [login for _, login in rows(where, *table)] == ["bb", "dddd", "eeeee"]
    assert [position for (position,) in rows(where, "org_members", "position")] == ["0", "1", "1000"]
    assert {login for (login,) in rows(where, "accounts", "login")} == {"a", "bb", "ccc", "dddd", "eeeee"}


async def test_a_list_that_was_asked_for_with_a_filter_is_no_relation(where: Path) -> None:
    page = replace(members(0, 1, "a"), urn="urn:org:9:members:pages:0a1b2c3d4e5f:page:1")
    store = MemoryStore()
    await store.save(page)
    assert await run(where, store=store) == 0
    assert rows(where, "org_members", "user_login") == []


async def test_a_list_of_nobody_has_no_rows(where: Path) -> None:
    await run(where, these(replace(members(0, 1, "a"), links={})))
    assert rows(where, "org_members", "user_login") == []


async def test_two_runs_at_once_do_not_share_a_target(where: Path) -> None:
    first, second = (target(where, format_of(where), TABLES) for _ in range(2))
    first.begin(whole=True)
    with pytest.raises(ConfigError, match=r"another process is writing .*; run the command again later"):
        second.begin(whole=True)
    second.abandon()
    filling = Filling(first, TABLES, None, bodies=False, started_at=STARTED)
    await filling.take(these(an_issue(1, "whole")), lambda _: None, lambda _type, _urn: these())
    first.commit(filling.state("here", {}))
    first.abandon()
    assert rows(where, "issues", "title") == [("whole",)]
    await run(where, these(an_issue(2, "later")))
    beside = {path.name for path in where.parent.iterdir()} - {where.name, f"{where.stem}.metadata.json"}
    assert beside == set()


async def test_what_a_killed_run_left_is_cleared_away(where: Path) -> None:
    left = where.with_name(f"{where.name}.partial")
    if where.suffix:
        left.write_text("half a file")
    else:
        left.mkdir()
        (left / "issues.csv").write_text("half a file")
    await run(where, these(an_issue(1, "whole")))
    assert rows(where, "issues", "title") == [("whole",)]
    assert not left.exists()


async def test_a_run_that_fails_leaves_the_tables_as_they_were(where: Path) -> None:
    await run(where, these(an_issue(1, "old")))

    async def fails() -> AsyncIterator[Document]:
        yield an_issue(1, "new", minutes=50)
        raise ConfigError("the store is gone")

    with pytest.raises(ConfigError, match="the store is gone"):
        await run(where, fails())
    assert rows(where, "issues", "title") == [("old",)]


@pytest.mark.parametrize("name", [".", "/", ""])
def test_a_place_without_a_name_is_no_target(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("")
    with pytest.raises(ConfigError, match=r"name a file, or a folder of its own|name another target"):
        target(Path(name).resolve(), format_of(Path(name)), TABLES).state()


def test_a_name_that_means_no_format_is_told_which_do() -> None:
    with pytest.raises(ConfigError, match="starts with csv- for CSV"):
        format_of(Path("acme.csv"))


def test_a_newer_schema_is_refused_and_an_older_one_is_read(tmp_path: Path) -> None:
    newer = Schema(version=TABLES.version + 1, tables=TABLES.tables)
    into = target(tmp_path / "acme.sqlite", "sqlite", newer)
    into.begin(whole=True)
    filling = Filling(into, newer, None, bodies=False, started_at=STARTED)
    into.commit(filling.state("here", {}))
    into.abandon()
    with pytest.raises(ConfigError, match="was written by a newer ghcrawl"):
        target(tmp_path / "acme.sqlite", "sqlite", TABLES).state()
    assert TypeName("github", "issue") in newer.by_kind
