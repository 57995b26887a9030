"""Dedup markers and crash counts in the SQLite file, for processes of one machine and one broker."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.errors import StoreError
from ghcrawl.values.jsontext import dumps
from ghcrawl.values.lanes import Lane
from ghcrawl.values.times import from_micros, micros

SCHEMA: Final = (
    """CREATE TABLE tags (
        key TEXT PRIMARY KEY, token TEXT NOT NULL, queued INTEGER NOT NULL, queue TEXT NOT NULL,
        asked_at INTEGER, not_before INTEGER, at INTEGER NOT NULL, platform TEXT NOT NULL, body BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX tags_delayed ON tags (not_before) WHERE not_before IS NOT NULL",
    "CREATE INDEX tags_queued ON tags (queued) WHERE queued = 1",
    "CREATE TABLE starts (message TEXT PRIMARY KEY, begun INTEGER NOT NULL, at INTEGER NOT NULL)",
)
MIGRATION: Final = ("DROP TABLE IF EXISTS tags", "DROP TABLE IF EXISTS starts", *SCHEMA)
"""Replaces the tables of older files, created on demand. A request without its marker may be queued twice."""

_MARKER: Final = "key, token, queued, queue, asked_at, not_before, at, platform"
_FIND: Final = f"SELECT {_MARKER} FROM tags WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608  # constants of ours
_WRITTEN: Final = f"""
    SELECT {_MARKER}, body FROM tags
    WHERE key > ?1 AND at < ?2 AND (?3 IS NULL AND not_before IS NOT NULL OR platform = ?3 AND queue = ?4)
    ORDER BY key LIMIT 100"""  # noqa: S608
_INSERT: Final = f"INSERT OR IGNORE INTO tags ({_MARKER}, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_REPLACE: Final = """
    UPDATE tags SET token = ?, queued = ?, queue = ?, asked_at = ?, not_before = ?, at = ?, platform = ?, body = ?
    WHERE key = ? AND token = ?"""
_CONFIRM: Final = "UPDATE tags SET queued = 1 WHERE key = ? AND token = ?"
_DELETE: Final = "DELETE FROM tags WHERE key = ? AND token = ?"
_ANY: Final = "SELECT EXISTS (SELECT 1 FROM tags WHERE queued = 1)"
_ANY_OF: Final = """
    SELECT EXISTS (SELECT 1 FROM tags WHERE queued = 1 AND platform IN (SELECT value FROM json_each(?)))"""
_DELAYED: Final = "SELECT platform, queue, COUNT(*) FROM tags WHERE not_before > ? GROUP BY platform, queue"
_CLEAR: Final = "DELETE FROM tags WHERE platform = ? AND queue = ?"
_SWEEP: Final = "DELETE FROM tags WHERE at < ?"
_COUNT: Final = "SELECT begun FROM starts WHERE message = ?"
_ADD: Final = """
    INSERT INTO starts VALUES (?, 1, ?)
    ON CONFLICT (message) DO UPDATE SET begun = begun + 1, at = MAX(at, excluded.at) RETURNING begun"""
_FORGET: Final = "DELETE FROM starts WHERE message = ?"
_SWEEP_STARTS: Final = "DELETE FROM starts WHERE at < ?"


class SqliteDedupMarkers:
    """As `ghcrawl.ports.dedup.DedupMarkers` says. Every change is a transaction."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def find(self, keys: Sequence[str]) -> Mapping[str, DedupMarker]:
        """As the port says."""
        texts = ",".join(f'"{key}"' for key in keys)  # hex digits
        return {row[0]: _marker(row) for row in self._file.rows(_FIND, (f"[{texts}]",), StoreError)}

    async def insert(self, markers: Sequence[DedupMarker]) -> frozenset[str]:
        """As the port says, in one transaction."""
        rows = [_row(marker) for marker in markers]

        def run(connection: sqlite3.Connection) -> frozenset[str]:
            return frozenset([row[0] for row in rows if not connection.execute(_INSERT, row).rowcount])

        return await self._file.write(Work(run), StoreError)

    async def replace(self, pairs: Sequence[tuple[DedupMarker, DedupMarker]]) -> None:
        """As the port says, in one transaction."""
        await self._many(_REPLACE, [(*_row(new)[1:], old.key, old.token) for old, new in pairs])

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        """As the port says, in one transaction."""
        await self._many(_CONFIRM, [(key, token) for key in keys])

    async def delete(self, key: str, token: str) -> bool:
        """As the port says."""
        return await self._file.write(_counting(_DELETE, (key, token)), StoreError) > 0

    async def any_queued(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says."""
        sql, parameters = (_ANY, ()) if platforms is None else (_ANY_OF, (dumps(list(platforms)).decode(),))
        return bool(self._file.rows(sql, parameters, StoreError)[0][0])

    async def delayed(self, now: datetime) -> Mapping[Lane, int]:
        """As the port says."""
        found = self._file.rows(_DELAYED, (micros(now),), StoreError)
        return {Lane(platform, queue): number for platform, queue, number in found}

    async def written(self, before: datetime, lane: Lane | None = None) -> AsyncIterator[DedupMarker]:
        """As the port says."""
        last = ""
        while rows := await self._file.scan(_WRITTEN, (last, micros(before), *(lane or (None, None))), StoreError):
            last = rows[-1][0]
            for row in rows:
                yield _marker(row)

    async def clear(self, lane: Lane) -> int:
        """As the port says."""
        return await self._file.write(_counting(_CLEAR, lane), StoreError)

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return await self._file.write(_counting(_SWEEP, (micros(before),)), StoreError)

    async def _many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        def run(connection: sqlite3.Connection) -> None:
            connection.executemany(sql, rows)

        await self._file.write(Work(run), StoreError)


class SqliteCrashCounter:
    """As `ghcrawl.ports.dedup.CrashCounter` says."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def count(self, message: str) -> int:
        """As the port says."""
        found = self._file.rows(_COUNT, (message,), StoreError)
        return int(found[0][0]) if found else 0

    async def add(self, message: str, at: datetime) -> int:
        """As the port says."""
        row = (message, micros(at))

        def run(connection: sqlite3.Connection) -> int:
            return int(connection.execute(_ADD, row).fetchall()[0][0])

        return await self._file.write(Work(run), StoreError)

    async def forget(self, message: str) -> None:
        """As the port says."""
        await self._file.write(_counting(_FORGET, (message,)), StoreError)

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return await self._file.write(_counting(_SWEEP_STARTS, (micros(before),)), StoreError)


def _counting(sql: str, parameters: tuple[Any, ...]) -> Work[int]:
    return Work(lambda connection: connection.execute(sql, parameters).rowcount)


def _row(marker: DedupMarker) -> tuple[Any, ...]:
    asked_at = None if marker.asked_at is None else micros(marker.asked_at)
    not_before = None if marker.not_before is None else micros(marker.not_before)
    return (
        marker.key,
        marker.token,
        marker.queued,
        marker.queue,
        asked_at,
        not_before,
        micros(marker.at),
        marker.platform,
        marker.body,
    )


def _marker(row: Sequence[Any]) -> DedupMarker:
    key, token, queued, queue, asked_at, not_before, at, platform, *body = row
    return DedupMarker(
        key=key,
        token=token,
        queued=bool(queued),
        platform=platform,
        queue=queue,
        asked_at=None if asked_at is None else from_micros(asked_at),
        not_before=None if not_before is None else from_micros(not_before),
        at=from_micros(at),
        body=body[0] if body else b"",
    )
