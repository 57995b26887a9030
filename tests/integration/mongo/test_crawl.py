"""Whole crawls of a simulated GitHub into MongoDB: nothing tells them from crawls into the embedded file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.ports.clock import SystemClock
from ghcrawl.simulator.github.changes import issues as change_issues
from ghcrawl.simulator.github.generation.size import WorldSize
from stores.mongo.settings import MongoSettings
from stores.mongo.writes import MAX_BYTES
from tests.integration.mongo.contents import assert_same
from tests.integration.test_crawl import assert_complete_but_for_what_is_embedded
from tests.support.crawling import Stage, stage
from tests.support.services.mongo import MongoServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WORLD = WorldSize(orgs=1, repos=3, owners=0, users=15, teams=2, issues=40, pull_share=0.25, commits=40, quirks=True)


def into(settings: MongoSettings, **over: Any) -> Mapping[str, Any]:
    return {
        "queue.provider": "memory",
        "store.provider": "mongo",
        "mongo.url": settings.url,
        "mongo.database": settings.database,
        **{name.replace("__", "."): value for name, value in over.items()},
    }


@pytest.mark.parametrize("queue", ["memory", "sqlite"])
async def test_the_same_documents_are_found_as_in_the_embedded_file(
    tmp_path: Path, settings: MongoSettings, queue: str
):
    async with stage(tmp_path, WORLD) as it:
        embedded = await it.crawl()
        it.db = tmp_path / "queue.db"
        it.settings |= into(settings, queue__provider=queue)
        first = await it.crawl()
        again = await it.crawl(policy="refresh")

    assert_same(first.documents.values(), embedded.documents.values())
    assert list(first.deadletters) == []
    assert first.tally.saved == embedded.tally.saved
    assert again.entities == first.entities
    assert not set(again.tally.saved) & {kind for kind, _ in first.entities}


async def test_a_database_that_is_killed_and_comes_back_costs_nothing_but_time(
    tmp_path: Path, mongo_server: MongoServer
):
    async with stage(tmp_path, WORLD) as it:
        embedded = await it.crawl()
        it.settings |= into(MongoSettings(url=mongo_server.url), mongo__timeout_s=2.0, crawl__retry_base_s=0.1)
        crawling = asyncio.create_task(it.crawl())
        for _ in range(2):
            await called(it, 10)
            await asyncio.to_thread(mongo_server.kill)
            await asyncio.to_thread(mongo_server.start)
        crawled = await crawling

    assert_same(crawled.documents.values(), embedded.documents.values())
    assert list(crawled.deadletters) == []


async def called(it: Stage, count: int) -> None:
    """Return once so many more calls were made."""
    async with asyncio.timeout(60):
        await it.server.journal.reached(it.server.journal.total + count)


class SkewedClock(SystemClock):
    """Of a machine that is this much ahead of the platform."""

    def __init__(self, ahead_s: float) -> None:
        self._ahead = timedelta(seconds=ahead_s)

    def now(self) -> datetime:
        return super().now() + self._ahead


async def test_a_clock_that_jumps_between_crawls_keeps_nothing_old_and_takes_nothing_old_for_new(
    tmp_path: Path, settings: MongoSettings
):
    """Who is newer is decided by the platform's clock alone."""
    async with stage(tmp_path, WORLD) as it:
        it.settings |= into(settings)
        it.clock = SkewedClock(-600)
        await it.crawl()
        issue = next(issue for issue in it.repo.issues.values() if issue.pull is None)
        change_issues.comment(it.world, it.repo, issue, by=it.member)
        it.clock = SkewedClock(+600)
        after = await it.crawl(policy="refresh")
        assert_complete_but_for_what_is_embedded(after, it)
        it.clock = SkewedClock(-600)
        last = await it.crawl(policy="refresh")

    assert_same(last.documents.values(), after.documents.values())
    assert not set(last.tally.saved) & {kind for kind, _ in after.entities}


async def test_what_is_too_large_is_buried_with_that_reason_and_the_rest_is_saved(
    tmp_path: Path, settings: MongoSettings
):
    async with stage(tmp_path, WORLD) as it:
        issue = next(issue for issue in it.repo.issues.values() if issue.pull is None)
        issue.body = "x" * MAX_BYTES
        it.settings |= into(settings)
        crawled = await it.crawl()

    urn = f"urn:repo:{it.repo.id}:issue:{issue.number}"
    too_large = {letter.reason.partition(" has ")[0] for letter in crawled.deadletters}
    assert urn in too_large  # and its events, which hold it
    assert {each.rpartition(":issue_event:")[0] or each for each in too_large} == {urn}
    for letter in crawled.deadletters:
        assert letter.kind == "unstorable"
        assert letter.reason.endswith("bytes and MongoDB takes 16,777,216 at the most")
    assert {key for key in it.expected() if key[1] not in too_large} == crawled.entities
