"""A world in which thousands of things happen, followed in four ways; in the end the store says what the world says.

`pytest -s` shows what each way cost. Only what GitHub charges for is counted; 304 is free.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.generation.size import SMALL
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.values.frozen import replace
from tests.support.living import Living, living

BUSY = replace(SMALL, quirks=False)
SECONDS_BETWEEN = 3
AUDITS = 4
MANY = pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])
FEW_OR_MANY = pytest.mark.parametrize("changes", [100, MANY])

Step = Callable[[int, tuple[Change, tuple[Hook, ...]]], Awaitable[None]]


async def live(it: Living, changes: int, each: Step) -> None:
    """Let as many things happen, with `each` told of every one."""
    it.stage.server.journal.clear()
    for number in range(1, changes + 1):
        await it.clock.sleep(SECONDS_BETWEEN)
        it.remember_names()
        await each(number, it.life.step())
    it.remember_names()


async def assert_equal(it: Living, way: str, changes: int) -> None:
    journal = it.stage.server.journal
    charged, free = journal.charged, journal.not_modified
    assert await it.deadletters() == []
    assert await it.differences() == {}, it.problems[:20]
    assert journal.violated == 0
    print(f"\n{way}: {changes} changes, {it.deliveries} deliveries, {charged} calls charged, {free} free", end=" ")


@FEW_OR_MANY
async def test_webhooks_alone_keep_the_store_equal_to_the_world(tmp_path: Path, changes: int):
    async def each(_number: int, happened: tuple[Change, tuple[Hook, ...]]) -> None:
        await it.deliver(happened[1])

    async with living(tmp_path, BUSY, seed=1) as it:
        await it.crawl("default")
        await it.assert_equal_before()
        await live(it, changes, each)
        await it.settle()

        await assert_equal(it, "webhooks", changes)
        assert it.stage.server.journal.charged <= 2 * changes


@FEW_OR_MANY
async def test_event_feeds_and_an_audit_keep_the_store_equal_to_the_world(tmp_path: Path, changes: int):
    async def each(number: int, _happened: tuple[Change, tuple[Hook, ...]]) -> None:
        if number % (60 // SECONDS_BETWEEN) == 0:
            await it.poll()

    async with living(tmp_path, BUSY, seed=2) as it:
        await it.poll(private=False)
        await it.crawl("default")
        await live(it, changes, each)
        await it.settle()
        stale = await it.differences()
        await it.crawl("audit")

        assert stale.total() > 0  # feeds tell of nothing that is deleted, edited or renamed
        await assert_equal(it, "event feeds and one audit", changes)


@pytest.mark.parametrize("policy", ["audit", "always"])
@FEW_OR_MANY
async def test_crawling_again_finds_all_that_changed_and_all_that_is_gone(tmp_path: Path, policy: str, changes: int):
    async def each(number: int, _happened: tuple[Change, tuple[Hook, ...]]) -> None:
        if number % (changes // AUDITS) == 0:
            await it.crawl(policy)
            assert await it.differences() == {}, it.problems[:20]

    async with living(tmp_path, BUSY, seed=3) as it:
        await it.crawl("default")
        await live(it, changes, each)

        await assert_equal(it, f"{AUDITS} crawls with policy {policy}", changes)
