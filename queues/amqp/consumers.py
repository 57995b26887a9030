"""The consumers: a channel for each lane, started by the first pop and stopped when pops cease."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from math import inf
from typing import Final

import structlog
from aiormq.abc import DeliveredMessage
from aiormq.channel import Channel
from msgspec import Struct

from ghcrawl.values.cancellation import all_of, run_to_end
from ghcrawl.values.lanes import Lane
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import Silent, Unroutable, spoken
from queues.amqp.message import Incoming
from queues.amqp.names import DEAD, Names
from queues.amqp.prefetch import Loops

log = structlog.stdlib.get_logger(__name__)


class _Consumer(Struct, frozen=True):
    channel: Channel
    tag: str
    size: int


class Consumers:
    """arrived: called with each message; must not raise.

    A consumer that was lost, with its connection or its queue, is started again when its lane is wanted.
    A queue that does not answer while others do holds up only its own lane, until `probe` finds that it answers.
    Work never runs inside a consumer's callback: the driver cancels those when a channel dies.
    """

    def __init__(self, link: AmqpLink, names: Names, loops: Loops, arrived: Callable[[Incoming], None]) -> None:
        self._link = link
        self.names: Final = names
        self._arrived = arrived
        self._loops = loops
        self._within_s = link.settings.connect_timeout_s
        self._consumers: dict[Lane, _Consumer] = {}
        self._wanted_at: dict[Lane, float] = {}
        self._silent: set[Lane] = set()
        self._failed = False
        self._changing = asyncio.Lock()
        self._alone: Channel | None = None

    @property
    def active(self) -> list[Lane]:
        """The lanes that are consumed here."""
        return [lane for lane in self._consumers if self.hears(lane)]

    def hears(self, lane: Lane) -> bool:
        """Whether `lane` is consumed here: its consumer's channel is open, and its queue was not deleted."""
        known = self._consumers.get(lane)
        return known is not None and not known.channel.is_closed and known.tag in known.channel.consumers

    def attend(self) -> None:
        """Want what the broker sets aside from now on, whether or not anything is popped."""
        self._wanted_at[DEAD] = inf

    async def want(self, lanes: Sequence[Lane]) -> None:
        """Consume those of these lanes that answer, and what the broker sets aside. Raises QueueError if none does."""
        if not lanes:
            return
        self._wanted_at.update(dict.fromkeys(lanes, asyncio.get_running_loop().time()))
        self.attend()
        if not all(map(self._is_settled, lanes)):
            await run_to_end(self._start({DEAD, *lanes}))
        if not any(map(self.hears, lanes)):
            raise Silent(f"RabbitMQ does not answer for {', '.join(map(self.names.queue, lanes))}")

    def _is_settled(self, lane: Lane) -> bool:
        return lane in self._silent or self.hears(lane)

    async def _start(self, lanes: Collection[Lane]) -> None:
        """Not to be cut short: the driver closes a channel on which an answer was not waited for."""
        async with self._changing:
            if self._link.settings.alone and (self._alone is None or self._alone.is_closed):
                self._alone = await self._link.channel()
                claiming = self._alone.queue_declare(f"{self.names.prefix}.alone", exclusive=True)
                await spoken(claiming, within_s=self._within_s)  # else refused, which closes the channel
            if self._failed:
                await self._sort_out([lane for lane in lanes if not self._is_settled(lane)])
            self._failed = not self._link.away
            await all_of([self._begin(lane) for lane in lanes if not self._is_settled(lane)], first=Unroutable)
            self._failed = False

    async def _sort_out(self, lanes: Sequence[Lane]) -> None:
        """Find those that do not answer, after some did not: one of them is enough to lose the connection for all."""
        queues = [*map(self.names.queue, lanes)]
        answering = await all_of(map(self._link.hands_out, queues), first=Unroutable)
        for lane, queue, answers in zip(lanes, queues, answering, strict=True):
            if not answers:
                self._silent.add(lane)
                log.warning("queue_silent", queue=queue, remedy=f"rabbitmqctl delete_queue {queue}; it is filled again")

    async def probe(self) -> None:
        """Consume queues again that were silent and answer now. Raises QueueError."""
        for lane in sorted(self._silent):
            if await self._link.hands_out(self.names.queue(lane)):
                self._silent.discard(lane)
                log.info("queue_answers", queue=self.names.queue(lane))

    def deaf(self) -> list[Lane]:
        """Lanes that are wanted and whose consumer was lost."""
        return [lane for lane in self._wanted_at if not self._is_settled(lane)]

    def unwanted(self) -> list[Lane]:
        """Lanes with a consumer that were not popped from for `hand_back_s`, or whose last stop failed."""
        limit = asyncio.get_running_loop().time() - self._link.settings.hand_back_s
        return [lane for lane in self.active if self._wanted_at.get(lane, 0.0) < limit]

    async def stop(self, lanes: Iterable[Lane]) -> None:
        """Stop consuming these lanes; what was delivered stays deliverable. Raises QueueError."""
        async with self._changing:
            for lane in lanes:
                self._wanted_at.pop(lane, None)
                if self.hears(lane):
                    consumer = self._consumers[lane]
                    await spoken(consumer.channel.basic_cancel(consumer.tag), within_s=self._within_s)

    def misfits(self) -> tuple[list[Lane], list[Lane]]:
        """The lanes whose consumer prefetches more than suits the loops, and those whose consumer prefetches less."""
        excess = {lane: self._consumers[lane].size - self._loops.prefetch(lane) for lane in self.active}
        return [lane for lane in excess if excess[lane] > 0], [lane for lane in excess if excess[lane] < 0]

    async def abandon(self, queues: Collection[str]) -> None:
        """Close what consumed these queues, which were lost and declared again. It is started when it is wanted.

        On the channel that it had, RabbitMQ may hand what waits there now to the consumer of the queue that was lost.
        Raises QueueError.
        """
        async with self._changing:
            lost = [lane for lane in self._consumers if self.names.queue(lane) in queues]
            for channel in [self._consumers.pop(lane).channel for lane in lost]:
                if not channel.is_closed:
                    await spoken(channel.close(), within_s=self._within_s)

    async def _begin(self, lane: Lane) -> None:
        """On the channel that it had, if that is open: what the last one brought is settled there."""
        known, size = self._consumers.get(lane), self._loops.prefetch(lane)
        channel = known.channel if known and not known.channel.is_closed else await self._link.channel()

        async def take(message: DeliveredMessage) -> None:
            self._arrived(Incoming(message, lane))

        await spoken(channel.basic_qos(prefetch_count=size), within_s=self._within_s)
        consuming = await spoken(channel.basic_consume(self.names.queue(lane), take), within_s=self._within_s)
        self._consumers[lane] = _Consumer(channel, consuming.consumer_tag or "", size)
