"""The contract of receipts, bound to its implementations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.inbox import IdempotencyKeys
from queues.memory_dedup import MemoryDedupMarkers
from stores.idempotency_keys import MarkerIdempotencyKeys
from stores.sqlite.idempotency_keys import SCHEMA, SqliteIdempotencyKeys
from tests.contracts.idempotency_keys_contract import ReceiptsContract, claim


class TestTagReceipts(ReceiptsContract):
    @pytest.fixture
    def idempotency_keys(self) -> IdempotencyKeys:
        return MarkerIdempotencyKeys(MemoryDedupMarkers())


class TestSqliteReceipts(ReceiptsContract):
    @pytest.fixture
    async def idempotency_keys(self, tmp_path: Path) -> AsyncIterator[IdempotencyKeys]:
        file = await SqliteFile.open(tmp_path / "receipts.db", schema=SCHEMA)
        yield SqliteIdempotencyKeys(file)
        await file.close()

    async def test_two_processes_on_one_file_share_them_and_they_outlive_both(self, tmp_path: Path) -> None:
        path = tmp_path / "receipts.db"
        one, two = [await SqliteFile.open(path, schema=SCHEMA) for _ in range(2)]
        assert await claim(SqliteIdempotencyKeys(one)) == "ours"
        assert await claim(SqliteIdempotencyKeys(two), "other") == "theirs"
        await SqliteIdempotencyKeys(one).confirm("5d3c1f80-0000-11ef-8000-0242ac120002", "mine")
        await one.close()
        await two.close()
        again = await SqliteFile.open(path, schema=SCHEMA)
        assert await claim(SqliteIdempotencyKeys(again), "third") == "taken"
        await again.close()
