"""The RabbitMQ queue as the contracts use queues.

A broker takes its time: what was confirmed reaches a consumer some moments later, and what a dead process held comes
back some moments after that. The contracts ask at once, so everything here first waits until the broker has done what
it is about to do. Time itself is the test's: the wait queues keep what they get for an hour, and when the test's clock
is moved, what is due is sent back, as if it had expired.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf
from typing import Self
from uuid import uuid4

from ghcrawl.ports.queue import Depth, Pushed
from ghcrawl.values.cancellation import run_to_end
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.connection import AmqpLink
from queues.amqp.inspection import got
from queues.amqp.message import Outgoing
from queues.amqp.names import Names, QueueSpec
from queues.amqp.pops import AmqpDelivery
from queues.amqp.queue import AmqpQueue, open_amqp_queue
from queues.amqp.settings import AmqpSettings
from queues.memory_dedup import MemoryCrashCounter, MemoryDedupMarkers
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sequential_unit_of_work import SequentialUnitOfWork
from tests.contracts.adapters import Rig
from tests.support.clock import FakeClock
from tests.support.lanes import LANES
from tests.support.services.rabbitmq import Server
from tests.support.waiting import until

HOUR_S = 3600.0


class UnhurriedDelivery:
    """A delivery; what it gives back is here again when it says so."""

    def __init__(self, rig: AmqpRig, delivery: AmqpDelivery) -> None:
        self.request, self.queue, self.suspect = delivery.request, delivery.queue, delivery.suspect
        self._rig = rig
        self._delivery = delivery

    async def ack(self) -> None:
        await self._delivery.ack()

    async def release(self) -> None:
        amqp, before = self._rig.amqp, self._rig.unsettled
        is_over = self._delivery not in amqp.pops.in_flight
        covered = await amqp._dedup.take(self.request, self.queue, token=None) == "superfluous"
        await self._delivery.release()
        if not is_over and not covered:
            await until(lambda: self._rig.here_are(before))


class Unhurried:
    """The queue, after a moment: it sees what the broker was about to do."""

    def __init__(self, rig: AmqpRig, queue: AmqpQueue) -> None:
        self._rig = rig
        self._queue = queue

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        return await self._queue.push(pushes)

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> UnhurriedDelivery | None:
        await self._rig.settled(order)
        delivery = await self._queue.pop(order, patience_s=patience_s)
        return None if delivery is None else UnhurriedDelivery(self._rig, delivery)

    async def depths(self) -> Mapping[Lane, Depth]:
        await self._rig.settled()
        return await self._queue.depths()

    async def is_empty(self, platforms: Collection[str] | None = None) -> bool:
        await self._rig.settled()
        return await self._queue.is_empty(platforms)

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        await self._rig.settled()
        return await self._queue.peek(queue, limit=limit, platform=platform)

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        await self._rig.settled()
        return await self._queue.purge(queue, platform=platform)


class AmqpRig(Rig):
    """Made by `opened`."""

    def __init__(self, server: Server, link: AmqpLink) -> None:
        self.clock = self._clock = FakeClock()
        self.store, self.deadletters = MemoryStore(), MemoryDeadletters()
        self.markers, self.crashes = MemoryDedupMarkers(), MemoryCrashCounter()
        self.settings = AmqpSettings(
            url=server.url, prefix=f"test-{uuid4().hex[:8]}", loops=100, waits_s=(HOUR_S,), in_flight=20
        )
        self.names = Names(prefix=self.settings.prefix, waits_s=self.settings.waits_s)
        self._link = link
        self._platforms: list[str] = []
        self._stack = AsyncExitStack()

    @classmethod
    @asynccontextmanager
    async def opened(cls, server: Server) -> AsyncIterator[Self]:
        """Queues that nobody else has, and that are gone in the end."""
        link = AmqpLink(AmqpSettings(url=server.url))
        await link.restore()
        rig = cls(server, link)
        try:
            await rig.open()
            yield rig
        finally:
            await rig._stack.aclose()
            await rig.delete()
            await link.close()

    async def open(self) -> None:
        opening = open_amqp_queue(
            self.settings,
            markers=self.markers,
            crashes=self.crashes,
            bury=self.deadletters.bury,
            clock=self.clock,
            platforms=self._platforms,
        )
        self.amqp = await self._stack.enter_async_context(opening)
        self.queue = Unhurried(self, self.amqp)
        self.unit_of_work = SequentialUnitOfWork(self.queue, self.store, self.deadletters)

    async def delete(self) -> None:
        channel = await self._link.channel()
        for spec in self._specs():
            await channel.queue_delete(spec.name)
            await channel.exchange_delete(spec.exchange)
        await channel.close()

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)
        channel = await self._link.channel()
        while (incoming := await got(channel, self.names.wait(HOUR_S))) is not None:
            if (incoming.copy.not_before_us or inf) <= round(self._clock.now().timestamp() * 1_000_000):
                await self._link.send([replace(incoming.copy, exchange=self.names.work)])
                await incoming.ack()
        await channel.close()

    async def crash(self) -> None:
        waiting = self.unsettled + await self._waiting()
        self._platforms = list(self.amqp._platforms)
        await self.amqp.link.close()  # first, so that nothing is handed back in good order
        await self._stack.aclose()
        await until(lambda: self._waiting_at_least(waiting))
        await self.open()

    async def _waiting(self) -> int:
        return sum([await self._link.ready_count(spec.name) for spec in self._specs()])

    def _specs(self) -> list[QueueSpec]:
        others = [platform for platform in self.amqp._platforms if platform != LEGACY_PLATFORM]
        return [*self.names.specs(), *self.names.work_specs(others)]

    async def _waiting_at_least(self, number: int) -> bool:
        return await self._waiting() >= number

    async def inject(self, queue: QueueName, body: bytes, platform: str = LEGACY_PLATFORM) -> None:
        await self._link.send([Outgoing(self.names.work, Lane(platform, queue), body)])

    @property
    def unsettled(self) -> int:
        """How many messages are here, popped or not."""
        return len(self.amqp.pops.in_flight) + len(self.amqp.held())

    async def here_are(self, number: int) -> bool:
        return self.unsettled >= number

    async def settled(self, order: Sequence[Lane] = ()) -> None:
        """Return once the broker has handed over all that it has to, of these lanes too."""
        await run_to_end(self._settled(order))

    async def _settled(self, order: Sequence[Lane]) -> None:
        await self.amqp.know({lane.platform for lane in order})
        await self.amqp.consumers.want([*LANES, *order])
        while True:
            for lane, consumer in list(self.amqp.consumers._consumers.items()):
                name = self.names.queue(lane)
                await consumer.channel.queue_declare(name, passive=True)
                declared = await consumer.channel.queue_declare(name, passive=True)
                if declared.message_count:  # what was on its way when the first was asked is here by now
                    break
            else:
                if not self.amqp.early.items:
                    return
            await asyncio.sleep(0.002)
