"""The servers that benchmarks run on: those that `GHCRAWL_TEST_AMQP_URL` and `GHCRAWL_TEST_MONGO_URL` name, or own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from motor.motor_asyncio import AsyncIOMotorClient

from ghcrawl.backend import Backend
from ghcrawl.settings import Settings
from queues.amqp import AmqpQueue
from tests.support.services.fixtures import keeper
from tests.support.services.mongo import MongoServer
from tests.support.services.rabbitmq import Broker
from tests.support.services.wanted import AMQP_URL, MANAGEMENT_URL, MONGO_URL, distribution

TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Servers:
    """A RabbitMQ and a server that speaks MongoDB's protocol.

    sessions: of the processes of each, where they are ours.
    """

    amqp_url: str
    management_url: str
    mongo_url: str
    sessions: Mapping[str, int] = field(default_factory=dict)

    def settings(self, name: str, **crawl: Any) -> Settings:
        """Queues and documents under a name of their own."""
        return Settings.model_validate(
            {
                "crawl": crawl,
                "queue": {"provider": "amqp"},
                "amqp": {"url": self.amqp_url, "management_url": self.management_url, "prefix": name},
                "store": {"provider": "mongo"},
                "mongo": {"url": self.mongo_url, "database": name, "timeout_s": 120.0},
            }
        )

    async def forget(self, name: str, backend: Backend) -> None:
        """Nothing is left of what was under that name."""
        assert isinstance(backend.queue, AmqpQueue)
        channel = await backend.queue.link.raw_channel()
        for spec in backend.queue.names.specs():
            await channel.queue_delete(spec.name)
            await channel.exchange_delete(spec.exchange)
        client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(self.mongo_url)
        await client.drop_database(name)
        client.close()


@contextmanager
def servers() -> Iterator[Servers]:
    """Both, until the block is left."""
    amqp_url, mongo_url = os.environ.get(AMQP_URL), os.environ.get(MONGO_URL)
    if amqp_url and mongo_url:
        yield Servers(amqp_url=amqp_url, management_url=os.environ.get(MANAGEMENT_URL, ""), mongo_url=mongo_url)
        return
    with keeper("benchmark") as kept:
        mongo, broker = MongoServer(kept), Broker(kept, distribution())
        mongo.start()
        broker.start()
        yield Servers(
            amqp_url=broker.server.url,
            management_url=broker.server.management_url,
            mongo_url=mongo.url,
            sessions={"rabbitmq": broker.session, "database": mongo.session},
        )


def cpu_of(sessions: Mapping[str, int]) -> dict[str, float]:
    """Processor time in seconds of all processes in each session."""
    spent = dict.fromkeys(sessions, 0.0)
    names = {session: name for name, session in sessions.items()}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if name := names.get(int(fields[3])):
            spent[name] += (int(fields[11]) + int(fields[12])) / TICKS
    return spent


def machine_s() -> tuple[float, float]:
    """Processor time that this machine has worked, and that it has had: a machine that is all busy goes no faster."""
    times = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times)


def tell(line: str) -> None:
    """How far it is, on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
