"""Deadletters in the SQLite file, beside queue and store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from ghcrawl.embedded.file import Row, SqliteFile, restored, storable
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import DecodeError, StoreError
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.requests import unreadable
from ghcrawl.values.times import moment, time_text
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores.deadletters import RequestCodec, failure_from, host_of
from stores.jsontext import from_text, to_text

__all__ = ["MIGRATION", "SCHEMA", "SqliteDeadletters"]

SCHEMA: Final = (
    """CREATE TABLE deadletters (
        urn TEXT PRIMARY KEY,
        platform TEXT NOT NULL,
        type TEXT NOT NULL,
        kind TEXT NOT NULL,
        host TEXT NOT NULL,
        queue TEXT NOT NULL,
        reason TEXT NOT NULL,
        reason_folded TEXT NOT NULL,
        first_at TEXT NOT NULL,
        last_at TEXT NOT NULL,
        failures TEXT NOT NULL,
        traceback TEXT NOT NULL,
        request BLOB NOT NULL,
        raw BLOB
    )""",
    "CREATE INDEX deadletters_by_age ON deadletters (last_at, urn)",
    "CREATE INDEX deadletters_by_type ON deadletters (platform, type, last_at, urn)",
    "CREATE INDEX deadletters_by_kind ON deadletters (kind, last_at, urn)",
)

MIGRATION: Final = (
    f"ALTER TABLE deadletters ADD COLUMN platform TEXT NOT NULL DEFAULT '{LEGACY_PLATFORM}'",
    "DROP INDEX deadletters_by_type",
    SCHEMA[2],
)
"""Adds the platform to older files, in which deadletters had only a type."""

_BURY: Final = """
    INSERT INTO deadletters (urn, platform, type, kind, host, queue, reason, reason_folded, first_at, last_at, failures,
        traceback, request, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_SELECT: Final = """
    SELECT urn, platform, type, queue, kind, reason, first_at, last_at, failures, traceback, request, raw
    FROM deadletters"""
_COUNT: Final = "SELECT platform, type, kind, COUNT(*) FROM deadletters"
_BEHIND: Final = "(last_at, urn) < (SELECT last_at, urn FROM deadletters WHERE urn = ?)"
_NEWEST_FIRST: Final = "ORDER BY last_at DESC, urn DESC LIMIT ?"


class SqliteDeadletters:
    """The deadletters in `file`. codec: encodes requests as the queue does."""

    def __init__(self, file: SqliteFile, codec: RequestCodec) -> None:
        self._file = file
        self._codec = codec

    async def bury(self, deadletter: Deadletter) -> None:
        """As the port says."""
        await self._file.write(self.burying(deadletter), StoreError)

    def burying(self, deadletter: Deadletter) -> Work[None]:
        """Bury, as part of a larger transaction. Raises Unstorable for a payload that is not JSON."""
        row = self._row(deadletter)

        def run(connection: sqlite3.Connection) -> None:
            connection.execute(_BURY, row)

        return Work(run)

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """As the port says. If `after` was deleted meanwhile, starts with the newest again."""
        behind = after if after and await self.get(after) is not None else ""
        sql, parameters = listing(which, limit, behind)
        rows = await self._file.scan(sql, parameters, StoreError)
        return [self._deadletter(row) for row in rows]

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """As the port says."""
        where, parameters = _where(_conditions(which))
        rows = await self._file.scan(f"{_COUNT} {where} GROUP BY platform, type, kind", parameters, StoreError)
        return DeadletterCounts.of(
            (TypeName(restored(platform), restored(type)), restored(kind), number)
            for platform, type, kind, number in rows
        )

    async def get(self, urn: str) -> Deadletter | None:
        """As the port says."""
        rows = self._file.rows(f"{_SELECT} WHERE urn = ?", (storable(urn),), StoreError)
        return self._deadletter(rows[0]) if rows else None

    async def delete(self, urns: Sequence[str]) -> int:
        """As the port says, in one transaction."""
        names = [(storable(urn),) for urn in urns]
        work = Work(lambda connection: connection.executemany("DELETE FROM deadletters WHERE urn = ?", names).rowcount)
        return await self._file.write(work, StoreError) if names else 0

    def _row(self, letter: Deadletter) -> Row:
        return (
            storable(letter.urn),
            *map(storable, letter.request.type_name),
            storable(letter.kind),
            storable(host_of(letter.request.url)),
            letter.queue,
            storable(letter.reason),
            storable(letter.reason.casefold()),
            time_text(letter.first_at),
            time_text(letter.last_at),
            to_text([failure.to_json(at=time_text(failure.at)) for failure in letter.failures], letter.urn),
            storable(letter.traceback),
            self._codec.encode(letter.request),
            letter.raw,
        )

    def _deadletter(self, row: Row) -> Deadletter:
        urn, platform, type, queue, kind, reason, first_at, last_at, failures, traceback, message, raw = row
        try:
            request = self._codec.decode(message)
        except DecodeError:  # written by a newer version: shown, but this version cannot requeue it
            request, raw = unreadable(restored(platform), restored(type)), raw or message
        return Deadletter(
            urn=restored(urn),
            request=request,
            queue=next(name for name in QUEUES if name == queue),
            kind=restored(kind),
            reason=restored(reason),
            failures=tuple(failure_from(value) for value in from_text(failures)),
            first_at=moment(first_at),
            last_at=moment(last_at),
            traceback=restored(traceback),
            raw=raw,
        )


_Condition = tuple[str, tuple[Any, ...]]


def listing(which: DeadletterFilter, limit: int, behind: str = "") -> _Condition:
    """The query for the deadletters that match `which`, newest first, and its parameters.

    behind: URN of a deadletter; list only older ones.
    """
    conditions = _conditions(which)
    if behind:
        conditions.append((_BEHIND, (storable(behind),)))
    where, parameters = _where(conditions)
    return f"{_SELECT} {where} {_NEWEST_FIRST}", (*parameters, limit)


def _conditions(which: DeadletterFilter) -> list[_Condition]:
    """The conditions of a filter, each as SQL with its parameters."""
    conditions: list[_Condition] = []
    for column, values in (("urn", which.urns), ("platform", which.platforms), ("kind", which.kinds)):
        if values:
            marks = ", ".join("?" * len(values))
            conditions.append((f"{column} IN ({marks})", tuple(map(storable, values))))
    if which.types:
        either = " OR ".join(["platform = ? AND type = ?"] * len(which.types))
        conditions.append((f"({either})", tuple(storable(text) for type in which.types for text in type)))
    if which.reason:
        conditions.append(("instr(reason_folded, ?)", (storable(which.reason.casefold()),)))
    if which.host:
        conditions.append(("host = ?", (storable(which.host.lower()),)))
    if which.before is not None:
        conditions.append(("last_at < ?", (time_text(which.before),)))
    return conditions


def _where(conditions: Sequence[_Condition]) -> _Condition:
    if not conditions:
        return "", ()
    parameters = tuple(value for _, values in conditions for value in values)
    return "WHERE " + " AND ".join(sql for sql, _ in conditions), parameters
