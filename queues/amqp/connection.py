"""Two connections to RabbitMQ: one to publish on, one for everything else.

A broker that is short of memory or disk reads nothing more from a connection that publishes, so acks travel on another
one. Nothing is repeated behind our back: `restore` connects again, to a broker that may have lost its queues.
"""

from __future__ import annotations

import asyncio
import logging
import platform
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final, TypeVar, cast

import structlog
from aiormq import Connection
from aiormq.abc import DeliveredMessage
from aiormq.channel import Channel
from pamqp.commands import Queue
from yarl import URL

from ghcrawl.values.cancellation import all_of
from ghcrawl.values.errors import ConfigError, QueueError
from queues.amqp.errors import BrokerLost, Mismatch, Unroutable, place, spoken, unopened
from queues.amqp.message import Outgoing
from queues.amqp.names import QueueSpec, key_of_lane
from queues.amqp.settings import AmqpSettings

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")
CLOSE_S: Final = 5.0
DECLARE_S: Final = 30.0
"""A cluster that elects leaders for eleven queues takes its time."""
ANSWER_S: Final = 0.1
PROBE_S: Final = 3.0
TOLERATED_S: Final = 5.0
"""An absence of the broker that pops wait out."""

logging.getLogger("aiormq").setLevel(logging.CRITICAL)  # what it says of lost connections, we say once and in our words


