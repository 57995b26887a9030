"""Declaring what there has to be, without ever changing what is there."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final

import structlog
from aiormq.channel import Channel

from ghcrawl.values.errors import ConfigError, QueueError
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import Mismatch, Unroutable, spoken
from queues.amqp.names import Names, QueueSpec

log = structlog.stdlib.get_logger(__name__)

DECLARE_S: Final = 30.0
"""A cluster that elects leaders for eleven queues takes its time."""


async def declare(link: AmqpLink, names: Names, specs: Iterable[QueueSpec]) -> list[QueueSpec]:
    """All of these are there. Returns those whose queue was not: nothing waits in these, whatever was put there.

    Raises ConfigError for what is there otherwise and cannot serve, QueueError.
    A queue of work that exists with other arguments is used as it is, with a warning: what it lacks is said.
    """
    topology = _Topology(link, names)
    try:
        return [spec for spec in specs if await topology.makes(spec)]
    finally:
        await topology.close()


class _Topology:
    """One channel for as long as nothing is refused, because a refusal closes it."""

    def __init__(self, link: AmqpLink, names: Names) -> None:
        self._link = link
        self._remedy = f"Delete it, or set amqp.prefix to another than {names.prefix!r}"
        self._channel: Channel | None = None

    async def makes(self, spec: QueueSpec) -> bool:
        """Whether this queue was not there before; with its exchange, it is now."""
        try:
            await self._ask(
                lambda channel: channel.exchange_declare(spec.exchange, exchange_type=spec.kind, durable=True)
            )
        except Mismatch as error:
            problem = f"RabbitMQ has an exchange {spec.exchange!r} of another kind"
            raise ConfigError(f"{problem}. {self._remedy} ({error})") from error
        missing = await self._lacks(spec.name)
        try:
            await self._ask(
                lambda channel: channel.queue_declare(spec.name, durable=True, arguments={**spec.arguments})
            )
        except Mismatch as error:
            if spec.role == "wait":  # it might keep what is put there for ever, or drop it
                problem = f"RabbitMQ has a queue {spec.name!r} with other arguments"
                raise ConfigError(f"{problem}. {self._remedy} ({error})") from error
            log.warning("queue_arguments_kept", queue=spec.name, detail=str(error))
        await self._ask(lambda channel: channel.queue_bind(spec.name, spec.exchange, routing_key=spec.key))
        return missing

    async def _lacks(self, name: str) -> bool:
        try:
            await self._ask(lambda channel: channel.queue_declare(name, passive=True))
        except Unroutable:
            return True
        return False

    async def _ask(self, question: Callable[[Channel], Coroutine[Any, Any, object]]) -> None:
        if self._channel is None or self._channel.is_closed:
            self._channel = await self._link.channel()
        try:
            await spoken(question(self._channel), within_s=DECLARE_S)
        except QueueError:
            self._channel = None
            raise

    async def close(self) -> None:
        """Its channel is closed."""
        if self._channel is not None:
            with suppress(QueueError):
                await spoken(self._channel.close(), within_s=DECLARE_S)
