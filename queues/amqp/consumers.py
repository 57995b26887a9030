"""The consumers: a channel for each lane, started when somebody pops from it and stopped when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
from aiormq.abc import DeliveredMessage
from aiormq.channel import Channel

from ghcrawl.values.errors import QueueError
from ghcrawl.values.model import LEGACY_PLATFORM, Lane
from ghcrawl.values.shielded import run_to_end
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import Silent, Unroutable, spoken
from queues.amqp.message import Incoming
from queues.amqp.names import Names
from queues.amqp.settings import prefetch

log = structlog.stdlib.get_logger(__name__)

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
    A queue that does not answer while others do holds up only its own lane, until `probe` finds that it answers.
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
        self._silent: set[str] = set()
        self._failed = False
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
        """There are consumers on those of these lanes that answer, and they were wanted now.

        Raises QueueError, also if none of them answers.
        """
        now = asyncio.get_running_loop().time()
        for lane in lanes:
            self._wanted_at[lane] = now
        if not all(map(self._is_settled, lanes)):
            await run_to_end(self._start_all(lanes))
        if lanes and not any(map(self.hears, lanes)):
            raise Silent(f"RabbitMQ does not answer for {', '.join(map(self.names.queue, lanes))}")

    def _is_settled(self, lane: Lane) -> bool:
        return self.hears(lane) or self.names.queue(lane) in self._silent

    async def attend(self) -> None:
        """What the broker set aside comes here, whether or not anybody pops. Raises QueueError."""
        await run_to_end(self._start_all(()))

    async def _start_all(self, lanes: Sequence[Lane]) -> None:
        """Not to be cut short: the driver closes a channel on which an answer was not waited for."""
        async with self._changing:
            if self._link.settings.alone and (self._alone is None or self._alone.is_closed):
                self._alone = await self._claimed()
            begins = {self.names.queue(lane): partial(self._begin, lane) for lane in lanes if not self.hears(lane)}
            if self._dead is None or not self._dead.hears:
                begins[self.names.dead] = partial(self._begin_dead)
            if self._failed:
                await self._sort_out([queue for queue in begins if queue not in self._silent])
            self._failed = not self._link.away
            await _all_of([begin() for queue, begin in begins.items() if queue not in self._silent])
            self._failed = False

    async def _sort_out(self, queues: Sequence[str]) -> None:
        """Which of these do not answer, after some did not: one of them is enough to lose the connection for all."""
        answers = await asyncio.gather(*map(self._link.hands_out, queues), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        for queue, hands_out in zip(queues, answers, strict=True):
            if not hands_out:
                self._silent.add(queue)
                log.warning("queue_silent", queue=queue, remedy=f"rabbitmqctl delete_queue {queue}; it is filled again")

    async def probe(self) -> None:
        """Queues that were silent and that answer now are consumed again. Raises QueueError."""
        for queue in sorted(self._silent):
            if await self._link.hands_out(queue):
                self._silent.discard(queue)
                log.info("queue_answers", queue=queue)

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
        return [lane for lane in self._wanted_at if not self._is_settled(lane)]

    def unwanted(self) -> list[Lane]:
        """Lanes with a consumer that were not popped from for long, or whose last stop failed."""
        limit = asyncio.get_running_loop().time() - self._link.settings.hand_back_s
        return [lane for lane in self.active if self._wanted_at.get(lane, 0.0) < limit]

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

    async def abandon(self, queues: Collection[str]) -> None:
        """These queues were lost and made anew: what consumed them is closed, and begins anew when it is wanted.

        On the channel that it had, RabbitMQ may hand what waits there now to the consumer of the queue that was lost.
        Raises QueueError.
        """
        async with self._changing:
            lost = [lane for lane in self._consumers if self.names.queue(lane) in queues]
            closing = [self._consumers.pop(lane).channel for lane in lost]
            if self._dead is not None and self.names.dead in queues:
                closing.append(self._dead.channel)
                self._dead = None
            for channel in closing:
                if not channel.is_closed:
                    await spoken(channel.close(), within_s=self._link.settings.connect_timeout_s)

    async def _begin(self, lane: Lane) -> None:
        """On the channel that it had, if that is open: what the last one brought is settled there."""
        known = self._consumers.get(lane)
        channel = None if known is None or known.channel.is_closed else known.channel
        arrived = _into(self._arrived, lane)
        self._consumers[lane] = await self._started(
            self.names.queue(lane), self._sizes[lane.queue], arrived, channel=channel
        )

    async def _begin_dead(self) -> None:
        died = _into(self._died, Lane(LEGACY_PLATFORM, "normal"))
        self._dead = await self._started(self.names.dead, DEAD_PREFETCH, died)

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


async def _all_of(starting: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Raises the error that declaring the queues would mend, if there is one, or else any."""
    ends = await asyncio.gather(*starting, return_exceptions=True)
    errors = sorted((end for end in ends if end is not None), key=lambda end: not isinstance(end, Unroutable))
    if errors:
        raise errors[0]
