"""The wire to the broker: cut, slow, one-way, and swallowing everything.

A push that failed on the way may leave a tag pending that nobody needs any more; those are harmless and swept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.faults.crawl import Crawl, crawl, through
from tests.support.services.proxy import Proxy, proxied
from tests.support.services.rabbitmq import Server


@asynccontextmanager
async def wired(server: Server, folder: Path, size: int) -> AsyncIterator[tuple[Crawl, Proxy]]:
    """A crawl whose workers reach the broker through a wire of ours; whoever watches does not."""
    split = urlsplit(server.url)
    assert split.hostname
    assert split.port
    async with proxied(split.hostname, split.port) as wire, crawl(server, folder, size=size) as it:
        it.over = {"settings": through(it.settings, wire.port)}
        yield it, wire


@pytest.mark.timeout(180)
async def test_connections_that_are_reset_lose_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 6."""
    async with wired(rabbitmq, tmp_path, 800) as (it, wire):
        await it.begin(2)
        await it.settled(20)
        for _ in range(5):
            wire.cut()
            it.shocks += 8
            await asyncio.sleep(1.0)
        await it.push(2, 3, 4)
        await it.quiet()
        await it.hold_invariants(pending=True)
        assert wire.connections >= 2 * 2 * 2


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_a_black_hole_loses_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 7: longer than three heartbeats."""
    async with wired(rabbitmq, tmp_path, 800) as (it, wire):
        await it.begin(2)
        await it.settled(20)
        wire.swallow()
        it.shocks += 8
        await asyncio.sleep(25)
        wire.pass_on()
        await it.push(2, 3, 4)
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_answers_that_do_not_arrive_lose_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Cases 8 and 10: what was confirmed never hears of it."""
    async with wired(rabbitmq, tmp_path, 800) as (it, wire):
        await it.begin(2)
        for _ in range(3):
            await it.settled(20)
            wire.swallow_answers()
            await asyncio.sleep(0.3)
            wire.cut()
            it.shocks += 8
            wire.pass_on()
            await asyncio.sleep(1.0)
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_a_slow_wire_loses_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 9."""
    async with wired(rabbitmq, tmp_path, 300) as (it, wire):
        wire.delay_s = 0.2
        await it.begin(2)
        await it.quiet(within_s=250)
        await it.hold_invariants(pending=True)
