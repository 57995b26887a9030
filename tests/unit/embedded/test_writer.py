from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from ghcrawl.embedded.writer import Work
from ghcrawl.values.errors import QueueError, StoreError, Unstorable
from tests.unit.stores.one_table import inserting, numbers, opened


def failing() -> Work[None]:
    def run(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t (n) VALUES (-1)")
        raise KeyError("a bug")

    return Work(run)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


async def test_what_waits_is_written_in_one_transaction(path: Path) -> None:
    statements: list[str] = []
    async with opened(path) as file:
        await file.submit(Work(lambda connection: connection.set_trace_callback(statements.append)))
        await asyncio.gather(*(file.submit(inserting(n)) for n in range(20)))
        await file.submit(Work(lambda connection: connection.set_trace_callback(None)))
        assert numbers(file) == list(range(20))
    assert [statement for statement in statements if statement == "COMMIT"] == ["COMMIT", "COMMIT"]


async def test_a_failure_is_felt_by_its_owner_alone(path: Path) -> None:
    async with opened(path) as file:
        works = [file.submit(work) for work in (inserting(1), failing(), inserting(2), inserting(1))]
        results = await asyncio.gather(*works, return_exceptions=True)
        assert [type(result) for result in results] == [int, KeyError, int, sqlite3.IntegrityError]
        assert numbers(file) == [1, 2]


async def test_a_cancelled_write_is_written_all_the_same(path: Path) -> None:
    told: list[int] = []
    async with opened(path) as file:
        work = inserting(1)
        task = asyncio.create_task(file.write(Work(work.run, told.append), StoreError))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await file.submit(inserting(2))
        assert numbers(file) == [1, 2]
    assert told == [1]


async def test_closing_writes_what_was_submitted_and_ends_every_thread(path: Path) -> None:
    before = threading.enumerate()
    async with opened(path) as file:
        await file.scan("SELECT 1", (), StoreError)
        late = [file.submit(inserting(n)) for n in range(3)]
        late[2].cancel()
    assert threading.enumerate() == before
    assert [future.result() for future in late[:2]] == [1, 1]
    async with opened(path) as file:
        assert numbers(file) == [0, 1, 2]


async def test_a_closed_file_says_so(path: Path) -> None:
    async with opened(path) as file:
        pass
    with pytest.raises(StoreError, match="closed"):
        await file.write(inserting(1), StoreError)
    with pytest.raises(QueueError, match="closed"):
        file.rows("SELECT 1", (), QueueError)
    with pytest.raises(QueueError, match="closed"):
        await file.scan("SELECT 1", (), QueueError)
    await file.close()


async def test_a_value_too_large_for_sqlite_is_unstorable(path: Path) -> None:
    async with opened(path) as file:
        await file.submit(Work(lambda connection: connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)))
        with pytest.raises(Unstorable, match="too large"):
            await file.write(inserting(1, size=2000), QueueError)
