"""The MongoDB adapters as the contracts use adapters: each rig has a database of its own, and drops it in the end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from motor.motor_asyncio import AsyncIOMotorClient

from queues import codec
from queues.memory import MemoryQueue
from stores.mongo.deadletters import MongoDeadletters
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from stores.sequential_unit_of_work import SequentialUnitOfWork
from tests.contracts.adapters import Rig
from tests.support.clock import FakeClock
from tests.support.services.wanted import MONGO_URL


class MongoRig(Rig):
    """Documents and deadletters in MongoDB, with a queue in memory."""

    def __init__(self, settings: MongoSettings) -> None:
        self.clock = self._clock = FakeClock()
        self.queue = self._queue = MemoryQueue(self._clock)
        self.settings = settings

    async def open(self) -> None:
        self.mongo = await Mongo.open(self.settings)
        self.store = self.documents = await MongoStore.open(self.mongo)
        self.deadletters = await MongoDeadletters.open(self.mongo, codec)
        self.unit_of_work = SequentialUnitOfWork(self.queue, self.store, self.deadletters)

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)

    async def crash(self) -> None:
        await self.mongo.close()
        await self.open()
        self._queue.recover()


def server_url() -> str:
    """The server that the tests use."""
    return os.environ[MONGO_URL]


@asynccontextmanager
async def database(url: str) -> AsyncIterator[MongoSettings]:
    """The settings of a database that nobody else has, and that is gone in the end."""
    name = f"ghcrawl_test_{uuid4().hex[:12]}"
    settings = MongoSettings(url=url, database=name, timeout_s=60, connect_timeout_s=30)  # many tests may run at once
    try:
        yield settings
    finally:
        client: AsyncIOMotorClient[dict[str, object]] = AsyncIOMotorClient(url)
        await client.drop_database(settings.database)
        client.close()


@asynccontextmanager
async def mongo(directory: Path) -> AsyncIterator[MongoRig]:
    """As `tests.contracts.adapters` opens adapters."""
    async with database(server_url()) as settings:
        rig = MongoRig(settings)
        await rig.open()
        try:
            yield rig
        finally:
            await rig.mongo.close()