class AmqpLink:
    """Connected by `restore`. Raises ConfigError for an invalid URL."""

    def __init__(self, settings: AmqpSettings) -> None:
        self.settings = settings
        self.blocked = False
        self._url = parsed(settings)
        self._consuming, self._publishing = Connection(self._url), Connection(self._url)
        self._bad_since: float | None = None
        self._asked: Channel | None = None
        self._asking = asyncio.Lock()
        self._published: Channel | None = None
        self._opening = asyncio.Lock()
        self._slots = asyncio.Semaphore(settings.in_flight)

    @property
    def away(self) -> bool:
        """Whether one of the connections is down."""
        return not (self._consuming.is_opened and self._publishing.is_opened)

    def trouble(self) -> BrokerLost | None:
        """Set while the broker has been away, or has blocked publishing, for longer than `TOLERATED_S`."""
        if self._bad_since is None or asyncio.get_running_loop().time() - self._bad_since < TOLERATED_S:
            return None
        what = "is short of memory or disk and accepts nothing" if self.blocked else "is away"
        return BrokerLost(f"RabbitMQ at {place(self._url)} {what}")

    async def check(self) -> None:
        """Notice that the broker went, came back, blocked or unblocked."""
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
        """Connect where there is no connection. Raises ConfigError for what waiting will not mend, QueueError."""
        if not self._consuming.is_opened:
            await _closed(self._consuming)
            self._consuming = await _connected(self._url, "consume", self.settings.connect_timeout_s)
        if not self._publishing.is_opened:
            await _closed(self._publishing)
            self._publishing = await _connected(self._url, "publish", self.settings.connect_timeout_s)

    async def channel(self, *, publishing: bool = False) -> Channel:
        """A channel with confirms to publish on, or one for anything else. The caller closes it. Raises QueueError."""
        if self.away:
            raise BrokerLost(f"RabbitMQ at {place(self._url)} is away")
        connection = self._publishing if publishing else self._consuming
        opening = connection.channel(publisher_confirms=publishing, on_return_raises=publishing)
        return cast("Channel", await spoken(opening, within_s=self.settings.connect_timeout_s))

    async def send(self, messages: Sequence[Outgoing]) -> None:
        """Return when all of them are durable. Raises QueueError; then each of them may be in the broker, or not."""
        if len(messages) == 1:
            await self._send(messages[0])
        else:
            await all_of(map(self._send, messages), first=Unroutable)

    async def _send(self, message: Outgoing) -> None:
        async with self._slots:
            if self.away:
                raise BrokerLost("RabbitMQ is away")
            if self.blocked:
                raise QueueError("RabbitMQ is short of memory or disk and accepts nothing")
            await spoken(self._publish(message), within_s=self.settings.confirm_timeout_s)

    async def _publish(self, message: Outgoing) -> None:
        """On a channel that declares nothing: a publish to what does not exist fails all that are under way on it."""
        async with self._opening:
            if self._published is None or self._published.is_closed:
                self._published = await self.channel(publishing=True)
        await self._published.basic_publish(
            message.body,
            exchange=message.exchange,
            routing_key=key_of_lane(message.lane),
            properties=message.properties(),
            mandatory=True,
            wait=False,  # the confirm says more than an empty write buffer
        )

    async def ask(self, question: Callable[[Channel], Awaitable[T]], within_s: float = DECLARE_S) -> T:
        """The broker's answer. One question at a time: a refusal closes their channel. Raises QueueError."""
        async with self._asking:
            if self._asked is None or self._asked.is_closed:
                self._asked = await self.channel()
            try:
                return await spoken(question(self._asked), within_s=within_s)
            except BaseException:
                self._asked = None
                raise

    async def declared(self, queue: str) -> Queue.DeclareOk:
        """The messages in `queue` that can be delivered now, and its consumers. Raises QueueError; Unroutable: none."""
        within_s = self.settings.connect_timeout_s
        return await self.ask(lambda channel: channel.queue_declare(queue, passive=True), within_s)

    async def declare(self, specs: Iterable[QueueSpec]) -> list[QueueSpec]:
        """Declare what does not exist. Returns the new queues: they are empty, and messages of older ones are lost.

        A work queue that exists with other arguments is used, with a warning that says what it lacks.
        Raises ConfigError for other differences, QueueError.
        """
        return [spec for spec in specs if await self._declare(spec)]

    async def _declare(self, spec: QueueSpec) -> bool:
        remedy = f"Delete it, or set amqp.prefix to another than {self.settings.prefix!r}"
        exchange, kind = spec.exchange, "direct" if spec.role == "work" else "fanout"
        try:
            await self.ask(lambda channel: channel.exchange_declare(exchange, exchange_type=kind, durable=True))
        except Mismatch as error:
            raise ConfigError(f"RabbitMQ has an exchange {exchange!r} of another kind. {remedy} ({error})") from error
        is_new = False
        try:
            await self.declared(spec.name)
        except Unroutable:
            is_new = True
        try:
            await self.ask(lambda channel: channel.queue_declare(spec.name, durable=True, arguments={**spec.arguments}))
        except Mismatch as error:
            if spec.role == "wait":  # it might never return messages, or drop them
                problem = f"RabbitMQ has a queue {spec.name!r} with other arguments"
                raise ConfigError(f"{problem}. {remedy} ({error})") from error
            log.warning("queue_arguments_kept", queue=spec.name, detail=str(error))
        await self.ask(lambda channel: channel.queue_bind(spec.name, exchange, routing_key=spec.key))
        return is_new

    async def ready_count(self, queue: str) -> int:
        """How many messages of `queue` can be delivered now. Raises QueueError; Unroutable: no such queue."""
        return (await self.declared(queue)).message_count or 0

    async def hands_out(self, queue: str) -> bool:
        """Whether a consumer of `queue` is answered. Raises ConfigError, QueueError; Unroutable: no such queue.

        Asked on a connection of its own: RabbitMQ ends one, at once or a minute later, on which a queue without a
        leader was consumed. What is delivered here waits there again.
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
        """Close both connections."""
        await _closed(self._publishing)
        await _closed(self._consuming)


def checked_url(text: str, setting: str, schemes: Collection[str], example: str) -> URL:
    """The URL of a setting. Raises ConfigError, without the URL: it may hold a password."""
    try:
        url = URL(text)
    except ValueError:
        unreadable = "is no URL: in its user and password, everything but letters and digits must be percent-encoded"
        raise ConfigError(f"{setting} {unreadable}") from None
    if url.scheme not in schemes or not url.host:
        raise ConfigError(f"{setting} must look like {example}")
    return url


def parsed(settings: AmqpSettings) -> URL:
    """The broker's URL, with the heartbeat. Raises ConfigError."""
    url = checked_url(settings.url, "amqp.url", ("amqp", "amqps"), "amqp://user:password@host:5672/vhost")
    return url.update_query(heartbeat=str(settings.heartbeat_s))


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
