"""A busy organisation lives at raised speed and tells a service of it by webhooks; in the end both say the same.

`make faults` lets it live for five minutes (GHCRAWL_TEST_LIVE_S) and says what that cost; here it is seconds.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.generation.size import SMALL, TINY
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.live.live import Life
from ghcrawl.simulator.github.live.sending import Sender
from ghcrawl.values.frozen import replace
from tests.support.door import SECRET, Door, standing, webhook
from tests.support.living import Living, living

SECONDS = float(os.environ.get("GHCRAWL_TEST_LIVE_S", "4"))
pytestmark = [pytest.mark.crawl, pytest.mark.timeout(300 + 6 * SECONDS)]
PER_MINUTE = 1.0
"""Changes a minute of the world's clock, which goes 300 times as fast as ours."""


class Remembered(Life):
    """Life after each change of which `it` remembers what everything is called."""

    it: Living

    @classmethod
    def of(cls, it: Living) -> Remembered:
        """The life of `it`, from its beginning."""
        before = it.life
        life = cls(world=before.world, site=before.site, logins=before.logins, seed=before.seed, stays=before.stays)
        life.it = it
        it.remember_names()
        return life

    def step(self) -> tuple[Change, tuple[Hook, ...]]:
        """As life does."""
        happened = super().step()
        self.it.remember_names()
        return happened


async def test_a_service_that_is_told_by_webhooks_ends_equal_to_the_world(tmp_path: Path):
    size = replace(TINY if SECONDS < 60 else SMALL, quirks=False)
    async with living(tmp_path, size, seed=7) as it, standing(Door(webhook(it))) as door:
        await it.crawl("default")
        await it.assert_equal_before()
        journal, began = it.stage.server.journal, it.clock.now()
        journal.clear()
        it.life = Remembered.of(it)
        stop, sender = asyncio.Event(), Sender(door.url, SECRET, Random(1))
        living_on = asyncio.create_task(it.life.run(stop, per_minute=PER_MINUTE, sender=sender))
        await asyncio.sleep(SECONDS)
        stop.set()
        await living_on
        await it.settle()

        assert set(sender.answers) == {202}, sender.answers
        assert await it.deadletters() == []
        assert await it.differences() == {}, it.problems[:20]
        assert journal.violated == 0
        minutes, changes = (it.clock.now() - began).total_seconds() / 60, it.life.counts.total()
        print(
            f"\n{changes} changes in {minutes:.0f} minutes of the world, {sender.answers[202]} deliveries, "
            f"{journal.charged} calls charged, {journal.not_modified} free",
            end=" ",
        )
