"""The contract of receipts, bound to its implementations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ghcrawl.receipts import Receipts
from ghcrawl.sqlite_file import SqliteFile
from queues.memory_tags import MemoryTags
from stores.receipts import TagReceipts
from stores.sqlite_receipts import SqliteReceipts
from tests.contracts.receipts_contract import ReceiptsContract, claim


class TestTagReceipts(ReceiptsContract):
    @pytest.fixture
    def receipts(self) -> Receipts:
        return TagReceipts(MemoryTags())


class TestSqliteReceipts(ReceiptsContract):
    @pytest.fixture
    async def receipts(self, tmp_path: Path) -> AsyncIterator[Receipts]:
        file = await SqliteFile.open(tmp_path / "receipts.db", schema=())
        yield SqliteReceipts(file)
        await file.close()

    async def test_two_processes_on_one_file_share_them_and_they_outlive_both(self, tmp_path: Path) -> None:
        path = tmp_path / "receipts.db"
        one, two = [await SqliteFile.open(path, schema=()) for _ in range(2)]
        assert await claim(SqliteReceipts(one)) == "ours"
        assert await claim(SqliteReceipts(two), "other") == "theirs"
        await SqliteReceipts(one).confirm("5d3c1f80-0000-11ef-8000-0242ac120002", "mine")
        await one.close()
        await two.close()
        again = await SqliteFile.open(path, schema=())
        assert await claim(SqliteReceipts(again), "third") == "taken"
        await again.close()
