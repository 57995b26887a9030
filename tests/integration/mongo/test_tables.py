"""Tables from MongoDB: the same rows as from the embedded file, and later runs that read only what changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.cli import tables
from ghcrawl.cli.documents import Which
from ghcrawl.cli.options import Place
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.tables.fill import Filling
from ghcrawl.values.model import Document
from processors.github.tables import TABLES
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from tests.support.crawling import stage

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WORLD = WorldSize(orgs=1, repos=2, owners=0, users=10, teams=1, issues=20, pull_share=0.25, commits=20, quirks=True)


def rows(to: Path) -> dict[str, list[Sequence[Any]]]:
    with closing(sqlite3.connect(to)) as file:
        return {
            table.name: sorted(file.execute(f"SELECT * FROM {table.name}").fetchall(), key=str)
            for table in TABLES.everything
        }


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
        await fill(Place(db=it.db), tmp_path / "embedded.sqlite")
    store = await MongoStore.open(mongo)
    for document in crawled.documents.values():
        await store.save(document)
    config = tmp_path / "config.toml"
    where = f"[mongo]\nurl = {json.dumps(settings.url)}\ndatabase = {json.dumps(settings.database)}\n"
    config.write_text(f'[queue]\nprovider = "memory"\n[store]\nprovider = "mongo"\n{where}')
    place = Place(config=config)
    await fill(place, tmp_path / "mongo.sqlite")
    assert rows(tmp_path / "mongo.sqlite") == rows(tmp_path / "embedded.sqlite")

    latest = max(crawled.documents.values(), key=lambda one: one.processed_at)
    at = latest.processed_at + timedelta(hours=1)
    issue = next(one for one in crawled.documents.values() if one.type == "issue")
    gone = replace(issue, deleted_at=at, observed_at=at, processed_at=at, deleted_reason="404 Not Found")
    await store.save(gone)
    await fill(place, tmp_path / "mongo.sqlite")
    read.clear()
    await fill(place, tmp_path / "mongo.sqlite")
    assert read == [issue.urn]
    with closing(sqlite3.connect(tmp_path / "mongo.sqlite")) as file:
        assert file.execute("SELECT urn FROM issues WHERE _deleted_at IS NOT NULL").fetchall() == [(issue.urn,)]
