"""Messages: the body that the codec wrote, and headers of ours.

Retries, hand-overs and pardons are new messages with our headers only. The broker's own (`x-death`, `x-delivery-count`)
are never copied: copied, they make it see cycles and drop the message.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

from aiormq.abc import DeliveredMessage
from msgspec import Struct
from pamqp.commands import Basic

from ghcrawl.values.errors import DecodeError, QueueError
from ghcrawl.values.lanes import Lane
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.errors import spoken
from queues.amqp.names import lane_of

TOKEN: Final = "ghc-token"  # noqa: S105  # the name of a header, not a credential
NOT_BEFORE: Final = "ghc-not-before"
LEFT: Final = "ghc-left"  # in milliseconds
PARDONS: Final = "ghc-pardons"
SPARED: Final = "ghc-spared"
ABOVE_BYTES: Final = 1 << 20
"""Bodies up to this size travel as they are: readable in the broker, and at no cost."""
MAX_BYTES: Final = 128 << 20
"""The limit of decompression: a few bytes may claim to hold any amount."""
_PACKED: Final = zlib.compress(b"", 1)[:1]


class Outgoing(Struct, frozen=True):
    """A message to publish.

    lane: where it is popped in the end; it gives the routing key. body: as it travels, compressed or not.
    token: of its push, if any. left_s: how long it waits after its wait queue. The broker's time alone decides, so
    wrong clocks lengthen no delay; not_before_us, since 1970, is for people. pardons, spared: how often it was let off
    its delivery limit, although it had been popped, or because it had not.
    """

    exchange: str
    lane: Lane
    body: bytes
    token: str | None = None
    not_before_us: int | None = None
    left_s: float = 0.0
    pardons: int = 0
    spared: int = 0

    def properties(self) -> Basic.Properties:
        """Durable, and without an id of ours: the driver tells returned messages apart by its own."""
        headers: dict[str, Any] = {
            TOKEN: self.token,
            NOT_BEFORE: self.not_before_us,
            LEFT: round(self.left_s * 1000),
            PARDONS: self.pardons,
            SPARED: self.spared,
        }
        return Basic.Properties(
            delivery_mode=2,
            content_type="application/json",
            content_encoding="deflate" if self.body.startswith(_PACKED) else None,  # JSON never starts like that
            headers={name: value for name, value in headers.items() if value},
        )


class Incoming:
    """A delivered message that is not settled yet. Settling it twice does nothing.

    copy: what it says, as a message to publish. returns: how often it came back to its queue before.
    """

    def __init__(self, message: DeliveredMessage, lane: Lane) -> None:
        headers = message.header.properties.headers or {}
        token = headers.get(TOKEN)
        self.lane: Final = lane
        self.copy: Final = Outgoing(
            message.exchange or "",
            lane,
            message.body,
            token=token if isinstance(token, str) else None,
            not_before_us=_number(headers.get(NOT_BEFORE)) or None,
            left_s=_number(headers.get(LEFT)) / 1000,
            pardons=_number(headers.get(PARDONS)),
            spared=_number(headers.get(SPARED)),
        )
        self.returns: Final = max(_number(headers.get("x-delivery-count")), int(bool(message.redelivered)))
        self.over = False
        self._headers: Final = headers
        self._message: Final = message

    def content(self) -> bytes:
        """Its body, decompressed. An encoding that is not ours is ignored. Raises DecodeError."""
        body = self.copy.body
        if self._message.header.properties.content_encoding != "deflate":
            return body
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(body, MAX_BYTES)
        except zlib.error as error:
            raise DecodeError(f"the message says that it is compressed, and is not: {error}", body=body) from error
        if not stream.eof:
            what = f"holds more than {MAX_BYTES:,} bytes" if stream.unconsumed_tail else "is cut short"
            raise DecodeError(f"the message is compressed and {what}", body=body)
        return content

    @property
    def stale(self) -> bool:
        """Whether it is settled, or its channel is gone and the broker delivers it again."""
        return self.over or self._message.channel.is_closed

    @property
    def death(self) -> tuple[str, Lane]:
        """Why the broker set it aside, and from which lane, the last time that it did."""
        deaths = self._headers.get("x-death")
        last: object = deaths[0] if isinstance(deaths, list) and deaths else {}
        event = last if isinstance(last, dict) else {}
        key = str(event.get("queue", "")).rpartition(".q.")[2]
        return str(event.get("reason", "")), lane_of(key) or Lane(LEGACY_PLATFORM, "normal")

    async def ack(self) -> bool:
        """The broker forgets it. Returns False if the broker could not be told, and will deliver it again."""
        return await self._settle(back=False)

    async def give_back(self) -> bool:
        """It waits in its queue again. Returns False if the broker could not be told, and does so anyway."""
        return await self._settle(back=True)

    async def _settle(self, *, back: bool) -> bool:
        if self.stale:
            return False
        self.over = True
        # through its own channel: on a later one the tag would be another message's
        tag, channel = self._message.delivery_tag or 0, self._message.channel
        call = channel.basic_nack(tag, requeue=True, wait=False) if back else channel.basic_ack(tag, wait=False)
        try:
            await spoken(call)
        except QueueError:
            return False
        return True


def packed(body: bytes) -> bytes:
    """`body` as it travels: RabbitMQ 4 takes 16 MiB a message. 20 MB take some tenths of a second, without the GIL."""
    return zlib.compress(body, 1) if len(body) > ABOVE_BYTES else body


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
