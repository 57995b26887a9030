"""The consumers: a channel for each lane, started when somebody pops from it and stopped when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aiormq.abc import DeliveredMessage
from aiormq.channel import Channel

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
    channel: Channel
    tag: str
    size: int

    @property
    def hears(self) -> bool:
        """Whether the broker still knows it: its channel is open, and its queue was not deleted."""
        return not self.channel.is_closed and self.tag in self.channel.consumers


class Consumers:
    """What arrives goes to `arrived` or, from the queue of what the broker set aside, to `died`; neither may raise.

    A consumer that was lost, with its connection or its queue, begins anew when somebody wants its lane.
    Work never runs inside a consumer's callback: the driver cancels those when a channel dies.
    """

    def __init__(
        self, link: AmqpLink, names: Names, arrived: Callable[[Incoming], None], died: Callable[[Incoming], None]
    ) -> None:
        self._link = link
        self.names: Final = names
        self._arrived = arrived
        self._died = died
        self._sizes = prefetch(link.settings.loops)
        self._consumers: dict[Lane, _Consumer] = {}
        self._dead: _Consumer | None = None
        self._wanted_at: dict[Lane, float] = {}
        self._changing = asyncio.Lock()
        self._alone: Channel | None = None

    @property
    def active(self) -> list[Lane]:
        """The lanes that bring something here."""
        return [lane for lane in self._consumers if self.hears(lane)]

    def hears(self, lane: Lane) -> bool:
        """Whether what waits in `lane` is brought here."""
        consumer = self._consumers.get(lane)
        return consumer is not None and consumer.hears

    async def want(self, lanes: Sequence[Lane]) -> None:
        """There are consumers on these lanes, and they were wanted now. Raises QueueError."""
        now = asyncio.get_running_loop().time()
        for lane in lanes:
            self._wanted_at[lane] = now
        if not all(map(self.hears, lanes)):
            await run_to_end(self._start_all(lanes))

    async def attend(self) -> None:
        """What the broker set aside comes here, whether or not anybody pops. Raises QueueError."""
        await run_to_end(self._start_all(()))

    async def _start_all(self, lanes: Sequence[Lane]) -> None:
        """Not to be cut short: the driver closes a channel on which an answer was not waited for."""
        async with self._changing:
            if self._link.settings.alone and (self._alone is None or self._alone.is_closed):
                self._alone = await self._claimed()
            for lane in lanes:
                if not self.hears(lane):
                    await self._begin(lane)
            if self._dead is None or not self._dead.hears:
                died = _into(self._died, Lane(LEGACY_PLATFORM, "normal"))
                self._dead = await self._started(self.names.dead, DEAD_PREFETCH, died)

    async def _claimed(self) -> Channel:
        """Nobody else pops, who asks for the same: a queue that only one connection can have."""
        channel = await self._link.channel()
        asking = channel.queue_declare(f"{self.names.prefix}.alone", exclusive=True)
        try:
            await spoken(asking, within_s=self._link.settings.connect_timeout_s)
        except QueueError:
            await spoken(channel.close(), within_s=self._link.settings.connect_timeout_s)
            raise
        return channel

    def deaf(self) -> list[Lane]:
        """Lanes that somebody wants and whose consumer was lost."""
        return [lane for lane in self._wanted_at if not self.hears(lane)]

    def unwanted(self) -> list[Lane]:
        """Lanes that have a consumer and that nobody has popped from for long."""
        limit = asyncio.get_running_loop().time() - self._link.settings.hand_back_s
        return [lane for lane in self.active if self._wanted_at[lane] < limit]

    async def stop(self, lanes: Iterable[Lane]) -> None:
        """There are no consumers on these lanes; what they brought is still whose it was. Raises QueueError."""
        async with self._changing:
            for lane in lanes:
                self._wanted_at.pop(lane, None)
                await self._stop(lane)

    async def _stop(self, lane: Lane) -> None:
        if self.hears(lane):
            consumer = self._consumers[lane]
            await spoken(consumer.channel.basic_cancel(consumer.tag), within_s=self._link.settings.connect_timeout_s)

    def fit(self, loops: int) -> list[Lane]:
        """From now on consumers begin with what suits so many loops. Returns those that began with something else."""
        self._sizes = prefetch(loops)
        return [lane for lane in self.active if self._consumers[lane].size != self._sizes[lane.queue]]

    def too_large(self, lane: Lane) -> bool:
        """Whether the consumer of `lane` may hold more than fits."""
        return self.hears(lane) and self._consumers[lane].size > self._sizes[lane.queue]

    async def begin_anew(self, lanes: Sequence[Lane]) -> None:
        """Consumers on these lanes have the size that fits; what the old ones brought is still there.

        A size holds for consumers that begin after it was set. Raises QueueError.
        """
        async with self._changing:
            for lane in lanes:
                await self._stop(lane)
                await self._begin(lane)

    async def _begin(self, lane: Lane) -> None:
        """On the channel that it had, if that is open: what the last one brought is settled there."""
        known = self._consumers.get(lane)
        channel = None if known is None or known.channel.is_closed else known.channel
        arrived = _into(self._arrived, lane)
        self._consumers[lane] = await self._started(
            self.names.queue(lane), self._sizes[lane.queue], arrived, channel=channel
        )

    async def _started(
        self,
        queue: str,
        size: int,
        arrived: Callable[[DeliveredMessage], None],
        *,
        channel: Channel | None = None,
    ) -> _Consumer:
        async def take(message: DeliveredMessage) -> None:
            arrived(message)

        async def consume(channel: Channel) -> _Consumer:
            await channel.basic_qos(prefetch_count=size)
            consuming = await channel.basic_consume(queue, take)
            return _Consumer(channel, consuming.consumer_tag or "", size)

        if channel is None:
            channel = await self._link.channel()
        return await spoken(consume(channel), within_s=self._link.settings.connect_timeout_s)


def _into(receive: Callable[[Incoming], None], lane: Lane) -> Callable[[DeliveredMessage], None]:
    return lambda message: receive(Incoming(message, lane))
