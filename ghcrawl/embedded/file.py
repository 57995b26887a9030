"""One SQLite file that the embedded queue and store share: who may open it, how it is written, what its errors mean.

One thread writes (`ghcrawl.embedded.writer`), and readers never wait for it (WAL). Point reads (`rows`) run where they
are asked: an indexed look-up costs less than the hop to another thread and waits for no lock. Scans run in a thread
of their own.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

import structlog

from ghcrawl.embedded.schema import Migration, Schema
from ghcrawl.embedded.writer import Work, Writer
from ghcrawl.values.errors import (
    ConfigError,
    CrawlError,
    QueueError,
    StoreError,
    Unstorable,
)

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
Synchronous = Literal["FULL", "NORMAL", "OFF"]

CHECKPOINT_PAGES: Final = 16_000
"""Pages in the log (64 MB) before they are written home: a page that changed ten times is then written once.

With a million requests waiting, nearly every push and pop changes another page of the index of keys.
"""

GIVEN_BACK_PAGES: Final = 100_000
"""Free pages (400 MB) that a crawl cuts off when it ends: it takes a few seconds at most."""

_SENTENCES: Final = {
    sqlite3.SQLITE_BUSY: "{path} is locked by another process",
    sqlite3.SQLITE_FULL: "no space left for {path}",
    sqlite3.SQLITE_READONLY: "{path} is read-only",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened or created",
    sqlite3.SQLITE_NOTADB: "{path} is no SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged",
}
_HOPELESS: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB)


def storable(text: str) -> str | bytes:
    """`text` as SQLite can hold it. Lone surrogates, which UTF-8 does not have, make it bytes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def restored(value: str | bytes) -> str:
    """The text that `storable` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


class SqliteFile:
    """An open file. `open` makes one; `close` ends its threads after writing everything submitted before."""

    def __init__(self, path: Path, *, synchronous: Synchronous, busy_timeout_s: float, max_pages: int) -> None:
        self.path = path
        self.read_only = path.exists() and not _writable(path)
        self._pragmas = (
            f"PRAGMA synchronous={synchronous}",
            "PRAGMA temp_store=MEMORY",
            f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}",
            "PRAGMA journal_size_limit=67108864",
            "PRAGMA secure_delete=OFF",
            *((f"PRAGMA max_page_count={max_pages}",) if max_pages else ()),
        )
        self._busy_timeout_s = busy_timeout_s
        self._lock: int | None = None
        self._reader: sqlite3.Connection | None = None
        self._scanner: sqlite3.Connection | None = None
        self._scans = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite-scan")
        self._writer = Writer()

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        schema: Sequence[str],
        migrations: Sequence[Migration] = (),
        synchronous: Synchronous = "FULL",
        busy_timeout_s: float = 10.0,
        max_pages: int = 0,
    ) -> SqliteFile:
        """The file at `path`, made if it is not there; for reading only, where this user may not write.

        schema: the statements that make what the adapters need.
        migrations: from each older schema to the next; a file that an older ghcrawl wrote takes those it lacks.
        synchronous: FULL survives a power cut. NORMAL loses the last moments to one, but nothing to a kill.
        max_pages: how far the file may grow, in pages of 4 KB; 0 sets no bound.
        Raises ConfigError for a file that can never serve, StoreError for one that cannot just now.
        """
        file = cls(path, synchronous=synchronous, busy_timeout_s=busy_timeout_s, max_pages=max_pages)
        try:
            await file._writer.start(lambda: file._prepared(Schema(tuple(schema), tuple(migrations))))
            file._reader = file._connect(cache_kb=8_192)
        except sqlite3.Error as error:
            await file.close()
            kind = ConfigError if _primary_code(error) in _HOPELESS else StoreError
            raise file.translated(error, kind) from error
        except (CrawlError, asyncio.CancelledError):
            await file.close()
            raise
        return file

    # Writing

    def submit(self, work: Work[T]) -> asyncio.Future[T]:
        """`work` joins the next transaction. The future has its result after COMMIT, or raises sqlite3.Error.

        Cancelling the future takes nothing back.
        """
        return self._writer.submit(work)

    async def write(self, work: Work[T], error: type[QueueError | StoreError]) -> T:
        """The result of `work`, durable. What goes wrong is raised as `error`; Unstorable where no retry can help."""
        try:
            return await self._writer.submit(work)
        except sqlite3.Error as broken:
            raise self.translated(broken, error) from broken

    # Reading

    def rows(self, sql: str, parameters: Sequence[Any], error: type[QueueError | StoreError]) -> list[Row]:
        """The few rows of an indexed look-up. What goes wrong is raised as `error`."""
        if self._reader is None:
            raise error(f"{self.path} is closed")
        try:
            return self._reader.execute(sql, parameters).fetchall()
        except sqlite3.Error as broken:
            raise self.translated(broken, error) from broken

    async def scan(self, sql: str, parameters: Sequence[Any], error: type[QueueError | StoreError]) -> list[Row]:
        """The rows of a query that may take its time. What goes wrong is raised as `error`."""
        if self._reader is None:
            raise error(f"{self.path} is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._scans, self._scanned, sql, parameters)
        except sqlite3.Error as broken:
            raise self.translated(broken, error) from broken

    def _scanned(self, sql: str, parameters: Sequence[Any]) -> list[Row]:
        if self._scanner is None:
            self._scanner = self._connect(cache_kb=8_192)
        return self._scanner.execute(sql, parameters).fetchall()

    # One crawler a file

    def lock_for_crawling(self) -> None:
        """Lock out other crawling processes until the file is closed. Raises ConfigError if one crawls it already.

        The lock is the kernel's, on a file beside this one: it dies with the process, however that ends.
        """
        if self._lock is not None:
            return
        name = f"{self.path}.lock"
        try:
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be crawled: {name} cannot be written ({error.strerror})") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(lock, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(lock)
            raise ConfigError(f"{self.path} is being crawled by another process (pid {owner})") from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        self._lock = lock

    # The end, and errors

    async def close(self) -> None:
        """What was submitted is written, every thread has ended, and another process may crawl the file."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._scanner is not None:
            await asyncio.get_running_loop().run_in_executor(self._scans, self._scanner.close)
            self._scanner = None
        self._scans.shutdown()
        if self._lock is not None:
            await asyncio.to_thread(self._give_back)
        await self._writer.stop()  # last, because the last to leave writes the log home
        self._unlock()

    def translated(self, error: sqlite3.Error, kind: type[CrawlError]) -> CrawlError:
        """`error` as one sentence about this file."""
        code = _primary_code(error)
        if code == sqlite3.SQLITE_TOOBIG:
            return Unstorable(f"too large for {self.path}")
        sentence = _SENTENCES.get(code)
        return kind(sentence.format(path=self.path) if sentence else f"{self.path}: {error}")

    # Opening

    def _connect(self, *, cache_kb: int) -> sqlite3.Connection:
        uri = self.path.absolute().as_uri()
        if not self.read_only:
            uri += "?mode=rwc"
        elif Path(f"{self.path}-wal").exists():
            uri += "?mode=ro"
        else:  # without a log there is no writer, and a log cannot be made here
            uri += "?mode=ro&immutable=1"
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=self._busy_timeout_s, cached_statements=256
        )
        try:
            for pragma in (*self._pragmas, f"PRAGMA cache_size=-{cache_kb}"):
                connection.execute(pragma)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _prepared(self, schema: Schema) -> sqlite3.Connection:
        if self.path.is_dir():
            raise ConfigError(f"{self.path} is a directory; name a file")
        if not self.path.absolute().parent.is_dir():
            raise ConfigError(f"{self.path} cannot be made: there is no directory {self.path.parent}")
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                return self._connected(schema)
            except sqlite3.OperationalError as error:
                if _primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)  # switching to WAL is the one thing for which SQLite does not wait for others

    def _connected(self, schema: Schema) -> sqlite3.Connection:
        connection = self._connect(cache_kb=65_536)
        try:
            connection.execute("BEGIN")  # one snapshot: another process may be making the file at this moment
            version = schema.version(connection, self.path)
            connection.execute("COMMIT")
            if version == 0:
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # before the first page is written, or never
                connection.execute("PRAGMA journal_mode=WAL")
                schema.create(connection, self.path)
            elif version < schema.newest:
                self._migrate(connection, schema)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection, schema: Schema) -> None:
        """Raises ConfigError where the file cannot be written, or is being crawled by an older ghcrawl."""
        if self.read_only:
            raise ConfigError(f"{self.path} was written by an older ghcrawl and cannot be written here to migrate it")
        self.lock_for_crawling()
        try:
            schema.migrate(connection, self.path)
            log.info("file_migrated", file=str(self.path), schema=schema.newest)
        finally:
            self._unlock()

    def _give_back(self) -> None:
        """Cuts off what the queue needed for a while: a crawl's requests take as much space as its documents."""
        with suppress(sqlite3.Error), closing(self._connect(cache_kb=8_192)) as connection:  # only its size is at stake
            connection.executescript(f"PRAGMA incremental_vacuum({GIVEN_BACK_PAGES})")

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _writable(path: Path) -> bool:
    """Whether this user may write the file, and the log that SQLite keeps beside it."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.absolute().parent))


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
