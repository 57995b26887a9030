"""Tables from MongoDB: the same rows as from the embedded file, and later runs that read only what changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.cli import tables
from ghcrawl.cli.commands.documents import Which
from ghcrawl.cli.options import Place
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.tables import asking as answers
from ghcrawl.tables.fill import Filling
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from tests.support.all_tables import EVERYTHING
from tests.support.crawling import stage

pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WORLD = WorldSize(orgs=1, repos=2, owners=0, users=10, teams=1, issues=20, pull_share=0.25, commits=20, quirks=True)


FORMATS = ("sqlite", "duckdb", "parquet")


def target(folder: Path, source: str, format: str) -> Path:
    return folder / (source if format == "parquet" else f"{source}.{format}")


def ask(to: Path, sql: str) -> Sequence[Sequence[Any]]:
    with answers.opened(to, EVERYTHING) as tables:
        return tables.run(sql, 0).rows


def rows(to: Path) -> dict[str, list[Sequence[Any]]]:
    return {table.name: sorted(ask(to, f"SELECT * FROM {table.name}"), key=str) for table in EVERYTHING.everything}


async def fill(place: Place, to: Path) -> None:
    assert await tables.fill(place, tables.Wanted(to=to, which=Which()), json=False) == 0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URNs of documents that runs read."""
    found: list[str] = []
    see = Filling._see

    def seen(self: Filling, document: Document) -> None:
        found.append(document.urn)
        see(self, document)

    monkeypatch.setattr(Filling, "_see", seen)
    return found


async def test_tables_are_those_of_the_embedded_file(
    tmp_path: Path, settings: MongoSettings, mongo: Mongo, read: list[str]
):
    async with stage(tmp_path, WORLD) as it:
        crawled = await it.crawl(policy="default:everything/")
        for format in FORMATS:
            await fill(Place(db=it.db), target(tmp_path, "embedded", format))
    store = await MongoStore.open(mongo)
    for document in crawled.documents.values():
        await store.save(replace(document, processed_at=document.processed_at - timedelta(days=1)))
    config = tmp_path / "config.toml"
    where = f"[mongo]\nurl = {json.dumps(settings.url)}\ndatabase = {json.dumps(settings.database)}\n"
    config.write_text(f'[queue]\nprovider = "memory"\n[store]\nprovider = "mongo"\n{where}')
    place = Place(config=config)
    for format in FORMATS:
        await fill(place, target(tmp_path, "mongo", format))
        found = rows(target(tmp_path, "mongo", format))
        assert sum(map(len, found.values())) > 500
        assert found == rows(target(tmp_path, "embedded", format))

    latest = max(crawled.documents.values(), key=lambda one: one.processed_at)
    at = latest.processed_at + timedelta(hours=1)
    issue = next(one for one in crawled.documents.values() if one.type == "issue")
    now = datetime.now(UTC)  # no cursor passes the start of its run
    gone = replace(issue, deleted_at=at, observed_at=at, processed_at=now, deleted_reason="404 Not Found")
    await store.save(gone)
    for format in FORMATS:
        to = target(tmp_path, "mongo", format)
        await fill(place, to)
        read.clear()
        await fill(place, to)
        assert read == [issue.urn]
        sql = "SELECT urn FROM issues WHERE _deleted_at IS NOT NULL"
        assert list(ask(to, sql)) == [(issue.urn,)]
