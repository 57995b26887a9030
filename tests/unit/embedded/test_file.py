from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.schema import FIRST
from ghcrawl.embedded.writer import Work
from ghcrawl.values.errors import ConfigError, QueueError, StoreError
from tests.unit.stores.one_table import SCHEMA, inserting, numbers, opened


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def content(path: Path) -> bytes:
    return path.read_bytes()


def forbid(*paths: Path) -> None:
    for path in paths:
        path.chmod(0o555)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


# Opening ---------------------------------------------------------------------------------------------------------


async def test_a_file_is_there_again_when_opened_again(path: Path) -> None:
    async with opened(path) as file:
        await file.submit(inserting(1))
    async with opened(path) as file:
        assert numbers(file) == [1]


async def test_a_crawl_gives_back_the_pages_that_it_needed_for_a_while(path: Path) -> None:
    async with opened(path) as file:
        file.lock_for_crawling()
        await file.submit(Work(lambda connection: connection.execute("CREATE TABLE queue (message)").rowcount))
        fill = "INSERT INTO queue SELECT zeroblob(4000) FROM json_each(?)"
        await file.submit(Work(lambda connection: connection.execute(fill, (str([1] * 500),)).rowcount))
        await file.submit(Work(lambda connection: connection.execute("DELETE FROM queue").rowcount))
    assert len(content(path)) < 100_000


async def test_several_may_make_the_same_file_at_once(tmp_path: Path) -> None:
    for turn in range(5):
        path = tmp_path / f"{turn}.db"
        files = await asyncio.gather(*(SqliteFile.open(path, schema=SCHEMA, synchronous="OFF") for _ in range(4)))
        await asyncio.gather(*(file.submit(inserting(n)) for n, file in enumerate(files)))
        assert numbers(files[0]) == [0, 1, 2, 3]
        for file in files:
            await file.close()


async def test_an_empty_file_is_a_new_one(path: Path) -> None:
    put(path, b"")
    async with opened(path) as file:
        assert numbers(file) == []


async def test_an_opening_that_is_cancelled_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, connecting, go_on = threading.enumerate(), threading.Event(), threading.Event()
    connect = sqlite3.connect

    def slowly(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connecting.set()
        go_on.wait(10)
        connection: sqlite3.Connection = connect(*args, **kwargs)
        return connection

    monkeypatch.setattr(sqlite3, "connect", slowly)
    opening = asyncio.create_task(SqliteFile.open(path, schema=SCHEMA, synchronous="OFF"))
    await asyncio.to_thread(connecting.wait, 10)
    opening.cancel()
    asyncio.get_running_loop().call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await opening
    left = [thread for thread in threading.enumerate() if thread.name.startswith("sqlite") and thread not in before]
    assert left == []


async def test_a_file_with_odd_letters_in_its_name_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a ?mode=memory&x#%41ü.db"
    async with opened(path) as file:
        await file.submit(inserting(1))
    assert path.exists()


async def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        await SqliteFile.open(path, schema=SCHEMA)
    assert str(path) in str(caught.value)
    return str(caught.value)


async def test_what_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    before = b"these are my notes, and they are longer than a header " * 20
    put(path, before)
    assert "no SQLite database" in await refusal(path)
    assert content(path) == before


async def test_the_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = content(path)
    assert "another program" in await refusal(path)
    assert content(path) == before


async def test_a_newer_schema_is_refused(path: Path) -> None:
    async with opened(path):
        pass
    with sqlite3.connect(path) as later:
        later.execute(f"PRAGMA user_version={FIRST + 1}")
    later.close()
    assert "newer ghcrawl" in await refusal(path)


def set_version(path: Path, version: int) -> None:
    with sqlite3.connect(path) as other:
        other.execute(f"PRAGMA user_version={version}")
    other.close()


MIGRATIONS = (("ALTER TABLE t ADD COLUMN more",), ("ALTER TABLE t ADD COLUMN most", "UPDATE t SET n = n + 100"))


async def test_a_file_of_an_older_schema_takes_the_migrations_it_lacks(path: Path) -> None:
    async with opened(path) as file:
        await file.submit(inserting(1))
    async with opened(path, migrations=MIGRATIONS[:1]):
        pass
    for _ in range(2):
        async with opened(path, migrations=MIGRATIONS) as file:
            assert file.rows("SELECT n, more, most FROM t", (), StoreError) == [(101, None, None)]


async def test_a_new_file_takes_no_migration(path: Path) -> None:
    async with opened(path, migrations=MIGRATIONS) as file:
        await file.submit(inserting(1))
    async with opened(path, migrations=MIGRATIONS) as file:
        assert numbers(file) == [1]


async def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    async with opened(path) as file:
        await file.submit(inserting(1))
    with pytest.raises(StoreError):
        await SqliteFile.open(path, schema=SCHEMA, migrations=[*MIGRATIONS, ("NO SUCH STATEMENT",)])
    async with opened(path) as file:
        assert numbers(file) == [1]


async def test_a_file_that_is_being_crawled_is_not_migrated(path: Path) -> None:
    async with opened(path) as crawled:
        crawled.lock_for_crawling()
        with pytest.raises(ConfigError, match="is being crawled by another process"):
            await SqliteFile.open(path, schema=SCHEMA, migrations=MIGRATIONS)


async def test_an_older_file_that_cannot_be_written_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path):
        pass
    monkeypatch.setattr("ghcrawl.embedded.file._writable", lambda path: False)
    with pytest.raises(ConfigError, match="older ghcrawl and cannot be written here"):
        await SqliteFile.open(path, schema=SCHEMA, migrations=MIGRATIONS)


