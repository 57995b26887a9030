"""Quotas in the SQLite file, shared by all processes that use it."""

from __future__ import annotations

import math
import sqlite3
from typing import Final

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.quotas import FORGOTTEN_AFTER_S, Slot
from ghcrawl.values.errors import StoreError

SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS quotas (
        quota TEXT NOT NULL, number INTEGER NOT NULL, until REAL NOT NULL, PRIMARY KEY (quota, number)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS quotas_by_until ON quotas (quota, until)",
    "CREATE INDEX IF NOT EXISTS quotas_free ON quotas (until)",
)
"""Created on first use: a file of an older version lacks it."""
FIRST: Final = "SELECT number, until FROM quotas WHERE quota = ? AND number < ? ORDER BY until LIMIT 1"
MISSING: Final = """SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM quotas WHERE quota = :quota AND number = 0)
    UNION ALL SELECT number + 1 FROM quotas AS slot WHERE quota = :quota AND number + 1 < :calls
    AND NOT EXISTS (SELECT 1 FROM quotas WHERE quota = :quota AND number = slot.number + 1) LIMIT 1"""
FORGET: Final = "DELETE FROM quotas WHERE until < ?"
_TAKE: Final = "INSERT OR REPLACE INTO quotas (quota, number, until) VALUES (?, ?, ?)"
_SET: Final = "UPDATE quotas SET until = ? WHERE quota = ? AND number = ? AND until = ?"


class SqliteQuotas:
    """The quotas in `file`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._forget_at = -math.inf
        self._has_tables = False

    async def take(self, quota: str, calls: int, *, now: float, until: float) -> Slot | float:
        """As the port says."""
        forgets = now >= self._forget_at
        if forgets:
            self._forget_at = now + FORGOTTEN_AFTER_S

        def run(connection: sqlite3.Connection) -> Slot | float:
            for statement in () if self._has_tables else SCHEMA:
                connection.execute(statement)
            if forgets:
                connection.execute(FORGET, (now - FORGOTTEN_AFTER_S,))
            slot = connection.execute(FIRST, (quota, calls)).fetchone()
            if slot is None or slot[1] > now:
                missing = connection.execute(MISSING, {"quota": quota, "calls": calls}).fetchone()
                if missing is None:
                    return float(slot[1])
                slot = missing
            number = int(slot[0])
            connection.execute(_TAKE, (quota, number, until))
            return Slot(quota, number, until)

        taken = await self._file.write(Work(run), StoreError)
        self._has_tables = True  # not before the transaction is durable: it may be undone
        return taken

    async def release(self, slot: Slot, until: float) -> None:
        """As the port says."""
        await self._set(slot, min(until, slot.until))

    async def extend(self, slot: Slot, until: float) -> Slot | None:
        """As the port says."""
        return slot._replace(until=until) if await self._set(slot, until) else None

    async def _set(self, slot: Slot, until: float) -> int:
        values = (until, slot.quota, slot.number, slot.until)
        return await self._file.write(Work(lambda connection: connection.execute(_SET, values).rowcount), StoreError)
