"""What travels: the body that the codec wrote, and two headers of ours.

Retries, hand-overs and pardons are new messages with our headers only. The broker's own (`x-death`, `x-delivery-count`)
are never copied: copied, they make it see cycles and drop the message.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiormq.abc import DeliveredMessage
from pamqp.commands import Basic

from ghcrawl.values.errors import QueueError
from ghcrawl.values.model import Lane, QueueName
from queues.amqp.compression import encoding_of, unpacked
from queues.amqp.errors import spoken
from queues.amqp.names import LEFT, NOT_BEFORE, PARDONS, SPARED, TOKEN, lane_of

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message to publish. lane: where it is to be popped from, in the end; it gives the routing key.

    body: as it travels, packed or not.
    token: of the push that sent it; None: it came without. pardons: how often it was let off its delivery limit.
    spared: how often it was while nobody had ever popped it.
    not_before: for people. left_s: how much longer it has to wait behind the wait queue that it goes to, if any. What
    decides is the broker's time alone, so clocks that are wrong lengthen no delay.
    """

    exchange: str
    lane: Lane
    body: bytes
    token: str | None = None
    not_before: datetime | None = None
    left_s: float = 0.0
    pardons: int = 0
    spared: int = 0

    def properties(self) -> Basic.Properties:
        """Durable, and without an id of ours: the driver tells returned messages apart by its own."""
        headers: dict[str, Any] = {}
        if self.token is not None:
            headers[TOKEN] = self.token
        if self.not_before is not None:
            headers[NOT_BEFORE] = (self.not_before - _EPOCH) // _MICROSECOND
        if self.left_s > 0:
            headers[LEFT] = round(self.left_s * 1000)
        if self.pardons:
            headers[PARDONS] = self.pardons
        if self.spared:
            headers[SPARED] = self.spared
        return Basic.Properties(
            delivery_mode=2,
            content_type="application/json",
            content_encoding=encoding_of(self.body),
            headers=headers,
        )


class Incoming:
    """A message that the broker delivered and that nobody has settled yet. Settling it twice does nothing.

    body: as it travelled. returns: how often it came back to its queue before. left_s: it came before its moment, by
    so much.
    """

    def __init__(self, message: DeliveredMessage, lane: Lane) -> None:
        headers = message.header.properties.headers or {}
        token, count = headers.get(TOKEN), headers.get("x-delivery-count")
        self.lane: Final = lane
        self.body: Final = message.body
        self.token: Final = token if isinstance(token, str) else None
        self.not_before: Final = _moment(headers.get(NOT_BEFORE))
        self.left_s: Final = _number(headers.get(LEFT)) / 1000
        self.pardons: Final = _number(headers.get(PARDONS))
        self.spared: Final = _number(headers.get(SPARED))
        self.returns: Final = max(_number(count), int(bool(message.redelivered)))
        self.over = False
        self._headers: Final = headers
        self._message: Final = message

    @property
    def queue(self) -> QueueName:
        """Which of the five it waits in."""
        return self.lane.queue

    def content(self) -> bytes:
        """What its body says. Raises DecodeError."""
        return unpacked(self.body, self._message.header.properties.content_encoding)

    @property
    def stale(self) -> bool:
        """Whether its channel is gone: the broker has taken it back, and delivers it anew."""
        return self.over or self._message.channel.is_closed

    @property
    def death(self) -> tuple[str, Lane]:
        """Why the broker set it aside, and the lane it was in then: the latest of what may be several such events."""
        deaths = self._headers.get("x-death")
        last: object = deaths[0] if isinstance(deaths, list) and deaths else {}
        event = last if isinstance(last, dict) else {}
        key = str(event.get("queue", "")).rpartition(".q.")[2]
        return str(event.get("reason", "")), lane_of(key) or self.lane

    def again(
        self, exchange: str, *, pardons: int = 0, spared: int = 0, lane: Lane | None = None, left_s: float = 0.0
    ) -> Outgoing:
        """The same as a new message. pardons, spared: so many more."""
        return Outgoing(
            exchange=exchange,
            lane=lane or self.lane,
            body=self.body,
            token=self.token,
            not_before=self.not_before,
            left_s=left_s,
            pardons=self.pardons + pardons,
            spared=self.spared + spared,
        )

    async def ack(self) -> bool:
        """The broker forgets it. Returns whether it could be told; if not, it delivers the message again."""
        return await self._settle(back=False)

    async def give_back(self) -> bool:
        """It waits in its queue again. Returns whether the broker could be told; if not, it does so by itself."""
        return await self._settle(back=True)

    async def _settle(self, *, back: bool) -> bool:
        if self.stale:
            return False
        self.over = True
        # through its own channel: on any later one the tag would be somebody else's
        tag, channel = self._message.delivery_tag or 0, self._message.channel
        try:
            await spoken(
                channel.basic_nack(tag, requeue=True, wait=False) if back else channel.basic_ack(tag, wait=False)
            )
        except QueueError:
            return False
        return True


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _moment(value: object) -> datetime | None:
    try:
        return None if not isinstance(value, int) else _EPOCH + value * _MICROSECOND
    except OverflowError:
        return None
