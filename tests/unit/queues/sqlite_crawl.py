"""One process's view of a SQLite file, as the tests of the embedded queue use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ghcrawl.model import Push
from ghcrawl.ports import Clock
from ghcrawl.sqlite_file import SqliteFile
from queues import codec
from queues.sqlite import SqliteQueue
from stores.ledger import SqliteLedger
from stores.sqlite import SqliteStore
from stores.sqlite_deadletters import SqliteDeadletters
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
        self.ledger = SqliteLedger(file, self.queue, self.store, self.deadletters)


@asynccontextmanager
async def opened(path: Path, clock: Clock | None = None, **over: Any) -> AsyncIterator[Crawl]:
    file = await open_file(path, **over)
    try:
        yield Crawl(file, clock or FakeClock())
    finally:
        await file.close()


def pushes(*numbers: int) -> list[Push]:
    return [Push(request=a_request(number), queue="normal") for number in numbers]
