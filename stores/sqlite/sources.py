"""Sources in the SQLite file, beside queue and store."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.values.errors import StoreError
from ghcrawl.values.source import WatchedSource
from stores.sources import pack, read_at, unpack

SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS sources (
        key TEXT PRIMARY KEY, platform TEXT NOT NULL, due REAL NOT NULL, read REAL NOT NULL, version INTEGER NOT NULL,
        data BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS sources_by_due ON sources (platform, due)",
    "CREATE INDEX IF NOT EXISTS sources_by_read ON sources (platform, read)",
)
"""Created on first use: a file of an older version lacks it."""
_ROW: Final = "SELECT key, platform, due, read, version, data FROM sources "
_ADD: Final = "INSERT OR IGNORE INTO sources (key, platform, due, read, version, data) VALUES (?, ?, ?, ?, ?, ?)"
_WRITE: Final = "UPDATE sources SET due = ?, read = ?, version = version + 1, data = ? WHERE key = ? AND version = ?"
_REMOVE: Final = "DELETE FROM sources WHERE key = ?"
_GET: Final = _ROW + "WHERE key = ?"
DUE: Final = _ROW + "WHERE platform = ? ORDER BY due LIMIT ?"
OLDEST: Final = _ROW + "WHERE platform = ? AND read >= 0 AND read < ? ORDER BY read LIMIT ?"
LIST: Final = _ROW + "WHERE key > ? AND (? IN ('', platform)) ORDER BY key LIMIT ?"
_MADE: Final = "SELECT 1 FROM sqlite_master WHERE name = 'sources_by_read'"
COUNT: Final = "SELECT count(*) FROM sources WHERE platform = ?"


class SqliteSources:
    """The sources in `file`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._made = False

    async def add(self, sources: Sequence[WatchedSource]) -> int:
        """As the port says."""
        rows = [(each.key, each.platform, each.due, read_at(each), each.version, pack(each)) for each in sources]
        return await self._change(_ADD, rows)

    async def write(self, sources: Sequence[WatchedSource]) -> frozenset[str]:
        """As the port says."""
        rows = [(each.due, read_at(each), pack(each), each.key, each.version) for each in sources]

        def run(connection: sqlite3.Connection) -> frozenset[str]:
            _prepare(connection)
            return frozenset(row[3] for row in rows if connection.execute(_WRITE, row).rowcount)

        return await self._file.write(Work(run), StoreError)

    async def remove(self, keys: Collection[str]) -> int:
        """As the port says."""
        return await self._change(_REMOVE, [(key,) for key in set(keys)])

    async def get(self, key: str) -> WatchedSource | None:
        """As the port says."""
        return next(iter(await self._read(_GET, key)), None)

    async def due(self, platform: str, limit: int) -> Sequence[WatchedSource]:
        """As the port says."""
        return await self._read(DUE, platform, limit)

    async def oldest(self, platform: str, limit: int, *, before: float) -> Sequence[WatchedSource]:
        """As the port says."""
        return await self._read(OLDEST, platform, before, limit)

    async def list(self, platform: str = "", *, limit: int, after: str = "") -> Sequence[WatchedSource]:
        """As the port says."""
        return await self._read(LIST, after, platform, limit)

    async def count(self, platform: str) -> int:
        """As the port says."""
        return int((await self._rows(COUNT, platform))[0][0]) if self._there() else 0

    async def _read(self, sql: str, *values: Any) -> Sequence[WatchedSource]:
        return [unpack(*row) for row in await self._rows(sql, *values)] if self._there() else []

    async def _rows(self, sql: str, *values: Any) -> Sequence[Any]:
        return await self._file.scan(sql, values, StoreError)

    def _there(self) -> bool:
        self._made = self._made or bool(self._file.rows(_MADE, (), StoreError))
        return self._made

    async def _change(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> int:
        def run(connection: sqlite3.Connection) -> int:
            _prepare(connection)
            return sum(connection.execute(sql, row).rowcount for row in rows)

        return await self._file.write(Work(run), StoreError)


def _prepare(connection: sqlite3.Connection) -> None:
    for statement in SCHEMA:
        connection.execute(statement)
