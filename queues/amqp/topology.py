"""Declaring what there has to be, without ever changing what is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import structlog
from aiormq.abc import AbstractChannel
from aiormq.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed

from ghcrawl.values.errors import ConfigError
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import (
    VENDOR,
    said,
    spoken,
    translated,
)
from queues.amqp.names import Names, QueueSpec

log = structlog.stdlib.get_logger(__name__)

DECLARE_S: Final = 30.0
"""A cluster that elects leaders for eleven queues takes its time."""


async def declare(link: AmqpLink, names: Names, platforms: Iterable[str] = ()) -> None:
    """Everything is there, with the lanes of these platforms too.

    Raises ConfigError for what is there otherwise and cannot serve, QueueError.

    A queue of work that exists with other arguments is used as it is, with a warning: what it lacks is said.
    """
    await _declare(link, names.specs(), names.prefix)
    await declare_lanes(link, names, platforms)


async def declare_lanes(link: AmqpLink, names: Names, platforms: Iterable[str]) -> None:
    """The lanes of these platforms are there. Raises as `declare` does."""
    await _declare(link, names.work_specs(platforms), names.prefix)


async def _declare(link: AmqpLink, specs: Sequence[QueueSpec], prefix: str) -> None:
    for spec in specs:
        await _exchange(link, spec, prefix)
        await _queue(link, spec, prefix)


async def _exchange(link: AmqpLink, spec: QueueSpec, prefix: str) -> None:
    why = await _refused(
        link, lambda raw: raw.exchange_declare(spec.exchange, exchange_type=spec.exchange_type, durable=True)
    )
    if why:
        raise ConfigError(f"RabbitMQ has an exchange {spec.exchange!r} of another kind. {_remedy(prefix, why)}")


async def _queue(link: AmqpLink, spec: QueueSpec, prefix: str) -> None:
    why = await _refused(
        link, lambda raw: raw.queue_declare(spec.name, durable=True, arguments={**spec.arguments}), spec.name
    )
    if why and spec.role == "wait":  # it might keep what is put there for ever, or drop it
        raise ConfigError(f"RabbitMQ has a queue {spec.name!r} with other arguments. {_remedy(prefix, why)}")
    if why:
        log.warning("queue_arguments_kept", queue=spec.name, detail=why)
    await _refused(link, lambda raw: raw.queue_bind(spec.name, spec.exchange, routing_key=spec.key))


def _remedy(prefix: str, why: str) -> str:
    return f"Delete it, or set amqp.prefix to another than {prefix!r} ({why})"


async def _refused(
    link: AmqpLink, ask: Callable[[AbstractChannel], Awaitable[object]], exists: str | None = None
) -> str:
    """Why the broker did not do what it was asked: it has that already, with other arguments. Empty: it did.

    On a channel of its own, because a refusal closes it. exists: the queue, which must be there then.
    """
    channel = await link.raw_channel()
    try:
        await ask(channel)
    except ChannelPreconditionFailed as error:
        if exists is not None:
            await link.ready_count(exists)
        return said(error)
    except ChannelNotFoundEntity as error:
        raise translated(error) from error
    except VENDOR as error:
        raise translated(error) from error
    await spoken(channel.close(), within_s=DECLARE_S)
    return ""
