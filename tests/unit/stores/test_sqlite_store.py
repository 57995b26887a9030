from __future__ import annotations

import asyncio
import json
import sqlite3
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter, Touch
from ghcrawl.values.errors import StoreError
from ghcrawl.values.requests import Context
from queues import codec
from stores.sqlite import documents as sqlite_store
from stores.sqlite.deadletters import SqliteDeadletters, listing
from stores.sqlite.documents import SqliteStore
from stores.sqlite.listing import listing as documents_listing
from tests.contracts.adapters import open_file
from tests.support.builders import NOW, a_deadletter, a_document, a_request, a_type, at


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    opened = await open_file(tmp_path / "crawl.db")
    yield opened
    await opened.close()


@pytest.fixture
def store(file: SqliteFile) -> SqliteStore:
    return SqliteStore(file)


@pytest.fixture
def deadletters(file: SqliteFile) -> SqliteDeadletters:
    return SqliteDeadletters(file, codec)


def tables_read(connection: sqlite3.Connection) -> set[str]:
    """The tables whose columns are read from now on."""
    read: set[str] = set()

    def note(action: int, table: str | None, *_: Any) -> int:
        if action == sqlite3.SQLITE_READ and table:
            read.add(table)
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    return read


async def test_whoever_reads_thousands_lets_others_have_their_turns(store: SqliteStore) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    others_task = asyncio.create_task(others())
    for _ in range(100):
        await store.get("urn:repo:12")
    others_task.cancel()
    assert turns >= 99


async def test_a_look_up_reads_no_body(file: SqliteFile, store: SqliteStore) -> None:
    await store.save(a_document())
    assert file._reader is not None
    read = tables_read(file._reader)
    assert await store.look_up(a_type("issue"), a_document().url) is not None
    assert read == {"documents", "urls"}


async def test_a_touch_writes_no_body(file: SqliteFile, store: SqliteStore) -> None:
    await store.save(a_document())
    read: list[set[str]] = []
    await file.submit(Work(lambda connection: read.append(tables_read(connection))))
    await store.touch(Touch(urn=a_document().urn, type_name=a_type("issue"), policy="p", visited_at=NOW))
    await store.save(a_document(observed_at=at(1)))
    assert "bodies" not in read[0]


async def test_any_client_can_query_what_is_saved(file: SqliteFile, store: SqliteStore) -> None:
    await store.save(a_document(changed_at="2026-11-21T11:00:00Z"))
    await store.save(a_document(2, deleted_at=at(1), observed_at=at(1)))
    with sqlite3.connect(file.path) as client:
        sql = "SELECT urn, type, changed_at, deleted_at IS NOT NULL FROM saved_documents ORDER BY urn"
        assert client.execute(sql).fetchall() == [
            ("urn:repo:12:issue:1", "issue", "2026-11-21T11:00:00Z", 0),
            ("urn:repo:12:issue:2", "issue", "", 1),
        ]
    client.close()


async def test_bodies_take_less_than_half_of_their_json(file: SqliteFile, store: SqliteStore) -> None:
    user = {
        f"{name}_url": f"https://api.example.test/users/ada/{name}" for name in ("repos", "gists", "events", "orgs")
    }
    document = a_document(title="naïve 😀", body={"user": user, "assignee": user, "text": "It breaks. " * 80})
    await store.save(document)
    ((size,),) = file.rows("SELECT length(body) FROM bodies", (), StoreError)
    assert size * 2 < len(json.dumps(document.body))
    assert (await store.get(document.urn)) == document


async def test_a_short_body_that_an_older_version_deflated_is_read(file: SqliteFile, store: SqliteStore) -> None:
    document = a_document(title="naïve 😀")
    await store.save(document)
    (written,) = file.rows("SELECT meta, body FROM bodies", (), StoreError)
    older = [zlib.compress(text.encode()) for text in written]
    update = Work(lambda connection: connection.execute("UPDATE bodies SET meta = ?, body = ?", older).rowcount)
    assert await file.write(update, StoreError) == 1
    assert await store.get(document.urn) == document
    changed = a_document(title="later", observed_at=at(1))
    await store.save(changed)
    assert await store.get(document.urn) == changed


async def test_a_list_holds_a_page_at_a_time(
    store: SqliteStore, file: SqliteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "LISTED_AT_ONCE", 3)
    for number in range(10):
        await store.save(a_document(number))
    pages: list[int] = []
    scan = file.scan

    async def counted(*args: Any) -> Any:
        rows = await scan(*args)
        pages.append(len(rows))
        return rows

    monkeypatch.setattr(file, "scan", counted)
    assert len([document async for document in store.list(DocumentFilter())]) == 10
    assert pages == [3, 3, 3, 1, 0]


async def plan(file: SqliteFile, sql: str, parameters: Sequence[Any] | None = None) -> str:
    marks = (None,) * sql.count("?") if parameters is None else parameters
    return "; ".join(row[3] for row in await file.scan(f"EXPLAIN QUERY PLAN {sql}", marks, StoreError))


