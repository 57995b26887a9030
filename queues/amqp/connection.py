"""Two connections to RabbitMQ, kept alive: one to publish on, one for everything else.

A broker that is short of memory or disk reads nothing more from a connection that publishes, so acks must travel on
another one. Both reconnect by themselves; what was under way then fails, and nothing is repeated behind our back.
"""

from __future__ import annotations

import asyncio
import logging
import platform
from contextlib import suppress
from typing import Final

import structlog
from aio_pika.abc import AbstractRobustChannel, AbstractRobustConnection
from aio_pika.robust_connection import RobustConnection
from aiormq.abc import AbstractChannel as RawChannel
from pamqp.commands import Queue
from yarl import URL

from ghcrawl.values.errors import ConfigError, CrawlError
from queues.amqp.errors import (
    VENDOR,
    BrokerLost,
    place,
    spoken,
    unopened,
)
from queues.amqp.settings import AmqpSettings

log = structlog.stdlib.get_logger(__name__)

CLOSE_S: Final = 5.0
ANSWER_S: Final = 0.1
RECONNECT_S: Final = 1.0
TOLERATED_S: Final = 5.0
"""A broker that is away for less is nobody's trouble."""
UNREADABLE: Final = "is no URL: in its user and password, everything but letters and digits must be percent-encoded"

# What these say of lost connections, we say once and in our own words; the rest is tracebacks of callbacks.
for _name in ("aio_pika", "aiormq"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class AmqpLink:
    """Made by `open_link`."""

    def __init__(
        self, settings: AmqpSettings, consuming: AbstractRobustConnection, publishing: AbstractRobustConnection
    ) -> None:
        self.settings = settings
        self.blocked = False
        self._consuming = consuming
        self._publishing = publishing
        self._bad_since: float | None = None
        self._looking: RawChannel | None = None
        self._opening = asyncio.Lock()

    @property
    def away(self) -> bool:
        """Whether one of the connections is down just now."""
        return not (self._consuming.connected.is_set() and self._publishing.connected.is_set())

    def trouble(self) -> BrokerLost | None:
        """Set while the broker has been away, or has blocked publishing, for longer than can be overlooked."""
        if self._bad_since is None or asyncio.get_running_loop().time() - self._bad_since < TOLERATED_S:
            return None
        what = "is short of memory or disk and accepts nothing" if self.blocked else "is away"
        return BrokerLost(f"RabbitMQ at {place(URL(self.settings.url))} {what}")

    async def check(self) -> None:
        """Notice what has changed since the last check: the broker went, came back, blocked or unblocked."""
        self.blocked = not self.away and await self._is_blocked()
        bad = self.away or self.blocked
        if bad == (self._bad_since is not None):
            return
        self._bad_since = asyncio.get_running_loop().time() if bad else None
        if bad:
            log.warning("broker_blocked" if self.blocked else "broker_lost", broker=place(URL(self.settings.url)))
        else:
            log.info("broker_back", broker=place(URL(self.settings.url)))

    async def _is_blocked(self) -> bool:
        transport = self._publishing.transport
        if transport is None:
            return False
        try:
            async with asyncio.timeout(ANSWER_S):
                await transport.connection.ready()
        except TimeoutError:
            return not self.away
        return False

    async def consumer_channel(self) -> AbstractRobustChannel:
        """A channel to consume on, which comes back with its consumers whenever the connection does."""
        channel = self._consuming.channel()
        await spoken(channel.initialize(), within_s=self.settings.connect_timeout_s)
        return channel

    async def publisher_channel(self) -> AbstractRobustChannel:
        """A channel to publish on, with confirms; what nobody can receive raises."""
        channel = self._publishing.channel(publisher_confirms=True, on_return_raises=True)
        await spoken(channel.initialize(), within_s=self.settings.connect_timeout_s)
        return channel

    async def raw_channel(self) -> RawChannel:
        """A channel for a few questions, which whoever asks them closes. Nothing brings it back. Raises QueueError."""
        transport = self._consuming.transport
        if transport is None or self.away:
            raise BrokerLost(f"RabbitMQ at {place(URL(self.settings.url))} is away")
        opening = transport.connection.channel(publisher_confirms=False)
        return await spoken(opening, within_s=self.settings.connect_timeout_s)

    async def ready_count(self, queue: str) -> int:
        """How many messages in `queue` could be handed out now. Raises QueueError; Unroutable: no such queue."""
        return (await self._declared(queue)).message_count or 0

    async def consumer_count(self, queue: str) -> int:
        """How many consume from `queue`, by the broker's word of this moment. Raises QueueError."""
        return (await self._declared(queue)).consumer_count or 0

    async def _declared(self, queue: str) -> Queue.DeclareOk:
        async with self._opening:
            if self._looking is None or self._looking.is_closed:
                self._looking = await self.raw_channel()
            looking = self._looking
        asking = looking.queue_declare(queue, passive=True)
        return await spoken(asking, within_s=self.settings.connect_timeout_s)

    async def close(self) -> None:
        """Both connections are closed, or were lost anyway."""
        for connection in (self._publishing, self._consuming):
            with suppress(*VENDOR):
                await asyncio.wait_for(connection.close(), CLOSE_S)


def parsed(settings: AmqpSettings) -> URL:
    """The URL with what every connection of ours has. Raises ConfigError."""
    try:
        url = URL(settings.url)
    except ValueError:
        raise ConfigError(f"amqp.url {UNREADABLE}") from None  # the error's words may be the password's
    if url.scheme not in ("amqp", "amqps") or not url.host:
        raise ConfigError("amqp.url must look like amqp://user:password@host:5672/vhost")
    return url.update_query(heartbeat=str(settings.heartbeat_s))


async def open_link(settings: AmqpSettings) -> AmqpLink:
    """Two connections. Raises ConfigError for what waiting will not mend, QueueError for the rest."""
    url = parsed(settings)
    consuming = await _connected(url, "consume", settings.connect_timeout_s)
    try:
        publishing = await _connected(url, "publish", settings.connect_timeout_s)
    except CrawlError:
        await consuming.close()
        raise
    return AmqpLink(settings, consuming, publishing)


async def _connected(url: URL, purpose: str, within_s: float) -> AbstractRobustConnection:
    name = f"ghcrawl {purpose} {platform.node()}"
    connection = RobustConnection(url, reconnect_interval=RECONNECT_S, client_properties={"connection_name": name})
    try:
        await connection.connect(timeout=within_s)
    except VENDOR as error:
        await connection.close()
        raise unopened(error, url) from error
    return connection
