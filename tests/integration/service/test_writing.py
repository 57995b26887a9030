"""A file that can be read and not written: probes, metrics and the log say so, and when it is over, busy or not."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ghcrawl.simulator.github.generation.size import TINY
from tests.integration.service.conftest import PATIENCE_S, Serve, Served
from tests.support.crawling import TOKEN, stage
from tests.support.waiting import until

pytestmark = pytest.mark.crawl


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process writes, and does not come to an end."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


async def ready(served: Served, status: int) -> str:
    """What the store's check says, once readiness is `status`."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found, text = await served.probe("/readyz")
            if found == status:
                return str(json.loads(text)["checks"]["store"])
            await asyncio.sleep(0.05)


async def told(served: Served, error: str) -> None:
    """Return once the log says why the store takes no writes. SQLite waits for 10 s itself."""

    def logged() -> bool:
        lines = [line for line in served.logged() if line["event"] == "store_not_writable"]
        return any(error in line["error"] for line in lines)

    await until(logged, within_s=PATIENCE_S, every_s=0.1)


async def reachable(served: Served) -> bool:
    text = (await served.probe("/metrics"))[1]
    return 'ghcrawl_reachable{port="store"} 1.0' in text


@pytest.mark.parametrize("paused", [False, True])
async def test_a_file_that_takes_no_writes_is_told_of_by_a_process_with_nothing_to_do(
    tmp_path: Path, serve: Serve, paused: bool
):
    db = tmp_path / "it.db"
    async with stage(tmp_path, TINY) as it:
        words = ("--api-url", it.server.url, "--db", str(db))
        async with serve(*words, GHCRAWL_TOKENS=TOKEN) as served:
            if paused:
                await served.ask("POST", "/api/v1/pause")
            assert await ready(served, 200) == "pass"
            assert await reachable(served)
            with locked(db):
                assert "no answer to a write" in await ready(served, 503)
                assert not await reachable(served)
                line = await served.until("store_not_writable")
                await told(served, "is locked by another process")
                assert "locked by another process" in await ready(served, 503)
            assert await ready(served, 200) == "pass"
            assert await reachable(served)
            assert line["error"].startswith("no answer to a write within")
            await served.until("store_writable_again")
            await served.holds("/api/v1/loops", lambda found: not found["trouble"])
