"""Two connections to RabbitMQ: one to publish on, one for everything else.

A broker that is short of memory or disk reads nothing more from a connection that publishes, so acks must travel on
another one. What is lost is made anew by `restore`, and nothing is repeated behind our back: whoever had a channel on a
lost connection opens another, on a broker that may have lost everything that was declared there.
"""

from __future__ import annotations

import asyncio
import logging
import platform
from contextlib import suppress
from typing import Any, Final, cast

import structlog
from aiormq import Connection
from aiormq.abc import DeliveredMessage
from aiormq.channel import Channel
from pamqp.commands import Queue
from yarl import URL

from ghcrawl.values.errors import ConfigError, CrawlError, QueueError
from queues.amqp.errors import BrokerLost, place, spoken, unopened
from queues.amqp.settings import AmqpSettings

log = structlog.stdlib.get_logger(__name__)

CLOSE_S: Final = 5.0
ANSWER_S: Final = 0.1
PROBE_S: Final = 3.0
TOLERATED_S: Final = 5.0
"""A broker that is away for less is nobody's trouble."""
UNREADABLE: Final = "is no URL: in its user and password, everything but letters and digits must be percent-encoded"

logging.getLogger("aiormq").setLevel(logging.CRITICAL)  # what it says of lost connections, we say once and in our words


class AmqpLink:
    """Made by `open_link`."""

    def __init__(self, settings: AmqpSettings, url: URL, consuming: Connection, publishing: Connection) -> None:
        self.settings = settings
        self.blocked = False
        self._url = url
        self._consuming = consuming
        self._publishing = publishing
        self._bad_since: float | None = None
        self._looking: Channel | None = None
        self._opening = asyncio.Lock()

    @property
    def away(self) -> bool:
        """Whether one of the connections is down just now."""
        return not (self._consuming.is_opened and self._publishing.is_opened)

    def trouble(self) -> BrokerLost | None:
        """Set while the broker has been away, or has blocked publishing, for longer than can be overlooked."""
        if self._bad_since is None or asyncio.get_running_loop().time() - self._bad_since < TOLERATED_S:
            return None
        what = "is short of memory or disk and accepts nothing" if self.blocked else "is away"
        return BrokerLost(f"RabbitMQ at {place(self._url)} {what}")

    async def check(self) -> None:
        """Notice what has changed since the last check: the broker went, came back, blocked or unblocked."""
        self.blocked = not self.away and await self._is_blocked()
        bad = self.away or self.blocked
        if bad == (self._bad_since is not None):
            return
        self._bad_since = asyncio.get_running_loop().time() if bad else None
        if bad:
            log.warning("broker_blocked" if self.blocked else "broker_lost", broker=place(self._url))
        else:
            log.info("broker_back", broker=place(self._url))

    async def _is_blocked(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._publishing.ready()
        except TimeoutError:
            return not self.away
        return False

    async def restore(self) -> None:
        """A connection that was lost is there again. Raises ConfigError, QueueError."""
        if not self._publishing.is_opened:
            await _closed(self._publishing)
            self._publishing = await _connected(self._url, "publish", self.settings.connect_timeout_s)
        if not self._consuming.is_opened:
            await _closed(self._consuming)
            self._consuming = await _connected(self._url, "consume", self.settings.connect_timeout_s)

    async def publisher_channel(self) -> Channel:
        """A channel to publish on, with confirms; what nobody can receive raises. Raises QueueError."""
        return await self._channel(self._publishing, publisher_confirms=True, on_return_raises=True)

    async def channel(self) -> Channel:
        """A channel for anything but publishing, which whoever asks for it closes. Raises QueueError."""
        return await self._channel(self._consuming, publisher_confirms=False)

    async def _channel(self, connection: Connection, **what: Any) -> Channel:
        if self.away:
            raise BrokerLost(f"RabbitMQ at {place(self._url)} is away")
        channel = await spoken(connection.channel(**what), within_s=self.settings.connect_timeout_s)
        return cast("Channel", channel)

    async def ready_count(self, queue: str) -> int:
        """How many messages in `queue` could be handed out now. Raises QueueError; Unroutable: no such queue."""
        return (await self._declared(queue)).message_count or 0

    async def consumer_count(self, queue: str) -> int:
        """How many consume from `queue`, by the broker's word of this moment. Raises QueueError."""
        return (await self._declared(queue)).consumer_count or 0

    async def _declared(self, queue: str) -> Queue.DeclareOk:
        async with self._opening:
            if self._looking is None or self._looking.is_closed:
                self._looking = await self.channel()
            looking = self._looking
        asking = looking.queue_declare(queue, passive=True)
        return await spoken(asking, within_s=self.settings.connect_timeout_s)

    async def hands_out(self, queue: str) -> bool:
        """Whether consumers of `queue` are answered. Raises ConfigError, QueueError; Unroutable: no such queue.

        Asked on a connection of its own: RabbitMQ ends one, at once or a minute later, on which a queue without a
        leader was asked to hand something out. What it hands out here waits there again.
        """
        connection = await _connected(self._url, "probe", PROBE_S)
        try:
            await spoken(_consuming(connection, queue), within_s=PROBE_S)
        except BrokerLost:
            return False
        finally:
            await _closed(connection)
        return True

    async def close(self) -> None:
        """Both connections are closed, or were lost anyway."""
        await _closed(self._publishing)
        await _closed(self._consuming)


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
        await _closed(consuming)
        raise
    return AmqpLink(settings, url, consuming, publishing)


async def _connected(url: URL, purpose: str, within_s: float) -> Connection:
    connection = Connection(url)
    named = {"connection_name": f"ghcrawl {purpose} {platform.node()}"}
    try:
        await spoken(connection.connect(client_properties=named), within_s=within_s)
    except QueueError as error:
        await _closed(connection)
        raise unopened(error.__cause__ or error, url) from error
    return connection


async def _consuming(connection: Connection, queue: str) -> None:
    async def ignore(_message: DeliveredMessage) -> None: ...

    channel = await connection.channel(publisher_confirms=False)
    await channel.basic_qos(prefetch_count=1)
    await channel.basic_consume(queue, ignore)


async def _closed(connection: Connection) -> None:
    with suppress(QueueError):
        await spoken(connection.close(), within_s=CLOSE_S)
