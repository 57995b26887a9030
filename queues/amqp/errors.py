"""The driver's errors, translated once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from aiormq import exceptions as driver
from pamqp.exceptions import PAMQPException
from yarl import URL

from ghcrawl.values.errors import ConfigError, CrawlError, QueueError

T = TypeVar("T")
MAX_FRAME: Final = 1 << 28
"""No frame of a broker is that long; text that is taken for a frame is longer."""
_DRIVER: Final = (
    driver.AMQPError,
    driver.ChannelInvalidStateError,
    PAMQPException,
    OSError,
    TimeoutError,
    RuntimeError,
)
"""All that a call may raise, beside `Exception` itself. RuntimeError says that a connection is closed."""


class BrokerLost(QueueError):
    """The broker is away; whether the call was done is unknown."""


class Silent(BrokerLost):
    """The broker did not answer in time: it, or only the queue that the call was about, has stopped."""


class Unroutable(QueueError):
    """The broker has lost a queue or exchange that was declared."""


class Mismatch(QueueError):
    """It exists with other arguments."""


async def spoken(call: Awaitable[T], *, within_s: float | None = None) -> T:
    """The result of a call to the broker. Raises QueueError.

    When the driver closes a connection, it cancels those that wait for an answer, and raises `Exception` itself where a
    close cuts a call off. Only a cancellation that was requested goes on as one.
    """
    try:
        async with asyncio.timeout(within_s):
            return await call
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise BrokerLost("the connection to RabbitMQ was closed") from None
    except Exception as error:
        if isinstance(error, _DRIVER) or type(error) is Exception:
            raise _translated(error) from error
        raise


def _translated(error: Exception) -> QueueError:
    match error:
        case driver.PublishError() | driver.ChannelNotFoundEntity():
            return Unroutable(f"RabbitMQ has lost a queue or an exchange: {said(error)}")
        case driver.ChannelLockedResource():
            return QueueError("another process pops from these queues, and does not share its dedup markers")
        case driver.ChannelPreconditionFailed():
            return Mismatch(said(error))
        case driver.DeliveryError():
            return QueueError(f"RabbitMQ refused a message: {said(error)}")
        case TimeoutError():
            return Silent("RabbitMQ does not answer")
    return BrokerLost(f"RabbitMQ is away: {said(error)}")


def unopened(error: BaseException, url: URL) -> CrawlError:
    """Why there is no connection, and what to do about it."""
    at, user = place(url), url.user or "guest"
    match error:
        case driver.ProbableAuthenticationError() | driver.AuthenticationError():
            return ConfigError(f"RabbitMQ at {at} refuses the user {user!r}: check name and password")
        case driver.ConnectionNotAllowed() | driver.InvalidFrameError():
            # Logged in, and closed on instead of let into the virtual host: the driver drops the broker's own words.
            vhost = url.path.removeprefix("/") or "/"
            remedy = "rabbitmqctl add_vhost and set_permissions"
            return ConfigError(f"RabbitMQ at {at} has no virtual host {vhost!r} that {user!r} may use: {remedy}")
        case TimeoutError():
            return QueueError(f"nothing answers AMQP at {at}; the default port of RabbitMQ is 5672")
    too_long = isinstance(error.__cause__, asyncio.IncompleteReadError) and (error.__cause__.expected or 0) > MAX_FRAME
    if too_long or isinstance(error, driver.IncompatibleProtocolError):
        return ConfigError(f"the server at {at} does not speak AMQP 0-9-1; the default port of RabbitMQ is 5672")
    return QueueError(f"RabbitMQ at {at} cannot be reached: {said(error)}")


def place(url: URL) -> str:
    """Host and port, and nothing secret."""
    return f"{url.host}:{url.port or (5671 if url.scheme == 'amqps' else 5672)}"


def said(error: BaseException) -> str:
    """The error's own words, or its name where it has none."""
    words = " ".join(str(argument) for argument in error.args if argument) or str(error)
    return (words.strip() or type(error).__name__)[:500]