async def test_a_schema_that_no_version_writes_is_refused(path: Path) -> None:
    async with opened(path):
        pass
    set_version(path, 0)
    assert "no ghcrawl writes" in await refusal(path)


async def test_a_directory_is_no_file(tmp_path: Path) -> None:
    assert "is a directory" in await refusal(tmp_path)


async def test_a_file_in_no_directory_is_refused(tmp_path: Path) -> None:
    assert "no directory" in await refusal(tmp_path / "nowhere" / "crawl.db")


async def test_a_damaged_file_says_so(path: Path) -> None:
    async with opened(path) as file:
        for number in range(50):
            await file.submit(inserting(number, size=1000))
    put(path, content(path)[:8192] + b"Z" * 8192 * 8)
    async with opened(path) as file:
        with pytest.raises(StoreError, match="damaged"):
            numbers(file)
        with pytest.raises(StoreError, match="damaged"):
            await file.write(inserting(99), StoreError)


# Without the right to write --------------------------------------------------------------------------------------


@contextmanager
def nobody() -> Iterator[None]:
    """As a user who owns nothing, because the administrator may write everywhere."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.fixture
def shown() -> Iterator[Path]:
    """A directory that anybody may read and nobody else may write to."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        yield directory
        directory.chmod(0o755)


async def written(directory: Path) -> Path:
    path = directory / "crawl.db"
    async with opened(path) as file:
        await file.submit(inserting(1))
    forbid(path, directory)
    return path


async def test_a_file_that_may_not_be_written_can_be_read(shown: Path) -> None:
    path = await written(shown)
    with nobody():
        async with opened(path) as file:
            assert file.read_only
            assert numbers(file) == [1]
            assert await file.scan("SELECT n FROM t", (), StoreError) == [(1,)]


async def test_a_file_that_somebody_else_is_crawling_can_be_read(shown: Path) -> None:
    path = shown / "crawl.db"
    async with opened(path) as theirs:
        await theirs.submit(inserting(1))
        with nobody():
            async with opened(path) as ours:
                assert ours.read_only
                assert numbers(ours) == [1]
        await theirs.submit(inserting(2))
        assert numbers(theirs) == [1, 2]


async def test_writing_what_may_not_be_written_says_so(shown: Path) -> None:
    path = await written(shown)
    with nobody():
        async with opened(path) as file:
            with pytest.raises(QueueError, match="is read-only"):
                await file.write(inserting(2), QueueError)
            with pytest.raises(ConfigError, match="cannot be crawled"):
                file.lock_for_crawling()


async def test_a_file_cannot_be_made_where_nothing_may_be_written(shown: Path) -> None:
    forbid(shown)
    with nobody():
        assert "cannot be opened or created" in await refusal(shown / "crawl.db")


# No space, no luck -----------------------------------------------------------------------------------------------


async def test_a_full_disk_is_one_clear_error_and_loses_nothing(path: Path) -> None:
    async with opened(path, max_pages=30) as file:
        await file.submit(inserting(1, size=40_000))
        both = await asyncio.gather(
            file.write(inserting(2, size=200_000), StoreError),
            file.write(inserting(3), StoreError),
            return_exceptions=True,
        )
        assert str(both[0]) == f"no space left for {path}"
        assert both[1] == 1
        assert numbers(file) == [1, 3]
    async with opened(path) as file:
        await file.submit(inserting(2, size=200_000))
        assert numbers(file) == [1, 2, 3]


async def test_a_file_that_another_process_holds_is_locked_for_writing_only(path: Path) -> None:
    async with opened(path, busy_timeout_s=0.02) as file:
        await file.submit(inserting(1))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(QueueError, match="locked by another process"):
            await file.write(inserting(2), QueueError)
        assert numbers(file) == [1]
        other.execute("COMMIT")
        other.close()
        await file.write(inserting(2), QueueError)
        assert numbers(file) == [1, 2]


async def test_a_short_wait_for_another_process_is_no_error(path: Path) -> None:
    async with opened(path) as file:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        write = asyncio.create_task(file.write(inserting(1), StoreError))
        await asyncio.sleep(0)
        other.execute("COMMIT")
        other.close()
        await write


# One crawler -----------------------------------------------------------------------------------------------------


async def test_only_one_may_crawl_a_file(path: Path) -> None:
    async with opened(path) as first, opened(path) as second:
        first.lock_for_crawling()
        first.lock_for_crawling()
        with pytest.raises(ConfigError, match=rf"{path} is being crawled by another process \(pid {os.getpid()}\)"):
            second.lock_for_crawling()
        await first.close()
        second.lock_for_crawling()
