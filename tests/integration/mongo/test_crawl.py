"""Whole crawls of a simulated GitHub into MongoDB: nothing tells them from crawls into the embedded file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghcrawl.simulator.generation.size import SMALL
from stores.mongo_settings import MongoSettings
from tests.integration.mongo.contents import contents
from tests.support.crawling import stage


@pytest.mark.parametrize("queue", ["memory", "sqlite"])
async def test_the_same_documents_are_found_as_in_the_embedded_file(
    tmp_path: Path, settings: MongoSettings, queue: str
):
    async with stage(tmp_path, SMALL) as it:
        embedded = await it.crawl()
        it.db = tmp_path / "queue.db"
        it.settings |= {
            "queue.provider": queue,
            "store.provider": "mongo",
            "mongo.url": settings.url,
            "mongo.database": settings.database,
        }
        first = await it.crawl()
        again = await it.crawl(policy="refresh")

    assert contents(first.documents.values()) == contents(embedded.documents.values())
    assert list(first.deadletters) == []
    assert first.tally.saved == embedded.tally.saved
    assert again.entities == first.entities
    assert not set(again.tally.saved) & {kind for kind, _ in first.entities}
