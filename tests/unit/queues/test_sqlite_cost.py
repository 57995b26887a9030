"""What the embedded queue does not do: grow slower with what waits, or write when there is nothing to write."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.embedded.writer import Work
from queues.sqlite import table
from tests.support.builders import NOW
from tests.support.lanes import LANES, lanes
from tests.unit.queues.sqlite_crawl import Crawl, opened, pushes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


async def test_twenty_pops_are_one_claim(path: Path) -> None:
    statements: list[str] = []
    async with opened(path) as crawl:
        await crawl.queue.push(pushes(*range(20)))
        await crawl.queue.take_over()
        await crawl.file.submit(Work(lambda connection: connection.set_trace_callback(statements.append)))
        statements.clear()
        popped = await asyncio.gather(*(crawl.queue.pop(LANES, patience_s=0) for _ in range(20)))
        assert None not in popped
        assert statements.count("BEGIN IMMEDIATE ") + statements.count("BEGIN IMMEDIATE") == 1


async def test_pops_that_find_nothing_write_nothing(path: Path) -> None:
    statements: list[str] = []
    async with opened(path) as crawl:
        await crawl.queue.take_over()
        await crawl.file.submit(Work(lambda connection: connection.set_trace_callback(statements.append)))
        statements.clear()
        for patience_s in (0, 0.001, 0):
            assert await crawl.queue.pop(LANES, patience_s=patience_s) is None
        assert statements == []


async def effort(crawl: Crawl, number: int) -> dict[str, int]:
    """Virtual machine steps of everything that happens all the time."""

    def run(connection: sqlite3.Connection) -> dict[str, int]:
        taken = 0

        def step() -> int:
            nonlocal taken
            taken += 1
            return 0

        def cost(action: Any) -> int:
            nonlocal taken
            taken = 0
            action()
            return taken

        connection.set_progress_handler(step, 1)
        (arrival,) = table.arrivals(pushes(number), NOW)
        costs = {
            "push": cost(lambda: table.insert(connection, [arrival])),
            "bounce": cost(lambda: table.insert(connection, [arrival])),
            "claim": cost(lambda: table.claim(connection, [lanes("normal")], [number], 1)),
            "put back": cost(lambda: table.put_back(connection, number)),
            "claim again": cost(lambda: table.claim(connection, [lanes("normal")], [number], 1)),
            "forget": cost(lambda: table.forget(connection, table.ClaimedRow(number, lanes("normal")[0], b""))),
        }
        connection.set_progress_handler(None, 0)
        return costs

    return await crawl.file.submit(Work(run))


async def test_no_step_grows_with_what_waits(path: Path) -> None:
    async with opened(path) as crawl:
        await crawl.queue.push(pushes(*range(10)))
        few = await effort(crawl, 10_000)
        await crawl.queue.push(pushes(*range(10, 3000)))
        many = await effort(crawl, 10_001)
        assert many == pytest.approx(few, abs=6)
