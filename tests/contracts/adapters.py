"""Every adapter there is, each as something that a contract can use, crash and use again.

A new adapter is one more line in `QUEUES`, `STORES`, `DEADLETTERS` or `LEDGERS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias
from uuid import uuid4

import pytest

from ghcrawl.backend import MIGRATIONS, SCHEMA
from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.deadletters import Deadletters
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.store import Store
from ghcrawl.ports.unit_of_work import UnitOfWork
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues import codec
from queues.memory import MemoryQueue
from queues.merging import URGENCY
from queues.sqlite.queue import SqliteQueue
from queues.sqlite.table import Arrival, insert
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sequential_unit_of_work import SequentialUnitOfWork
from stores.sqlite.deadletters import SqliteDeadletters
from stores.sqlite.documents import SqliteStore
from stores.sqlite.unit_of_work import SqliteUnitOfWork
from tests.support.clock import FakeClock


class Rig(ABC):
    """All that one crawl is made of, on one kind of adapter. An adapter brings what it has and borrows the rest."""

    queue: Queue
    store: Store
    deadletters: Deadletters
    unit_of_work: UnitOfWork
    clock: Clock

    @abstractmethod
    async def advance(self, seconds: float) -> None:
        """That much time passes for this adapter."""

    @abstractmethod
    async def crash(self) -> None:
        """Whoever had requests in hand is gone; what this rig holds now is what the next process finds."""

    async def inject(self, queue: QueueName, body: bytes, platform: str = LEGACY_PLATFORM) -> None:
        """Bytes that no codec wrote wait where messages wait."""
        pytest.skip(f"nobody but the queue itself can put {body!r} into {queue}")


class MemoryRig(Rig):
    def __init__(self) -> None:
        self.clock = self._clock = FakeClock()
        self.queue = self._queue = MemoryQueue(self._clock)
        self.store, self.deadletters = MemoryStore(), MemoryDeadletters()
        self.unit_of_work = SequentialUnitOfWork(self.queue, self.store, self.deadletters)

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)

    async def crash(self) -> None:
        self._queue.recover()


class SqliteRig(Rig):
    def __init__(self, path: Path) -> None:
        self.clock = self._clock = FakeClock()
        self.path = path

    async def open(self) -> None:
        self.file = await open_file(self.path)
        self.deadletters = deadletters = SqliteDeadletters(self.file, codec)
        self.store = store = SqliteStore(self.file)
        self.queue = queue = SqliteQueue(self.file, self.clock, bury=deadletters.burying)
        self.unit_of_work = SqliteUnitOfWork(self.file, queue, store, deadletters)
        await queue.take_over()

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)

    async def crash(self) -> None:
        await self.file.close()
        await self.open()

    async def inject(self, queue: QueueName, body: bytes, platform: str = LEGACY_PLATFORM) -> None:
        arrival = Arrival(platform, URGENCY[queue], uuid4().bytes, None, 0, body)
        await self.file.submit(Work(lambda connection: insert(connection, [arrival])))


async def open_file(path: Path, **over: Any) -> SqliteFile:
    """A file with the whole schema; without fsync, because no test cuts the power."""
    return await SqliteFile.open(path, **({"schema": SCHEMA, "migrations": MIGRATIONS, "synchronous": "OFF"} | over))


Opener: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Rig]]


@asynccontextmanager
async def memory(directory: Path) -> AsyncIterator[Rig]:
    yield MemoryRig()


@asynccontextmanager
async def sqlite(directory: Path) -> AsyncIterator[Rig]:
    rig = SqliteRig(directory / "crawl.db")
    await rig.open()
    try:
        yield rig
    finally:
        await rig.file.close()


@asynccontextmanager
async def sequential_sqlite(directory: Path) -> AsyncIterator[Rig]:
    """The SQLite adapters, settled one after another, as if each had a server of its own."""
    async with sqlite(directory) as rig:
        rig.unit_of_work = SequentialUnitOfWork(rig.queue, rig.store, rig.deadletters)
        yield rig


QUEUES: Final[Mapping[str, Opener]] = {"memory": memory, "sqlite": sqlite}
STORES: Final[Mapping[str, Opener]] = {"memory": memory, "sqlite": sqlite}
DEADLETTERS: Final[Mapping[str, Opener]] = {"memory": memory, "sqlite": sqlite}
LEDGERS: Final[Mapping[str, Opener]] = {
    "memory": memory,
    "sqlite": sqlite,
    "sqlite-sequential": sequential_sqlite,
}
