"""The vendor's errors, translated once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from aiormq.exceptions import (
    AMQPConnectionError,
    AMQPError,
    AuthenticationError,
    ChannelInvalidStateError,
    ChannelLockedResource,
    ChannelNotFoundEntity,
    ChannelPreconditionFailed,
    ConnectionNotAllowed,
    DeliveryError,
    IncompatibleProtocolError,
    InvalidFrameError,
    ProbableAuthenticationError,
    PublishError,
)
from pamqp.exceptions import PAMQPException
from yarl import URL

from ghcrawl.values.errors import ConfigError, CrawlError, QueueError

T = TypeVar("T")
MAX_FRAME: Final = 1 << 28
"""No broker's frame is so long; text that is taken for a frame is longer."""

_VENDOR: Final = (AMQPError, ChannelInvalidStateError, PAMQPException, OSError, TimeoutError, RuntimeError)
"""All that a call may raise, beside `Exception` itself. RuntimeError says that a connection is closed."""


class BrokerLost(QueueError):
    """The broker is away, or gave us up; nobody knows whether what was under way was done."""


class Silent(BrokerLost):
    """The broker did not answer in time: it, or only the queue that it was asked about, has stopped."""


class Unroutable(QueueError):
    """The broker has no queue for a message: what we declared is not there any more."""


class Mismatch(QueueError):
    """What we declare is there already, and is otherwise."""


async def spoken(call: Awaitable[T], *, within_s: float | None = None) -> T:
    """The result of a call to the broker, which may take `within_s`. Raises QueueError.

    When the vendor gives a connection up, whoever waits for an answer on it is cancelled, although nobody wants that
    task to end: only a cancellation that somebody asked for goes on as one. And what a close cut off raises `Exception`
    itself, which nobody else does.
    """
    try:
        async with asyncio.timeout(within_s):
            return await call
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise BrokerLost("the connection to RabbitMQ was given up") from None
    except Exception as error:
        if isinstance(error, _VENDOR) or type(error) is Exception:
            raise _translated(error) from error
        raise


def _translated(error: Exception) -> QueueError:
    """What a vendor's error means."""
    match error:
        case PublishError() | ChannelNotFoundEntity():
            return Unroutable(f"RabbitMQ has lost what was declared there: {said(error)}")
        case ChannelLockedResource():
            return QueueError("another process pops from these queues, and keeps what it knows of them to itself")
        case ChannelPreconditionFailed():
            return Mismatch(said(error))
        case DeliveryError():
            return QueueError(f"RabbitMQ refused a message: {said(error)}")
        case TimeoutError():
            return Silent("RabbitMQ does not answer")
    return BrokerLost(f"RabbitMQ is not there: {said(error)}")


def unopened(error: BaseException, url: URL) -> CrawlError:
    """Why there is no connection, and what to do about it."""
    at, user = place(url), url.user or "guest"
    match error:
        case ProbableAuthenticationError() | AuthenticationError():
            return ConfigError(f"RabbitMQ at {at} does not let the user {user!r} in: check name and password")
        case ConnectionNotAllowed() | InvalidFrameError():
            # Logged in, and closed on instead of let into the virtual host: the vendor drops the broker's own words.
            vhost = url.path.removeprefix("/") or "/"
            remedy = "rabbitmqctl add_vhost and set_permissions"
            return ConfigError(f"RabbitMQ at {at} has no virtual host {vhost!r} that {user!r} may use: {remedy}")
        case IncompatibleProtocolError():
            return ConfigError(f"what listens at {at} does not speak AMQP 0-9-1: RabbitMQ's own port is 5672")
        case AMQPConnectionError(__cause__=asyncio.IncompleteReadError(expected=int() as size)) if size > MAX_FRAME:
            return ConfigError(f"what listens at {at} does not speak AMQP 0-9-1: RabbitMQ's own port is 5672")
        case TimeoutError():
            return QueueError(f"nobody answers in AMQP at {at}: RabbitMQ's own port is 5672")
    return QueueError(f"RabbitMQ at {at} cannot be reached: {said(error)}")


def place(url: URL) -> str:
    """Host and port, and nothing secret."""
    return f"{url.host}:{url.port or (5671 if url.scheme == 'amqps' else 5672)}"


def said(error: BaseException) -> str:
    """The error's own words, or its name where it has none."""
    words = [str(argument) for argument in error.args if argument] or [str(error)]
    return (" ".join(words).strip() or type(error).__name__)[:500]
