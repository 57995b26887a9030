"""Deadletters for undecodable bodies, for messages that kill their process, and for what the broker set aside.

The urn of such a deadletter follows from the message, so filing it again after a crash changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Final, TypeAlias
from uuid import UUID

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter, DedupMarkers
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import DecodeError
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Failure, Request, unreadable
from queues.amqp.message import Incoming, Outgoing
from queues.codec import decode
from queues.dedup_protocol import key_of

log = structlog.stdlib.get_logger(__name__)

Bury: TypeAlias = Callable[[Deadletter], Awaitable[None]]
"""Files a deadletter; to file the same one again changes nothing."""

LIMIT: Final = "delivery_limit"
MAX_PARDONS: Final = 3
MAX_SPARED: Final = 1000
"""RabbitMQ counts a look as a return, so a message that was never popped is innocent. But one that kills its process
before it is popped looks the same."""
_REASONS: Final = {
    LIMIT: "it was redelivered up to the delivery limit of RabbitMQ: its process died each time",
    "rejected": "a consumer rejected it",
    "expired": "it expired in its queue",
    "maxlen": "its queue was full",
}


def name_of(request: Request, token: str | None) -> str:
    """The name of a message in the `CrashCounter`."""
    return f"{key_of(request)}:{token or ''}"


class DeadLetterHandler:
    """Files deadletters for messages, and acks these. Raises StoreError."""

    def __init__(self, bury: Bury, markers: DedupMarkers, crashes: CrashCounter, clock: Clock) -> None:
        self._bury = bury
        self._markers = markers
        self._crashes = crashes
        self._clock = clock

    async def file_undecodable(self, incoming: Incoming, error: DecodeError, lane: Lane) -> None:
        """The deadletter keeps the bytes."""
        log.warning("message_undecodable", queue=lane.queue, error=str(error))
        failure = Failure(at=self._clock.now(), cause="undecodable", message=str(error))
        request = unreadable(lane.platform)
        await self._bury(Deadletter.of(request, lane.queue, failure, urn=_urn(error.body), raw=error.body))
        await incoming.ack()

    async def file_killer(self, incoming: Incoming, request: Request, crashes: int) -> None:
        """A request whose process died each time that it was worked on."""
        reason = f"it was started {crashes} times, and its process died each time"
        await self._file(incoming, request, incoming.lane.queue, "killed_worker", reason)

    async def file_dead(self, incoming: Incoming) -> Outgoing | None:
        """What the broker set aside. Returns what goes back to work instead: the innocent neighbour of a killer."""
        why, lane = incoming.death
        try:
            request = decode(incoming.content())
        except DecodeError as error:
            await self.file_undecodable(incoming, error, lane)
            return None
        copy = replace(incoming.copy, lane=lane, left_s=0.0)
        if why == LIMIT and (pardoned := await self._pardoned(copy, request)):
            return pardoned
        kind = "delivery_limit" if why == LIMIT else "set_aside"
        await self._file(incoming, request, lane.queue, kind, _REASONS.get(why, f"RabbitMQ set it aside: {why}"))
        return None

    async def _pardoned(self, copy: Outgoing, request: Request) -> Outgoing | None:
        """The message that goes back to work; None: it may have killed its process, or came back too often."""
        key = key_of(request)
        if await self._crashes.count(name_of(request, copy.token)):
            return None
        marker = (await self._markers.find([key])).get(key)
        if marker is not None and marker.token == copy.token and copy.spared < MAX_SPARED:
            log.info("message_spared", queue=copy.lane.queue, url=request.url, spared=copy.spared + 1)
            return replace(copy, spared=copy.spared + 1)
        if copy.pardons < MAX_PARDONS:
            log.warning("message_pardoned", queue=copy.lane.queue, url=request.url, pardons=copy.pardons + 1)
            return replace(copy, pardons=copy.pardons + 1)
        return None

    async def _file(self, incoming: Incoming, request: Request, queue: QueueName, kind: str, reason: str) -> None:
        log.error("message_set_aside", queue=queue, url=request.url, kind=kind)
        name = name_of(request, incoming.copy.token)
        failure = Failure(at=self._clock.now(), cause=kind, message=reason)
        await self._bury(Deadletter.of(request, queue, failure, urn=_urn(name.encode())))
        if incoming.copy.token is not None:
            await self._markers.delete(key_of(request), incoming.copy.token)
        await self._crashes.forget(name)
        await incoming.ack()


def _urn(message: bytes) -> str:
    return f"urn:deadletter:{UUID(bytes=blake2b(message, digest_size=16).digest(), version=4)}"
