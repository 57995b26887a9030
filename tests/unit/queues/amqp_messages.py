"""Messages as the driver delivers them, without a driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pamqp.commands import Basic
from pamqp.header import ContentHeader

from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.message import Incoming


@dataclass
class Channel:
    """Remembers what it was told. broken: nobody listens any more, and nobody has noticed."""

    told: list[tuple[str, int]] = field(default_factory=list)
    is_closed: bool = False
    broken: bool = False

    async def basic_ack(self, tag: int, *, wait: bool) -> None:
        self._tell("ack", tag)

    async def basic_nack(self, tag: int, *, requeue: bool, wait: bool) -> None:
        assert requeue, "or the message is gone"
        self._tell("nack", tag)

    def _tell(self, what: str, tag: int) -> None:
        if self.broken:
            raise ConnectionResetError
        self.told.append((what, tag))


@dataclass
class Message:
    body: bytes = b"{}"
    headers: dict[str, Any] = field(default_factory=dict)
    content_encoding: str | None = None
    redelivered: bool = False
    delivery_tag: int = 1
    exchange: str = "e"
    channel: Channel = field(default_factory=Channel)

    @property
    def header(self) -> ContentHeader:
        properties = Basic.Properties(headers=self.headers, content_encoding=self.content_encoding)
        return ContentHeader(properties=properties)


def incoming(queue: QueueName = "normal", platform: str = LEGACY_PLATFORM, **over: Any) -> Incoming:
    message: Any = Message(**over)
    return Incoming(message, Lane(platform, queue))
