"""The contract of quotas, bound to its implementations."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.quotas import Quotas
from ghcrawl.values.errors import StoreError
from stores.quotas import MemoryQuotas
from stores.sqlite import quotas as sqlite_quotas
from stores.sqlite.quotas import SqliteQuotas
from tests.contracts.quotas_contract import QuotasContract

COUNT: Final = "SELECT count(*) FROM quotas"


class TestMemoryQuotas(QuotasContract):
    @pytest.fixture
    def quotas(self) -> Quotas:
        return MemoryQuotas()

    async def kept(self, quotas: MemoryQuotas) -> int:
        return len(quotas)


class TestSqliteQuotas(QuotasContract):
    @pytest.fixture
    async def quotas(self, tmp_path: Path) -> AsyncIterator[Quotas]:
        file = await SqliteFile.open(tmp_path / "quotas.db", schema=())
        yield SqliteQuotas(file)
        await file.close()

    async def kept(self, quotas: SqliteQuotas) -> int:
        return await quotas._file.write(
            Work(lambda connection: int(connection.execute(COUNT).fetchone()[0])), StoreError
        )

    @pytest.mark.parametrize(
        ("sql", "values", "plan"),
        [
            (sqlite_quotas.FIRST, ("a", 10), "quotas_by_until (quota=?"),
            (sqlite_quotas.MISSING, {"quota": "a", "calls": 10}, "SEARCH slot"),
            (sqlite_quotas.FORGET, (1.0,), "quotas_free (until<?"),
        ],
    )
    def test_no_question_sorts_or_reads_the_table(self, sql: str, values: Any, plan: str):
        connection = sqlite3.connect(":memory:")
        for statement in sqlite_quotas.SCHEMA:
            connection.execute(statement)
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        connection.close()
        assert any(plan in step for step in steps), steps
        assert not any("TEMP B-TREE" in step or step.startswith(("SCAN quotas", "SCAN slot")) for step in steps), steps
