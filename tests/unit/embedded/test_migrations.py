"""An older file becomes one of today's schema, in one step, and by one process."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.backend import MIGRATIONS, SCHEMA
from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.schema import APPLICATION_ID
from ghcrawl.values.errors import ConfigError

SCHEMA_1 = (
    """CREATE TABLE documents (id INTEGER PRIMARY KEY, urn TEXT NOT NULL UNIQUE, type TEXT NOT NULL, url TEXT NOT NULL,
        precedence TEXT NOT NULL, digest TEXT NOT NULL, version INTEGER NOT NULL, observed_at TEXT NOT NULL,
        checked_at TEXT NOT NULL, processed_at TEXT NOT NULL, deleted_at TEXT, validator TEXT, visits TEXT,
        link_header TEXT, aliases TEXT)""",
    "CREATE INDEX documents_by_type ON documents (type, urn, deleted_at)",
    "CREATE TABLE bodies (id INTEGER PRIMARY KEY, meta TEXT NOT NULL, body TEXT NOT NULL)",
    "CREATE VIEW whole_documents AS SELECT urn, type, meta, body, id FROM documents JOIN bodies USING (id)",
    """CREATE TABLE deadletters (urn TEXT PRIMARY KEY, type TEXT NOT NULL, kind TEXT NOT NULL, host TEXT NOT NULL,
        queue TEXT NOT NULL, reason TEXT NOT NULL, reason_folded TEXT NOT NULL, first_at TEXT NOT NULL,
        last_at TEXT NOT NULL, failures TEXT NOT NULL, traceback TEXT NOT NULL, request BLOB NOT NULL, raw BLOB)""",
    "CREATE INDEX deadletters_by_type ON deadletters (type, last_at, urn)",
    f"PRAGMA application_id={APPLICATION_ID}",
    "PRAGMA user_version=1",
)
"""What documents and deadletters lay in before types were told apart by platform."""

STORES = MIGRATIONS[1:]
"""All but the one of the queue, whose tables are not in SCHEMA_1."""


async def open_file(path: Path) -> SqliteFile:
    return await SqliteFile.open(path, schema=SCHEMA, migrations=STORES, synchronous="OFF")


def older(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        for statement in SCHEMA_1:
            connection.execute(statement)
    connection.close()


def read(path: Path, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql, parameters).fetchall()
    finally:
        connection.close()


def columns(path: Path, table: str) -> set[tuple[Any, ...]]:
    """Name, type and whether it may be empty: an added column has a default besides, and stands last."""
    return {(name, type, required) for _, name, type, required, _, _ in read(path, f"PRAGMA table_info({table})")}


async def test_an_older_file_becomes_what_a_new_one_is(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    older(old)
    for path in (old, new):
        await (await open_file(path)).close()
        assert read(path, "PRAGMA user_version") == [(len(STORES) + 1,)]
    for table in ("documents", "deadletters", "whole_documents", "saved_documents", "markers", "starts", "receipts"):
        assert columns(old, table) == columns(new, table)
    names = "SELECT name, tbl_name FROM sqlite_schema WHERE sql LIKE '%INDEX%by_type%' ORDER BY name"
    assert read(old, names) == read(new, names)
    for index in ("documents_by_type", "deadletters_by_type"):
        order = "SELECT name FROM pragma_index_info(?)"
        assert read(old, order, (index,)) == read(new, order, (index,))


async def test_a_file_that_is_being_crawled_is_not_changed_under_its_crawler(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    older(path)
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(ConfigError, match="is being crawled by another process"):
        await open_file(path)
    os.close(lock)
    assert read(path, "PRAGMA user_version") == [(1,)]
    await (await open_file(path)).close()


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    older(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX deadletters_by_type")
    connection.close()
    with pytest.raises(Exception, match="deadletters_by_type"):
        await open_file(path)
    assert read(path, "PRAGMA user_version") == [(1,)]
    assert "platform" not in {name for name, _, _ in columns(path, "documents")}


async def test_an_older_file_that_is_read_only_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.db"
    older(path)
    monkeypatch.setattr("ghcrawl.embedded.file._writable", lambda _path: False)
    with pytest.raises(ConfigError, match="older ghcrawl and cannot be written here"):
        await SqliteFile.open(path, schema=SCHEMA, migrations=STORES)
