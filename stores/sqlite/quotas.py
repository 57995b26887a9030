"""Quotas in the SQLite file, shared by all processes that use it."""

from __future__ import annotations

import sqlite3
from typing import Final

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.quotas import Slot
from ghcrawl.values.errors import StoreError

SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS quotas (
        quota TEXT NOT NULL, number INTEGER NOT NULL, until REAL NOT NULL, PRIMARY KEY (quota, number)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS quotas_by_until ON quotas (quota, until)",
)
"""Created on first use: a file of an older version lacks it."""
FIRST: Final = "SELECT number, until FROM quotas WHERE quota = ? AND number < ? ORDER BY until LIMIT 1"
LAST: Final = "SELECT max(number) FROM quotas WHERE quota = ?"
_TAKE: Final = "INSERT OR REPLACE INTO quotas (quota, number, until) VALUES (?, ?, ?)"
_SET: Final = "UPDATE quotas SET until = ? WHERE quota = ? AND number = ? AND until = ?"


class SqliteQuotas:
    """The quotas in `file`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def take(self, quota: str, calls: int, *, now: float, until: float) -> Slot | float:
        """As the port says."""

        def run(connection: sqlite3.Connection) -> Slot | float:
            for statement in SCHEMA:
                connection.execute(statement)
            first = connection.execute(FIRST, (quota, calls)).fetchone()
            if first is not None and first[1] <= now:
                number = int(first[0])
            else:
                last = connection.execute(LAST, (quota,)).fetchone()[0]
                number = 0 if last is None else last + 1
                if first is not None and number >= calls:
                    return float(first[1])
            connection.execute(_TAKE, (quota, number, until))
            return Slot(quota, number, until)

        return await self._file.write(Work(run), StoreError)

    async def release(self, slot: Slot, until: float) -> None:
        """As the port says."""
        await self._set(slot, min(until, slot.until))

    async def extend(self, slot: Slot, until: float) -> Slot | None:
        """As the port says."""
        return slot._replace(until=until) if await self._set(slot, until) else None

    async def _set(self, slot: Slot, until: float) -> int:
        values = (until, slot.quota, slot.number, slot.until)
        return await self._file.write(Work(lambda connection: connection.execute(_SET, values).rowcount), StoreError)
