"""Peeking at queues in RabbitMQ and purging them, for operators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final

from aiormq.channel import Channel
from pamqp.commands import Basic

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import DedupMarkers
from ghcrawl.values.errors import DecodeError, QueueError
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import spoken
from queues.amqp.message import Incoming, Outgoing
from queues.amqp.names import Names, lane_of, lanes
from queues.codec import decode
from queues.dedup_protocol import key_of

ANSWER_S: Final = 30.0
SEARCHED: Final = 10_000
"""Messages that one peek looks through: delayed ones of all lanes share their queues."""


class Inspection:
    """On channels of its own. Everything raises QueueError, StoreError."""

    def __init__(self, link: AmqpLink, names: Names, markers: DedupMarkers, clock: Clock) -> None:
        self._link = link
        self._names = names
        self._markers = markers
        self._clock = clock

    async def anything(self, platforms: Iterable[str]) -> bool:
        """Whether any message of these platforms waits, or any at all is delayed or dead."""
        waits, work = map(self._names.wait, self._names.waits_s), map(self._names.queue, lanes(platforms))
        for queue in (self._names.dead, *waits, *work):
            if await self._link.ready_count(queue):
                return True
        return False

    async def peek(self, lane: Lane, prefetched: Sequence[Incoming], limit: int) -> Sequence[Request]:
        """Up to `limit` waiting requests, without superfluous copies. The broker counts each look as a return."""
        seen = {(incoming.copy.body, incoming.copy.token) for incoming in prefetched}
        shown = await self._requests(prefetched)
        waits = await self._waits(lane)
        async with self._looking() as channel:
            for name in [self._names.queue(lane), *waits]:
                async for incoming in drawn(channel, name, SEARCHED if len(shown) < limit else 0):
                    copy = incoming.copy.body, incoming.copy.token
                    if incoming.lane == lane and copy not in seen:
                        seen.add(copy)
                        shown += await self._requests([incoming])
                    if len(shown) >= limit:
                        break
        return shown[:limit]

    async def _waits(self, lane: Lane) -> list[str]:
        """The wait queues, if messages of `lane` may be in them, overdue by less than the longest delay.

        More messages than markers are copies of copies, or what a purge left that was cut off.
        """
        now, waits = self._clock.now(), [*map(self._names.wait, self._names.waits_s)]
        overdue = timedelta(seconds=max(self._names.waits_s))
        if (await self._markers.delayed(now - overdue)).get(lane):
            return waits
        marked = sum((await self._markers.delayed(now)).values())
        return waits if sum([await self._link.ready_count(each) for each in waits]) > marked else []

    async def _requests(self, copies: Sequence[Incoming]) -> list[Request]:
        requests: list[tuple[Request, Outgoing]] = []
        for incoming in copies:
            with suppress(DecodeError):
                requests.append((decode(incoming.content()), incoming.copy))
        markers = await self._markers.find([key_of(request) for request, _ in requests])

        def covered(request: Request, copy: Outgoing) -> bool:
            marker = markers.get(key_of(request))
            return (
                marker is not None and marker.token != copy.token and marker.covers(copy.lane.queue, request.asked_at)
            )

        return [request for request, copy in requests if not covered(request, copy)]

    async def purge(self, lane: Lane, prefetched: Sequence[Incoming]) -> int:
        """Delete the messages of `lane`. Returns how many that were.

        The markers go before and after, so none is left without its message. Delayed messages share their queues with
        those of other lanes, which are back there in the end, and are left alone where none of `lane` is among them.
        """
        waits = await self._waits(lane)
        await self._markers.clear(lane)
        gone = sum([await incoming.ack() for incoming in prefetched])
        async with self._looking() as channel:
            purged = await spoken(channel.queue_purge(self._names.queue(lane)), within_s=ANSWER_S)
            gone += purged.message_count or 0
            for name in waits:
                async for incoming in drawn(channel, name, await self._link.ready_count(name)):
                    if incoming.lane == lane:
                        gone += await incoming.ack()
        await self._markers.clear(lane)
        return gone

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[Channel]:
        """A channel; what was drawn on it and not settled is back in its queue in the end."""
        channel = await self._link.channel()
        try:
            yield channel
        finally:
            with suppress(QueueError):
                await spoken(channel.close(), within_s=ANSWER_S)


async def drawn(channel: Channel, name: str, limit: int) -> AsyncIterator[Incoming]:
    """Up to `limit` messages of a queue, unsettled."""
    for _ in range(limit):
        incoming = await got(channel, name)
        if incoming is None:
            return
        yield incoming


async def got(channel: Channel, name: str) -> Incoming | None:
    """One message of a queue, unsettled; None: it is empty."""
    message = await spoken(channel.basic_get(name), within_s=ANSWER_S)
    if isinstance(message.delivery, Basic.GetEmpty):
        return None
    return Incoming(message, lane_of(message.routing_key or "") or Lane(LEGACY_PLATFORM, "later"))
