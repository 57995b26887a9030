"""Idempotency keys in the SQLite file, beside queue and store."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Final

from ghcrawl.embedded.file import SqliteFile, storable
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.inbox import ClaimResult
from ghcrawl.values.errors import StoreError
from ghcrawl.values.times import time_text

SCHEMA: Final = (
    """CREATE TABLE receipts (
        id TEXT PRIMARY KEY, token TEXT NOT NULL, at TEXT NOT NULL, confirmed INTEGER NOT NULL
    ) WITHOUT ROWID""",
)
MIGRATION: Final = tuple(statement.replace("TABLE", "TABLE IF NOT EXISTS") for statement in SCHEMA)
"""For older files, in which the table was created on first use."""
_HELD: Final = "SELECT at, confirmed FROM receipts WHERE id = ?"
_CLAIM: Final = "REPLACE INTO receipts (id, token, at, confirmed) VALUES (?, ?, ?, 0)"
_TAKE: Final = "REPLACE INTO receipts (id, token, at, confirmed) VALUES (?, '', ?, 1)"
_CONFIRM: Final = "UPDATE receipts SET confirmed = 1 WHERE id = ? AND token = ?"
_RELEASE: Final = "DELETE FROM receipts WHERE id = ? AND token = ? AND confirmed = 0"
_SWEEP: Final = "DELETE FROM receipts WHERE at < ?"


class SqliteIdempotencyKeys:
    """The idempotency keys in `file`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def claim(self, id: str, token: str, at: datetime, *, stale_before: datetime) -> ClaimResult:
        """As the port says, in one transaction."""
        name, claimed_at, stale = storable(id), time_text(at), time_text(stale_before)

        def run(connection: sqlite3.Connection) -> ClaimResult:
            held = connection.execute(_HELD, (name,)).fetchone()
            if held is not None:
                held_at, confirmed = held
                if confirmed or held_at >= stale:
                    return "taken" if confirmed else "theirs"
            connection.execute(_CLAIM, (name, token, claimed_at))
            return "ours"

        return await self._file.write(Work(run), StoreError)

    def taking(self, id: str, at: datetime) -> Work[bool]:
        """Claim and confirm `id`, as part of a larger transaction. The result is False if it was confirmed before.

        An unconfirmed claim belongs to a dead process, because on one file claim and confirmation are one transaction.
        """
        name, taken_at = storable(id), time_text(at)

        def run(connection: sqlite3.Connection) -> bool:
            held = connection.execute(_HELD, (name,)).fetchone()
            if held is not None and held[1]:
                return False
            connection.execute(_TAKE, (name, taken_at))
            return True

        return Work(run)

    async def confirm(self, id: str, token: str) -> None:
        """As the port says."""
        await self._change(_CONFIRM, id, token)

    async def release(self, id: str, token: str) -> None:
        """As the port says."""
        await self._change(_RELEASE, id, token)

    async def sweep(self, before: datetime) -> int:
        """As the port says."""

        def run(connection: sqlite3.Connection) -> int:
            return connection.execute(_SWEEP, (time_text(before),)).rowcount

        return await self._file.write(Work(run), StoreError)

    async def _change(self, sql: str, id: str, token: str) -> None:
        def run(connection: sqlite3.Connection) -> None:
            connection.execute(sql, (storable(id), token))

        await self._file.write(Work(run), StoreError)
