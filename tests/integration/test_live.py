"""A world in which thousands of things happen, followed in four ways; in the end the store says what the world says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ghcrawl.simulator.generation.size import SMALL
from tests.support.living import living

CHANGES = 400
BUSY = replace(SMALL, quirks=False)


async def test_webhooks_alone_keep_the_store_equal_to_the_world(tmp_path: Path):
    async with living(tmp_path, BUSY, seed=1) as it:
        await it.crawl("default")
        assert await it.differences() == {}
        it.stage.server.journal.clear()
        for _ in range(CHANGES):
            await it.clock.sleep(5)
            _, hooks = it.life.step()
            await it.deliver(hooks)
        await it.settle()

        assert await it.deadletters() == []
        assert await it.differences() == {}, it.problems[:20]


async def test_event_feeds_and_an_audit_keep_the_store_equal_to_the_world(tmp_path: Path):
    async with living(tmp_path, BUSY, seed=2) as it:
        await it.poll(private=False)
        await it.settle()
        await it.crawl("default")
        await it.poll()
        await it.settle()
        it.stage.server.journal.clear()
        for number in range(CHANGES):
            await it.clock.sleep(5)
            it.life.step()
            if number % 12 == 0:
                await it.poll()
        await it.settle()
        stale = await it.differences()
        await it.crawl("audit")

        assert await it.deadletters() == []
        assert stale.total() > 0  # feeds tell of nothing that is deleted, edited or renamed
        assert await it.differences() == {}, it.problems[:20]


@pytest.mark.parametrize("policy", ["audit", "always"])
async def test_crawling_again_finds_all_that_changed_and_all_that_is_gone(tmp_path: Path, policy: str):
    async with living(tmp_path, BUSY, seed=3) as it:
        await it.crawl("default")
        it.stage.server.journal.clear()
        for number in range(CHANGES):
            await it.clock.sleep(5)
            it.life.step()
            if number % 100 == 99:
                await it.crawl(policy)
                assert await it.differences() == {}, it.problems[:20]

        assert await it.deadletters() == []
