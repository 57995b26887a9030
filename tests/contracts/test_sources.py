"""The contract of sources, bound to its implementations, and what a hundred thousand of them cost."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.sources import Sources
from ghcrawl.values.errors import StoreError
from stores.sources import MemorySources, pack, unpack
from stores.sqlite import sources as sqlite_sources
from stores.sqlite.sources import SqliteSources
from tests.contracts.sources_contract import FULL, SourcesContract, a_source


class TestMemorySources(SourcesContract):
    @pytest.fixture
    def sources(self) -> Sources:
        return MemorySources()


class TestSqliteSources(SourcesContract):
    @pytest.fixture
    async def sources(self, tmp_path: Path) -> AsyncIterator[Sources]:
        file = await SqliteFile.open(tmp_path / "sources.db", schema=())
        yield SqliteSources(file)
        await file.close()

    @pytest.mark.parametrize(
        ("sql", "values", "plan"),
        [
            (sqlite_sources.DUE, ("web", 10), "sources_by_due (platform=?)"),
            (sqlite_sources.OLDEST, ("web", 1.0, 10), "sources_by_read (platform=? AND read>? AND read<?)"),
            (sqlite_sources.LIST, ("k", "", 10), "PRIMARY KEY (key>?)"),
            (sqlite_sources.COUNT, ("web",), "COVERING INDEX"),
        ],
    )
    def test_no_question_reads_the_table(self, sql: str, values: tuple[object, ...], plan: str):
        connection = sqlite3.connect(":memory:")
        for statement in sqlite_sources.SCHEMA:
            connection.execute(statement)
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        connection.close()
        assert any(plan in step for step in steps), steps
        assert not any("TEMP B-TREE" in step or step.startswith("SCAN") for step in steps), steps


def test_a_source_is_some_three_hundred_bytes():
    assert len(pack(a_source("a-feed-with-a-name-of-usual-length"))) + 60 < 350


def test_a_row_of_another_version_is_refused_with_a_sentence():
    with pytest.raises(StoreError, match="another version"):
        unpack(FULL.key, "web", 0.0, 0.0, 0, b"\xff" + pack(FULL)[1:])