@pytest.mark.parametrize("name", ["_HELD", "_TOUCHED", "_OLDER", "_LOOK_UP", "_FIND", "_GET"])
async def test_no_query_reads_a_whole_table(file: SqliteFile, name: str) -> None:
    steps = await plan(file, getattr(sqlite_store, name))
    assert "SEARCH" in steps
    assert "SCAN" not in steps
    assert "documents_by_type" not in steps, "that is every document of a type"


@pytest.mark.parametrize(
    "which",
    [
        DocumentFilter(),
        DocumentFilter(platforms=("github",)),
        DocumentFilter(types=(a_type("issue"),)),
        DocumentFilter(types=tuple(a_type(str(n)) for n in range(20)), processed_since=NOW, since=NOW, deleted=True),
    ],
    ids=["all", "platform", "type", "types"],
)
async def test_no_listing_reads_a_whole_table_or_sorts_in_memory(file: SqliteFile, which: DocumentFilter) -> None:
    ((sql, parameters),) = documents_listing(which, "", b"\xff")
    steps = await plan(file, sql, (*parameters, 10))
    assert "SEARCH documents USING INDEX" in steps
    assert "SCAN documents" not in steps
    assert "TEMP B-TREE" not in steps


async def test_what_was_processed_since_is_found_by_its_index(file: SqliteFile) -> None:
    steps = await plan(file, sqlite_store._COUNT_RECENT)
    assert "COVERING INDEX documents_by_processing" in steps
    steps = await plan(file, sqlite_store._RECENT.format("urn > ''"))
    assert "SEARCH documents USING INDEX documents_by_processing" in steps


async def test_much_that_was_processed_since_is_read_page_by_page(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        await store.save(a_document(number, processed_at=at(number)))
    for few in (10, 3):
        monkeypatch.setattr(sqlite_store, "FEW_PROCESSED", few)
        found = [one.urn async for one in store.list(DocumentFilter(processed_since=at(4)))]
        assert found == [f"urn:repo:12:issue:{n}" for n in range(4, 10)]


async def test_counting_reads_an_index_only(file: SqliteFile) -> None:
    assert "COVERING INDEX" in await plan(file, sqlite_store._COUNTS)


@pytest.mark.parametrize(
    ("which", "index"),
    [
        (DeadletterFilter(), "deadletters_by_age"),
        (DeadletterFilter(before=NOW), "deadletters_by_age"),
        (DeadletterFilter(types=(a_type("issue"),)), "deadletters_by_type"),
        (DeadletterFilter(kinds=("http_503",)), "deadletters_by_kind"),
    ],
)
async def test_deadletters_are_found_by_an_index(file: SqliteFile, which: DeadletterFilter, index: str) -> None:
    steps = await plan(file, *listing(which, limit=10))
    assert index in steps
    assert "TEMP B-TREE" not in steps


async def test_a_deadletter_that_only_a_newer_version_can_read_is_shown_and_kept(
    file: SqliteFile, deadletters: SqliteDeadletters
) -> None:
    await deadletters.bury(a_deadletter(request=a_request(context=Context(scope="acme"))))
    newer = "UPDATE deadletters SET request = CAST('{\"v\":2}' AS BLOB)"
    await file.submit(Work(lambda connection: connection.execute(newer).rowcount))
    (letter,) = await deadletters.list(DeadletterFilter(), limit=9)
    assert (letter.request.type, letter.raw, letter.reason) == ("issue", b'{"v":2}', "Service Unavailable")


@pytest.mark.slow
async def test_ten_thousand_deadletters_are_listed_filtered_and_counted_in_no_time(
    file: SqliteFile, deadletters: SqliteDeadletters
) -> None:
    await deadletters.bury(a_deadletter(0))
    copies = """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 9999)
        INSERT INTO deadletters
        SELECT urn || n, platform, type, 'kind ' || (n % 7), host, queue, reason, reason_folded, first_at,
            printf('2026-11-21T12:%02d:%02d.000000+00:00', n / 60 % 60, n % 60), failures, traceback, request, raw
        FROM deadletters, number"""
    await file.submit(Work(lambda connection: connection.execute(copies).rowcount))
    began = time.perf_counter()
    counts = await deadletters.count(DeadletterFilter())
    assert (counts.total, counts.by_kind["kind 3"]) == (10_000, 1429)
    assert (await deadletters.count(DeadletterFilter(reason="UNAVAILABLE", host="api.example.test"))).total == 10_000
    first = await deadletters.list(DeadletterFilter(kinds=("kind 3",)), limit=50)
    await deadletters.list(DeadletterFilter(kinds=("kind 3",)), limit=50, after=first[-1].urn)
    await deadletters.list(DeadletterFilter(reason="nowhere to be found"), limit=50)
    assert time.perf_counter() - began < 1.0
