"""A SQLite file with one table, as the tests of the file itself use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.values.errors import StoreError

SCHEMA = ("CREATE TABLE t (n INTEGER PRIMARY KEY, body BLOB)",)


@asynccontextmanager
async def opened(path: Path, **over: Any) -> AsyncIterator[SqliteFile]:
    file = await SqliteFile.open(path, **({"schema": SCHEMA, "synchronous": "OFF"} | over))
    try:
        yield file
    finally:
        await file.close()


def inserting(number: int, size: int = 0) -> Work[int]:
    sql = "INSERT INTO t (n, body) VALUES (?, zeroblob(?))"
    return Work(lambda connection: connection.execute(sql, (number, size)).rowcount)


def numbers(file: SqliteFile) -> list[int]:
    return [row[0] for row in file.rows("SELECT n FROM t ORDER BY n", (), StoreError)]
