"""Looking at what waits in RabbitMQ, and forgetting it: for operators, beside the loops and not on their way."""

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
from ghcrawl.values.model import LEGACY_PLATFORM, Lane, Request
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import spoken
from queues.amqp.message import Incoming
from queues.amqp.names import Names, lane_of
from queues.codec import decode
from queues.dedup_protocol import key_of

ANSWER_S: Final = 30.0
SEARCHED: Final = 10_000
"""How many delayed messages, which share their queues, are looked through for those of one queue."""


class Inspection:
    """Asks and empties the broker's queues, on channels of its own. Everything raises QueueError, StoreError."""

    def __init__(self, link: AmqpLink, names: Names, tags: DedupMarkers, clock: Clock) -> None:
        self._link = link
        self._names = names
        self._tags = tags
        self._clock = clock

    async def ready(self, lane: Lane) -> int:
        """How many messages `lane` could hand out."""
        return await self._link.ready_count(self._names.queue(lane))

    async def anything(self, platforms: Iterable[str]) -> bool:
        """Whether any message of these platforms waits, or any at all is delayed or dead."""
        shared = [spec.name for spec in self._names.specs() if spec.role != "work"]
        for name in [*shared, *(spec.name for spec in self._names.work_specs(platforms))]:
            if await self._link.ready_count(name):
                return True
        return False

    async def peek(self, lane: Lane, prefetched: Sequence[Incoming], limit: int) -> Sequence[Request]:
        """Up to `limit` requests that wait, those that `prefetched` holds first.

        The broker counts being looked at as a return, and nothing else changes. What another copy covers is left out:
        it will not be worked on.
        """
        seen = {(incoming.body, incoming.token) for incoming in prefetched}
        shown = await self._requests(prefetched)
        waits = self._names.waits_s if await self._delays(lane) else ()
        async with self._looking() as channel:
            for name in [self._names.queue(lane), *map(self._names.wait, waits)]:
                shown += await self._more(channel, name, lane, limit - len(shown), seen)
        return shown[:limit]

    async def _delays(self, lane: Lane) -> bool:
        """Whether a request of `lane` may be among the delayed ones, as far as tags tell.

        One may stay among them for longer than it should, though never by as much as the longest delay there is.
        """
        overdue = timedelta(seconds=max(self._names.waits_s))
        return bool((await self._tags.delayed(self._clock.now() - overdue)).get(lane))

    async def _has_strays(self) -> bool:
        """Whether there may be delayed messages that no tag tells of: copies of copies, and what a purge left."""
        tagged = sum((await self._tags.delayed(self._clock.now())).values())
        counts = [await self._link.ready_count(self._names.wait(seconds)) for seconds in self._names.waits_s]
        return sum(counts) > tagged

    async def _more(
        self, channel: Channel, name: str, lane: Lane, limit: int, seen: set[tuple[bytes, str | None]]
    ) -> list[Request]:
        """Up to `limit` of those in `name` that belong to `lane` and were not seen yet."""
        shown: list[Request] = []
        for _ in range(SEARCHED if limit > 0 else 0):
            incoming = await got(channel, name)
            if incoming is None or len(shown) >= limit:
                break
            copy = (incoming.body, incoming.token)
            if incoming.lane == lane and copy not in seen:
                seen.add(copy)
                shown += await self._requests([incoming])
        return shown

    async def _requests(self, copies: Sequence[Incoming]) -> list[Request]:
        """Those of these copies that can be read and would be worked on."""
        requests: list[tuple[Request, Incoming]] = []
        for copy in copies:
            with suppress(DecodeError):
                requests.append((decode(copy.content()), copy))
        tags = await self._tags.find([key_of(request) for request, _ in requests])

        def covered(request: Request, copy: Incoming) -> bool:
            tag = tags.get(key_of(request))
            return tag is not None and tag.token != copy.token and tag.covers(copy.queue, request.asked_at)

        return [request for request, copy in requests if not covered(request, copy)]

    async def purge(self, lane: Lane, prefetched: Sequence[Incoming]) -> int:
        """Forget what waits in `lane`. Returns how many messages that were.

        The tags go before and after: whatever happens in between, none is left without its copy. Delayed messages
        share their queues with those of others, which are back there in the end, and which are left alone where none of
        `lane` is among them.
        """
        waits = self._names.waits_s if await self._delays(lane) or await self._has_strays() else ()
        await self._tags.clear(lane)
        gone = 0
        for incoming in prefetched:
            gone += await incoming.ack()
        async with self._looking() as channel:
            purged = await spoken(channel.queue_purge(self._names.queue(lane)), within_s=ANSWER_S)
            gone += purged.message_count or 0
            for seconds in waits:
                gone += await self._sift(channel, self._names.wait(seconds), lane)
        await self._tags.clear(lane)
        return gone

    async def _sift(self, channel: Channel, name: str, lane: Lane) -> int:
        gone = 0
        for _ in range(await self._link.ready_count(name)):
            incoming = await got(channel, name)
            if incoming is None:
                break
            if incoming.lane == lane:
                gone += await incoming.ack()
        return gone

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[Channel]:
        """A channel; what was got on it and not settled is back in its queue in the end."""
        channel = await self._link.channel()
        try:
            yield channel
        finally:
            with suppress(QueueError):
                await spoken(channel.close(), within_s=ANSWER_S)


async def got(channel: Channel, name: str) -> Incoming | None:
    """One message out of a queue, unsettled; None: it is empty."""
    message = await spoken(channel.basic_get(name), within_s=ANSWER_S)
    if isinstance(message.delivery, Basic.GetEmpty):
        return None
    return Incoming(message, lane_of(message.routing_key or "") or Lane(LEGACY_PLATFORM, "later"))
