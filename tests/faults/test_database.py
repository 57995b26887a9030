"""The database that is killed, stopped and slow while workers crawl."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.faults.crawl import crawl
from tests.support.services.mongo import MongoServer
from tests.support.services.proxy import Proxy, proxied
from tests.support.services.rabbitmq import Server


def mongo(url: str) -> dict[str, Any]:
    return {"store": {"provider": "mongo"}, "mongo": {"url": url, "timeout_s": 5.0, "connect_timeout_s": 2.0}}


@pytest.mark.timeout(240)
async def test_a_database_that_is_killed_loses_nothing(
    rabbitmq: Server, mongo_server: MongoServer, tmp_path: Path
) -> None:
    """Case 15: gone at once, in the middle of whatever it was asked for. What it promised, it had on disk."""
    async with crawl(rabbitmq, tmp_path, size=300, store=mongo(mongo_server.url)) as it:
        await it.begin(2)
        await it.settled(60)
        await asyncio.to_thread(mongo_server.kill)
        it.shocks += 16
        await asyncio.sleep(3)
        await asyncio.to_thread(mongo_server.start)
        await it.push(2, 3, 4)
        await it.quiet()
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(400)
async def test_a_database_that_is_away_for_long_loses_nothing(
    rabbitmq: Server, mongo_server: MongoServer, tmp_path: Path
) -> None:
    """Case 15, at length, and in good order."""
    async with crawl(rabbitmq, tmp_path, size=300, store=mongo(mongo_server.url)) as it:
        await it.begin(2)
        await it.settled(60)
        await asyncio.to_thread(mongo_server.stop)
        await asyncio.sleep(30)
        await asyncio.to_thread(mongo_server.start)
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(400)
async def test_a_slow_database_loses_nothing(rabbitmq: Server, mongo_server: MongoServer, tmp_path: Path) -> None:
    """Case 15, slowly."""
    split = urlsplit(mongo_server.url)
    assert split.hostname
    assert split.port
    async with proxied(split.hostname, split.port) as wire:
        store = mongo(f"mongodb://127.0.0.1:{wire.port}")
        await slowed(rabbitmq, tmp_path, store, wire)


async def slowed(rabbitmq: Server, folder: Path, store: dict[str, Any], wire: Proxy) -> None:
    async with crawl(rabbitmq, folder, size=100, store=store) as it:
        await it.begin(2)
        wire.delay_s = 0.1
        await it.settled(30)
        wire.delay_s = 0.0
        wire.cut()
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)
