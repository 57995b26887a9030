"""A world in which thousands of things happen, followed in four ways; in the end the store says what the world says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ghcrawl.simulator.generation.size import SMALL
from tests.support.living import living

BUSY = replace(SMALL, quirks=False)


async def test_webhooks_alone_keep_the_store_equal_to_the_world(tmp_path: Path):
    async with living(tmp_path, BUSY, seed=1) as it:
        await it.crawl("default")
        assert await it.differences() == {}
        it.stage.server.journal.clear()
        for _ in range(400):
            await it.clock.sleep(5)
            _, hooks = it.life.step()
            await it.deliver(hooks)
        await it.settle()

        assert await it.deadletters() == []
        assert await it.differences() == {}, it.problems[:20]
