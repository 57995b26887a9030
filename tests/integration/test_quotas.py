"""Three replicas that share declared budgets through real stores: the arithmetic holds to the call."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from ghcrawl.embedded.file import SqliteFile
from stores.sqlite.quotas import SqliteQuotas
from tests.support.clock import FakeClock
from tests.support.declared import Replica, hour


async def test_three_processes_on_one_file_make_a_thousand_calls_an_hour_together(tmp_path: Path):
    clock = FakeClock()
    async with AsyncExitStack() as stack:
        replicas = []
        for _ in range(3):
            file = await SqliteFile.open(tmp_path / "quotas.db", schema=(), synchronous="OFF")
            stack.push_async_callback(file.close)
            replicas.append(Replica(SqliteQuotas(file), clock))
        first, second = await hour(clock, replicas), await hour(clock, replicas)
    assert (sum(first.values()), max(first.values())) == (1000, 150)
    assert (sum(second.values()), max(second.values())) == (1000, 150)


async def test_three_processes_on_one_file_behind_two_addresses_make_two_thousand(tmp_path: Path):
    clock = FakeClock()
    async with AsyncExitStack() as stack:
        replicas = []
        for address in ("east", "west", "west"):
            file = await SqliteFile.open(tmp_path / "quotas.db", schema=(), synchronous="OFF")
            stack.push_async_callback(file.close)
            replicas.append(Replica(SqliteQuotas(file), clock, address=address))
        calls = await hour(clock, replicas, looks=2)
    assert (sum(calls.values()), max(calls.values())) == (2000, 150)


async def test_a_restart_forgets_no_call(tmp_path: Path):
    clock, made = FakeClock(), []
    for _ in range(3):
        file = await SqliteFile.open(tmp_path / "quotas.db", schema=(), synchronous="OFF")
        made.append(sum((await hour(clock, [Replica(SqliteQuotas(file), clock)], looks=1)).values()))
        await file.close()
        clock.advance(-1800)
    assert made == [1000, 0, 1000]
