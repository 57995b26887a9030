"""What will never be worked on again becomes a deadletter.

That is a body which nobody can read, a message that keeps killing its process, and whatever the broker set aside.

The urn of such a deadletter follows from the message, so filing it again after a crash changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Final, TypeAlias
from uuid import UUID

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter, DedupMarkers
from ghcrawl.values.errors import DecodeError
from ghcrawl.values.model import (
    UNREADABLE,
    Deadletter,
    Failure,
    QueueName,
    Request,
)
from queues.amqp.message import Incoming, Outgoing
from queues.amqp.names import Names
from queues.amqp.publisher import Publisher
from queues.codec import decode
from queues.dedup_protocol import key_of

log = structlog.stdlib.get_logger(__name__)

Bury: TypeAlias = Callable[[Deadletter], Awaitable[None]]
"""Files a deadletter; to file the same one again changes nothing."""

LIMIT: Final = "delivery_limit"
MAX_PARDONS: Final = 3
MAX_SPARED: Final = 1000
"""Whoever looks at what waits counts as one who returned it, so that what nobody popped has done nothing. There is a
bound all the same: what kills its process before it could be popped looks the same."""
_REASONS: Final = {
    LIMIT: "it came back to its queue so often that RabbitMQ set it aside: whoever had it was gone each time",
    "rejected": "somebody rejected it",
    "expired": "it expired in its queue",
    "maxlen": "its queue was full",
}


def name_of(request: Request, token: str | None) -> str:
    """What `Starts` knows a message by."""
    return f"{key_of(request)}:{token or ''}"


class DeadLetterHandler:
    """Files deadletters for messages. Each call settles its message in the end; raises StoreError, QueueError."""

    def __init__(self, bury: Bury, tags: DedupMarkers, starts: CrashCounter, clock: Clock) -> None:
        self._bury = bury
        self._tags = tags
        self._starts = starts
        self._clock = clock

    async def file_undecodable(self, incoming: Incoming, error: DecodeError, queue: QueueName) -> None:
        """A message that is no request: its bytes are kept, with a stand-in for what it might have asked."""
        log.warning("message_undecodable", queue=queue, error=str(error))
        failure = Failure(at=self._clock.now(), cause="undecodable", message=str(error))
        await self._bury(Deadletter.of(UNREADABLE, queue, failure, urn=_urn(error.body), raw=error.body))
        await incoming.ack()

    async def file_killer(self, incoming: Incoming, request: Request, starts: int) -> None:
        """A request whose process was gone every time that it was worked on."""
        reason = f"work on it was begun {starts} times, and each time the process that had it was gone"
        await self._file(incoming, request, incoming.queue, "killed_worker", reason)

    async def file_dead(self, incoming: Incoming, publisher: Publisher, names: Names) -> None:
        """What the broker set aside: an innocent neighbour of a killer goes back to work, the rest is filed."""
        why, lane = incoming.death
        try:
            request = decode(incoming.content())
        except DecodeError as error:
            await self.file_undecodable(incoming, error, lane.queue)
            return
        pardoned = await self._pardoned(incoming, request, names.work) if why == LIMIT else None
        if pardoned is not None:
            await publisher.send([replace(pardoned, lane=lane)])
            await incoming.ack()
            return
        kind = "delivery_limit" if why == LIMIT else "set_aside"
        await self._file(incoming, request, lane.queue, kind, _REASONS.get(why, f"RabbitMQ set it aside: {why}"))

    async def _pardoned(self, incoming: Incoming, request: Request, work: str) -> Outgoing | None:
        """The message that goes back to work; None: it may have killed whoever had it, or came back too often."""
        if await self._starts.count(name_of(request, incoming.token)):
            return None
        tag = (await self._tags.find([key_of(request)])).get(key_of(request))
        if tag is not None and tag.token == incoming.token and incoming.spared < MAX_SPARED:
            log.info("message_spared", queue=incoming.queue, url=request.url, spared=incoming.spared + 1)
            return incoming.again(work, spared=1)
        if incoming.pardons < MAX_PARDONS:
            log.warning("message_pardoned", queue=incoming.queue, url=request.url, pardons=incoming.pardons + 1)
            return incoming.again(work, pardons=1)
        return None

    async def _file(self, incoming: Incoming, request: Request, queue: QueueName, kind: str, reason: str) -> None:
        log.error("message_set_aside", queue=queue, url=request.url, kind=kind)
        name = name_of(request, incoming.token)
        failure = Failure(at=self._clock.now(), cause=kind, message=reason)
        await self._bury(Deadletter.of(request, queue, failure, urn=_urn(name.encode())))
        if incoming.token is not None:
            await self._tags.delete(key_of(request), incoming.token)
        await self._starts.forget(name)
        await incoming.ack()


def _urn(message: bytes) -> str:
    """The same for the same message: filed twice, it is one deadletter."""
    return f"urn:deadletter:{UUID(bytes=blake2b(message, digest_size=16).digest(), version=4)}"
