"""What happens on a platform, as it happens. Contract: `tests/contracts/stream_contract.py`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ghcrawl.values.requests import Push, Request


class Batch(Struct, frozen=True, kw_only=True):
    """Some of what happened, in its order.

    pushes: the items to queue, with their payload on `event`.
    missed: where a platform cannot replay what happened before, the requests whose answers list it.
    cursor: where to go on once all of these are durable, in the platform's own text.
    lost: why something is missing in front of these, as one sentence; empty: nothing is.
    """

    pushes: tuple[Push, ...]
    cursor: str
    missed: tuple[Request, ...] = ()
    lost: str = ""


class Stream(Protocol):
    """One subscription to what happens. Holds nothing between two readings.

    * every item is told with a cursor, and a reading from that cursor tells what came after the item, and only that;
    * where a platform forgot what lies behind a cursor, the reading says so or asks for it by other requests;
    * nothing is read ahead but what one connection buffers: a slow consumer slows the stream, or the platform cuts it;
    * closing the generator ends the connection within a second, also if the platform hangs.
    """

    def read(self, cursor: str) -> AsyncGenerator[Batch, None]:
        """What happens behind `cursor`; empty: from now on. It ends where the connection does.

        Raises FetchError for what may be over in a moment, StreamRefused for what only a person can change.
        """


class StreamObserver:
    """Observes the streams of one replica. This one does nothing.

    stream: the name of a subscription, unique in its platform; too many for labels of metrics.
    """

    def subscribed(self, by_platform: Mapping[str, int]) -> None:
        """How many subscriptions there are, of all replicas together."""

    def held(self, platform: str, stream: str, *, since: datetime) -> None:
        """This replica produces it from now on."""

    def left(self, platform: str, stream: str) -> None:
        """This replica no longer produces it."""

    def queued(self, platform: str, stream: str, items: int, *, at: datetime, happened_at: datetime | None) -> None:
        """Items are durable, and so is the cursor behind them. happened_at: when the last one happened, if known."""

    def disconnected(self, platform: str) -> None:
        """A connection ended that was not closed here."""
