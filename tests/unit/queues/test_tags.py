"""The tags of this process and of the embedded file, by their contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ghcrawl.sqlite_file import SqliteFile
from queues.memory_tags import MemoryStarts, MemoryTags
from stores.sqlite_tags import SqliteStarts, SqliteTags

pytest.register_assert_rewrite("tests.contracts.tags_contract")

from tests.contracts.adapters import open_file  # noqa: E402
from tests.contracts.tags_contract import StartsContract, TagsContract  # noqa: E402  # after the line above


@pytest.fixture
def tags() -> MemoryTags:
    return MemoryTags()


@pytest.fixture
def starts() -> MemoryStarts:
    return MemoryStarts()


class TestMemoryTags(TagsContract):
    pass


class TestMemoryStarts(StartsContract):
    pass


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    opened = await open_file(tmp_path / "tags.db")
    yield opened
    await opened.close()


class TestSqliteTags(TagsContract):
    @pytest.fixture
    async def tags(self, file: SqliteFile) -> SqliteTags:
        return await SqliteTags.open(file)


class TestSqliteStarts(StartsContract):
    @pytest.fixture
    async def starts(self, file: SqliteFile) -> SqliteStarts:
        await SqliteTags.open(file)
        return SqliteStarts(file)
