"""The RabbitMQ queue as the contracts use queues.

A broker takes its time: what was confirmed reaches a consumer some moments later, and what a dead process held comes
back some moments after that. The contracts ask at once, so everything here first waits until the broker has done what
it is about to do. Time itself is the test's: the wait queues keep what they get for an hour, and when the test's clock
is moved, what is due is sent back, as if it had expired.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self
from uuid import uuid4

from ghcrawl.finished import finished
from ghcrawl.model import QUEUES, Push, QueueName, Request
from ghcrawl.ports import Depth, Pushed
from queues.amqp import AmqpQueue, open_amqp_queue
from queues.amqp_link import AmqpLink, open_link
from queues.amqp_looks import got
from queues.amqp_message import Outgoing
from queues.amqp_names import Names
from queues.amqp_pops import AmqpDelivery
from queues.amqp_publisher import Publisher
from queues.amqp_settings import AmqpSettings
from queues.memory_tags import MemoryStarts, MemoryTags
from stores.ledger import SequentialLedger
from stores.memory import MemoryDeadletters, MemoryStore
from tests.contracts.adapters import Rig
from tests.support.clock import FakeClock
from tests.support.services.rabbitmq import Server

HOUR_S = 3600.0


async def until(true: Callable[[], Awaitable[bool]], *, within_s: float = 20.0) -> None:
    """Return once it is true, which the broker brings about and tells nobody."""
    async with asyncio.timeout(within_s):
        while not await true():  # noqa: ASYNC110  # see above
            await asyncio.sleep(0.002)


class UnhurriedDelivery:
    """A delivery; what it gives back is here again when it says so."""

    def __init__(self, rig: AmqpRig, delivery: AmqpDelivery) -> None:
        self.request, self.queue = delivery.request, delivery.queue
        self._rig = rig
        self._delivery = delivery

    async def ack(self) -> None:
        await self._delivery.ack()

    async def release(self) -> None:
        amqp, before = self._rig.amqp, self._rig.unsettled
        is_over = self._delivery not in amqp.pops.in_hand
        covered = await amqp._tagging.take(self.request, self.queue, token=None) == "superfluous"
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

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> UnhurriedDelivery | None:
        await self._rig.settled()
        delivery = await self._queue.pop(order, patience_s=patience_s)
        return None if delivery is None else UnhurriedDelivery(self._rig, delivery)

    async def depths(self) -> Mapping[QueueName, Depth]:
        await self._rig.settled()
        return await self._queue.depths()

    async def is_empty(self) -> bool:
        await self._rig.settled()
        return await self._queue.is_empty()

    async def peek(self, queue: QueueName, *, limit: int) -> Sequence[Request]:
        await self._rig.settled()
        return await self._queue.peek(queue, limit=limit)

    async def purge(self, queue: QueueName) -> int:
        await self._rig.settled()
        return await self._queue.purge(queue)


class AmqpRig(Rig):
    """Made by `opened`."""

    def __init__(self, server: Server, link: AmqpLink, publisher: Publisher) -> None:
        self.clock = self._clock = FakeClock()
        self.store, self.deadletters = MemoryStore(), MemoryDeadletters()
        self.tags, self.starts = MemoryTags(), MemoryStarts()
        self.settings = AmqpSettings(
            url=server.url, prefix=f"test-{uuid4().hex[:8]}", loops=100, waits_s=(HOUR_S,), in_flight=20
        )
        self.names = Names(prefix=self.settings.prefix, waits_s=self.settings.waits_s)
        self._link = link
        self._publisher = publisher
        self._stack = AsyncExitStack()

    @classmethod
    @asynccontextmanager
    async def opened(cls, server: Server) -> AsyncIterator[Self]:
        """Queues that nobody else has, and that are gone in the end."""
        link = await open_link(AmqpSettings(url=server.url))
        rig = cls(server, link, Publisher(link, await link.publisher_channel()))
        try:
            await rig.open()
            yield rig
        finally:
            await rig._stack.aclose()
            await rig.delete()
            await link.close()

    async def open(self) -> None:
        opening = open_amqp_queue(
            self.settings, tags=self.tags, starts=self.starts, bury=self.deadletters.bury, clock=self.clock
        )
        self.amqp = await self._stack.enter_async_context(opening)
        self.queue = Unhurried(self, self.amqp)
        self.ledger = SequentialLedger(self.queue, self.store, self.deadletters)

    async def delete(self) -> None:
        channel = await self._link.raw_channel()
        for spec in self.names.specs():
            await channel.queue_delete(spec.name)
            await channel.exchange_delete(spec.exchange)
        await channel.close()

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)
        channel = await self._link.raw_channel()
        while (incoming := await got(channel, self.names.wait(HOUR_S))) is not None:
            if incoming.not_before is not None and incoming.not_before <= self._clock.now():
                await self._publisher.send([incoming.again(self.names.work)])
                await incoming.ack()
        await channel.close()

    async def crash(self) -> None:
        waiting = self.unsettled + await self._waiting()
        await self.amqp.link.close()  # first, so that nothing is handed back in good order
        await self._stack.aclose()
        await until(lambda: self._waiting_at_least(waiting))
        await self.open()

    async def _waiting(self) -> int:
        return sum([await self._link.ready_count(spec.name) for spec in self.names.specs()])

    async def _waiting_at_least(self, number: int) -> bool:
        return await self._waiting() >= number

    async def inject(self, queue: QueueName, body: bytes) -> None:
        await self._publisher.send([Outgoing(exchange=self.names.work, queue=queue, body=body)])

    @property
    def unsettled(self) -> int:
        """How many messages are here, popped or not."""
        return len(self.amqp.pops.in_hand) + len(self.amqp.held())

    async def here_are(self, number: int) -> bool:
        return self.unsettled >= number

    async def settled(self) -> None:
        """Return once the broker has handed over all that it has to."""
        await finished(self._settled())

    async def _settled(self) -> None:
        await self.amqp.consumers.want(QUEUES)
        while True:
            for consumer in list(self.amqp.consumers._consumers.values()):
                raw = await consumer.channel.get_underlay_channel()
                await raw.queue_declare(consumer.queue.name, passive=True)
                declared = await raw.queue_declare(consumer.queue.name, passive=True)
                if declared.message_count:  # what was on its way when the first was asked is here by now
                    break
            else:
                if not self.amqp.early.held():
                    return
            await asyncio.sleep(0.002)
