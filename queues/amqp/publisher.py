"""Publishing: confirmed, mandatory, with so many unconfirmed at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aiormq.channel import Channel

from ghcrawl.values.errors import QueueError
from queues.amqp.connection import AmqpLink
from queues.amqp.errors import BrokerLost, spoken
from queues.amqp.message import Outgoing
from queues.amqp.names import key_of_lane


class Publisher:
    """One channel that nobody declares on: a publish to what is not there fails all that are under way on it."""

    def __init__(self, link: AmqpLink) -> None:
        self._link = link
        self._channel: Channel | None = None
        self._opening = asyncio.Lock()
        self._slots = asyncio.Semaphore(link.settings.in_flight)
        self._within_s = link.settings.confirm_timeout_s

    async def send(self, messages: Sequence[Outgoing]) -> None:
        """All of them are durable when this returns. Raises QueueError; then any of them may be there, or not."""
        if len(messages) == 1:
            await self._send(messages[0])
            return
        ends = await asyncio.gather(*(self._send(message) for message in messages), return_exceptions=True)
        for end in ends:
            if end is not None:
                raise end

    async def _send(self, message: Outgoing) -> None:
        async with self._slots:
            if self._link.away:
                raise BrokerLost("RabbitMQ is away")
            if self._link.blocked:
                raise QueueError("RabbitMQ is short of memory or disk and accepts nothing")
            await spoken(self._publish(message), within_s=self._within_s)

    async def _publish(self, message: Outgoing) -> None:
        channel = await self._opened()
        await channel.basic_publish(
            message.body,
            exchange=message.exchange,
            routing_key=key_of_lane(message.lane),
            properties=message.properties(),
            mandatory=True,
            wait=False,  # the confirm says more than an empty write buffer
        )

    async def _opened(self) -> Channel:
        if self._channel is None or self._channel.is_closed:
            async with self._opening:
                if self._channel is None or self._channel.is_closed:
                    self._channel = await self._link.publisher_channel()
        return self._channel
