"""One process's queue on a real clock, for tests of what the contracts cannot ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from ghcrawl.ports.clock import SystemClock
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Push
from queues.amqp.connection import AmqpLink
from queues.amqp.names import Names
from queues.amqp.pops import AmqpDelivery
from queues.amqp.queue import AmqpQueue, open_amqp_queue
from queues.amqp.settings import AmqpSettings
from queues.memory_dedup import MemoryCrashCounter, MemoryDedupMarkers
from stores.memory import MemoryDeadletters
from tests.support.builders import a_request
from tests.support.lanes import lanes
from tests.support.services.rabbitmq import Server

PATIENT_S = 20.0


@dataclass
class Place:
    """Queues that nobody else has, and what all processes of one crawl share."""

    server: Server
    prefix: str = field(default_factory=lambda: f"test-{uuid4().hex[:8]}")
    markers: MemoryDedupMarkers = field(default_factory=MemoryDedupMarkers)
    crashes: MemoryCrashCounter = field(default_factory=MemoryCrashCounter)
    deadletters: MemoryDeadletters = field(default_factory=MemoryDeadletters)

    def settings(self, **over: Any) -> AmqpSettings:
        fields: dict[str, Any] = {
            "url": self.server.url,
            "management_url": self.server.management_url,
            "prefix": self.prefix,
            "waits_s": (0.3, 600.0),
        }
        return AmqpSettings(**(fields | over))

    @property
    def names(self) -> Names:
        return Names(prefix=self.prefix, waits_s=self.settings().waits_s)

    @asynccontextmanager
    async def process(self, **over: Any) -> AsyncIterator[AmqpQueue]:
        """The queue as one process has it."""
        async with open_amqp_queue(
            self.settings(**over),
            markers=self.markers,
            crashes=self.crashes,
            bury=self.deadletters.bury,
            clock=SystemClock(),
        ) as queue:
            yield queue

    async def clear(self) -> None:
        """Nothing of it is left in the broker."""
        link = AmqpLink(self.settings())
        await link.restore()
        channel = await link.channel()
        for spec in self.names.specs():
            await channel.queue_delete(spec.name)
            await channel.exchange_delete(spec.exchange)
        await link.close()


def push_of(*numbers: int, queue: QueueName = "normal", **over: Any) -> list[Push]:
    return [Push(request=a_request(number), queue=queue, **over) for number in numbers]


async def popped(queue: AmqpQueue, *order: QueueName, patience_s: float = PATIENT_S) -> AmqpDelivery:
    delivery = await queue.pop(lanes(*order), patience_s=patience_s)
    assert delivery is not None
    return delivery


async def die(queue: AmqpQueue) -> None:
    """The process is gone, with all it had in hand and in its buffers."""
    await queue.link.close()


async def forgotten(server: Server, prefix: str, *platforms: str) -> None:
    """Nothing that was made under `prefix` is left in the broker."""
    names = Names(prefix=prefix, waits_s=AmqpSettings(url=server.url).waits_s)
    link = AmqpLink(Place(server, prefix).settings())
    await link.restore()
    channel = await link.channel()
    for spec in (*names.specs(), *names.work_specs(platforms)):
        await channel.queue_delete(spec.name)
        await channel.exchange_delete(spec.exchange)
    await link.close()
