"""Declaring exchanges, queues and bindings without ever changing those that exist."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from ghcrawl.values.errors import ConfigError
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import Mismatch, Unroutable
from queues.amqp.names import QueueSpec

log = structlog.stdlib.get_logger(__name__)


async def declare(link: AmqpLink, specs: Iterable[QueueSpec]) -> list[QueueSpec]:
    """Declare all of these. Returns those whose queue did not exist: they are empty, whatever was published to them.

    A work queue that exists with other arguments is used, with a warning that says what it lacks.
    Raises ConfigError for other differences, QueueError.
    """
    return [spec for spec in specs if await _is_new(link, spec)]


async def _is_new(link: AmqpLink, spec: QueueSpec) -> bool:
    remedy = f"Delete it, or set amqp.prefix to another than {link.settings.prefix!r}"
    kind = "direct" if spec.role == "work" else "fanout"
    try:
        await link.ask(lambda channel: channel.exchange_declare(spec.exchange, exchange_type=kind, durable=True))
    except Mismatch as error:
        raise ConfigError(f"RabbitMQ has an exchange {spec.exchange!r} of another kind. {remedy} ({error})") from error
    is_new = False
    try:
        await link.declared(spec.name)
    except Unroutable:
        is_new = True
    try:
        await link.ask(lambda channel: channel.queue_declare(spec.name, durable=True, arguments={**spec.arguments}))
    except Mismatch as error:
        if spec.role == "wait":  # it might keep messages for ever, or drop them
            problem = f"RabbitMQ has a queue {spec.name!r} with other arguments"
            raise ConfigError(f"{problem}. {remedy} ({error})") from error
        log.warning("queue_arguments_kept", queue=spec.name, detail=str(error))
    await link.ask(lambda channel: channel.queue_bind(spec.name, spec.exchange, routing_key=spec.key))
    return is_new
