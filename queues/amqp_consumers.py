"""The consumers: a channel for each queue, started when somebody pops from it and stopped when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aio_pika.abc import AbstractIncomingMessage, AbstractQueue, AbstractRobustChannel

from ghcrawl.errors import QueueError
from ghcrawl.finished import finished
from ghcrawl.model import QUEUES, QueueName
from queues.amqp_errors import spoken
from queues.amqp_link import AmqpLink
from queues.amqp_message import Incoming
from queues.amqp_names import Names
from queues.amqp_settings import prefetch

DEAD_PREFETCH: Final = 10


@dataclass(frozen=True, slots=True)
class _Consumer:
    channel: AbstractRobustChannel
    queue: AbstractQueue
    tag: str
    size: int


class Consumers:
    """What arrives goes to `arrived` or, from the queue of what the broker set aside, to `died`; neither may raise.

    Work never runs inside a consumer's callback: the driver cancels those when a channel dies.
    """

    def __init__(
        self, link: AmqpLink, names: Names, arrived: Callable[[Incoming], None], died: Callable[[Incoming], None]
    ) -> None:
        self.active: set[QueueName] = set()
        self._link = link
        self.names: Final = names
        self._arrived = arrived
        self._died = died
        self._sizes = prefetch(link.settings.loops)
        self._consumers: dict[str, _Consumer] = {}
        self._wanted_at: dict[QueueName, float] = {}
        self._changing = asyncio.Lock()
        self._mark: AbstractQueue | None = None

    async def want(self, queues: Sequence[QueueName]) -> None:
        """There are consumers on these queues, and they were wanted now. Raises QueueError."""
        now = asyncio.get_running_loop().time()
        for name in queues:
            self._wanted_at[name] = now
        if not self.active.issuperset(queues):
            await finished(self._start_all(queues))

    async def attend(self) -> None:
        """What the broker set aside comes here, whether or not anybody pops. Raises QueueError."""
        if self.names.dead not in self._consumers:
            await finished(self._start_all(()))

    async def _start_all(self, queues: Sequence[QueueName]) -> None:
        """Not to be cut short: the driver closes a channel on which an answer was not waited for."""
        async with self._changing:
            if self._link.settings.alone and self._mark is None:
                self._mark = await self._alone()
            for name in [name for name in queues if name not in self.active]:
                await self._begin(name)
            if self.names.dead not in self._consumers:
                await self._start(self.names.dead, DEAD_PREFETCH, _into(self._died, "normal"))

    async def _alone(self) -> AbstractQueue:
        """Nobody else pops, who asks for the same: a queue that only one connection can have."""
        channel = await self._link.consumer_channel()
        asking = channel.declare_queue(f"{self.names.prefix}.alone", exclusive=True)
        try:
            return await spoken(asking, within_s=self._link.settings.connect_timeout_s)
        except QueueError:
            await spoken(channel.close(), within_s=self._link.settings.connect_timeout_s)
            raise

    def unwanted(self) -> list[QueueName]:
        """Queues that have a consumer and that nobody has popped from for long."""
        limit = asyncio.get_running_loop().time() - self._link.settings.hand_back_s
        return [name for name in QUEUES if name in self.active and self._wanted_at[name] < limit]

    async def stop(self, queues: Iterable[QueueName]) -> None:
        """There are no consumers on these queues; what they brought is still whose it was. Raises QueueError."""
        async with self._changing:
            for name in queues:
                await self._stop(name)

    async def _stop(self, name: QueueName) -> None:
        if name in self.active:
            self.active.discard(name)
            consumer = self._consumers[self.names.queue(name)]
            await spoken(consumer.queue.cancel(consumer.tag), within_s=self._link.settings.connect_timeout_s)

    def fit(self, loops: int) -> list[QueueName]:
        """From now on consumers begin with what suits so many loops. Returns those that began with something else."""
        self._sizes = prefetch(loops)
        return [name for name in QUEUES if name in self.active and self._begun_with(name) != self._sizes[name]]

    def too_large(self, queue: QueueName) -> bool:
        """Whether the consumer of `queue` may hold more than fits."""
        return queue in self.active and self._begun_with(queue) > self._sizes[queue]

    def _begun_with(self, queue: QueueName) -> int:
        return self._consumers[self.names.queue(queue)].size

    async def begin_anew(self, queues: Sequence[QueueName]) -> None:
        """Consumers on these queues have the size that fits; what the old ones brought is still there.

        A size holds for consumers that begin after it was set. One that cannot begin now does so at the next pop.
        Raises QueueError.
        """
        async with self._changing:
            for name in queues:
                await self._stop(name)
                await self._begin(name)

    async def _begin(self, name: QueueName) -> None:
        await self._start(self.names.queue(name), self._sizes[name], _into(self._arrived, name))
        self.active.add(name)

    async def _start(self, name: str, size: int, arrived: Callable[[AbstractIncomingMessage], None]) -> None:
        async def take(message: AbstractIncomingMessage) -> None:
            arrived(message)

        async def consume() -> _Consumer:
            known = self._consumers.get(name)
            channel = known.channel if known else await self._link.consumer_channel()
            await channel.set_qos(prefetch_count=size)
            queue = known.queue if known else await channel.get_queue(name)  # passive: it waits for a lost one
            return _Consumer(channel, queue, await queue.consume(take), size)

        if self._link.away:
            raise QueueError("RabbitMQ is away")
        self._consumers[name] = await spoken(consume(), within_s=self._link.settings.connect_timeout_s)


def _into(receive: Callable[[Incoming], None], queue: QueueName) -> Callable[[AbstractIncomingMessage], None]:
    return lambda message: receive(Incoming(message, queue))
