"""The consumers: a channel for each lane, started when somebody pops from it and stopped when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aio_pika.abc import AbstractIncomingMessage, AbstractQueue, AbstractRobustChannel

from ghcrawl.values.errors import QueueError
from ghcrawl.values.model import LEGACY_PLATFORM, Lane
from ghcrawl.values.shielded import run_to_end
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import spoken
from queues.amqp.message import Incoming
from queues.amqp.names import Names
from queues.amqp.settings import prefetch

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
        self.active: set[Lane] = set()
        self._link = link
        self.names: Final = names
        self._arrived = arrived
        self._died = died
        self._sizes = prefetch(link.settings.loops)
        self._consumers: dict[str, _Consumer] = {}
        self._wanted_at: dict[Lane, float] = {}
        self._changing = asyncio.Lock()
        self._mark: AbstractQueue | None = None

    async def want(self, lanes: Sequence[Lane]) -> None:
        """There are consumers on these lanes, and they were wanted now. Raises QueueError."""
        now = asyncio.get_running_loop().time()
        for lane in lanes:
            self._wanted_at[lane] = now
        if not self.active.issuperset(lanes):
            await run_to_end(self._start_all(lanes))

    async def attend(self) -> None:
        """What the broker set aside comes here, whether or not anybody pops. Raises QueueError."""
        if self.names.dead not in self._consumers:
            await run_to_end(self._start_all(()))

    async def _start_all(self, lanes: Sequence[Lane]) -> None:
        """Not to be cut short: the driver closes a channel on which an answer was not waited for."""
        async with self._changing:
            if self._link.settings.alone and self._mark is None:
                self._mark = await self._alone()
            for lane in [lane for lane in dict.fromkeys(lanes) if lane not in self.active]:
                await self._begin(lane)
            if self.names.dead not in self._consumers:
                await self._start(self.names.dead, DEAD_PREFETCH, _into(self._died, Lane(LEGACY_PLATFORM, "normal")))

    async def _alone(self) -> AbstractQueue:
        """Nobody else pops, who asks for the same: a queue that only one connection can have."""
        channel = await self._link.consumer_channel()
        asking = channel.declare_queue(f"{self.names.prefix}.alone", exclusive=True)
        try:
            return await spoken(asking, within_s=self._link.settings.connect_timeout_s)
        except QueueError:
            await spoken(channel.close(), within_s=self._link.settings.connect_timeout_s)
            raise

    def unwanted(self) -> list[Lane]:
        """Lanes that have a consumer and that nobody has popped from for long."""
        limit = asyncio.get_running_loop().time() - self._link.settings.hand_back_s
        return [lane for lane in self.active if self._wanted_at[lane] < limit]

    async def stop(self, lanes: Iterable[Lane]) -> None:
        """There are no consumers on these lanes; what they brought is still whose it was. Raises QueueError."""
        async with self._changing:
            for lane in lanes:
                await self._stop(lane)

    async def _stop(self, lane: Lane) -> None:
        if lane in self.active:
            self.active.discard(lane)
            consumer = self._consumers[self.names.queue(lane)]
            await spoken(consumer.queue.cancel(consumer.tag), within_s=self._link.settings.connect_timeout_s)

    def fit(self, loops: int) -> list[Lane]:
        """From now on consumers begin with what suits so many loops. Returns those that began with something else."""
        self._sizes = prefetch(loops)
        return [lane for lane in self.active if self._begun_with(lane) != self._sizes[lane.queue]]

    def too_large(self, lane: Lane) -> bool:
        """Whether the consumer of `lane` may hold more than fits."""
        return lane in self.active and self._begun_with(lane) > self._sizes[lane.queue]

    def _begun_with(self, lane: Lane) -> int:
        return self._consumers[self.names.queue(lane)].size

    async def begin_anew(self, lanes: Sequence[Lane]) -> None:
        """Consumers on these lanes have the size that fits; what the old ones brought is still there.

        A size holds for consumers that begin after it was set. One that cannot begin now does so at the next pop.
        Raises QueueError.
        """
        async with self._changing:
            for lane in lanes:
                await self._stop(lane)
                await self._begin(lane)

    async def _begin(self, lane: Lane) -> None:
        await self._start(self.names.queue(lane), self._sizes[lane.queue], _into(self._arrived, lane))
        self.active.add(lane)

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


def _into(receive: Callable[[Incoming], None], lane: Lane) -> Callable[[AbstractIncomingMessage], None]:
    return lambda message: receive(Incoming(message, lane))
