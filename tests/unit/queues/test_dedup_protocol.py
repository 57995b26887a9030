"""The markers of this process and of the embedded file, by their contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ghcrawl.embedded.file import SqliteFile
from queues.memory_dedup import MemoryCrashCounter, MemoryDedupMarkers
from stores.sqlite.dedup import SqliteCrashCounter, SqliteDedupMarkers

pytest.register_assert_rewrite("tests.contracts.dedup_contract")

from tests.contracts.adapters import open_file  # noqa: E402
from tests.contracts.dedup_contract import StartsContract, TagsContract  # noqa: E402  # after the line above


@pytest.fixture
def markers() -> MemoryDedupMarkers:
    return MemoryDedupMarkers()


@pytest.fixture
def crashes() -> MemoryCrashCounter:
    return MemoryCrashCounter()


class TestMemoryTags(TagsContract):
    pass


class TestMemoryStarts(StartsContract):
    pass


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    opened = await open_file(tmp_path / "markers.db")
    yield opened
    await opened.close()


class TestSqliteTags(TagsContract):
    @pytest.fixture
    async def markers(self, file: SqliteFile) -> SqliteDedupMarkers:
        return SqliteDedupMarkers(file)


class TestSqliteStarts(StartsContract):
    @pytest.fixture
    async def crashes(self, file: SqliteFile) -> SqliteCrashCounter:
        return SqliteCrashCounter(file)
