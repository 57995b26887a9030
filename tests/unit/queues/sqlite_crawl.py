"""One process's view of a SQLite file, as the tests of the embedded queue use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.clock import Clock
from ghcrawl.values.requests import Push
from queues import codec
from queues.sqlite.queue import SqliteQueue
from stores.sqlite.deadletters import SqliteDeadletters
from stores.sqlite.documents import SqliteStore
from stores.sqlite.unit_of_work import SqliteUnitOfWork
from tests.contracts.adapters import open_file
from tests.support.builders import a_request
from tests.support.clock import FakeClock


class Crawl:
    """One process's view of a file."""

    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self.file = file
        self.deadletters = SqliteDeadletters(file, codec)
        self.store = SqliteStore(file)
        self.queue = SqliteQueue(file, clock, bury=self.deadletters.burying)
        self.unit_of_work = SqliteUnitOfWork(file, self.queue, self.store, self.deadletters)


@asynccontextmanager
async def opened(path: Path, clock: Clock | None = None, **over: Any) -> AsyncIterator[Crawl]:
    file = await open_file(path, **over)
    try:
        yield Crawl(file, clock or FakeClock())
    finally:
        await file.close()


def pushes(*numbers: int) -> list[Push]:
    return [Push(request=a_request(number), queue="normal") for number in numbers]
