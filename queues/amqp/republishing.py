"""Work beside the loops that is repeated until it succeeds; above all, publishing again what the broker lost."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, Generic, NamedTuple, TypeVar

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import DedupMarker, new_token
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Push
from queues.dedup_protocol import DedupProtocol

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")
AT_ONCE: Final = 100
AGAIN_S: Final = 1.0


class Backlog(Generic[T]):
    """`do` is called for each of `items`. One that fails is tried again after the others, so it blocks none."""

    def __init__(self, name: str, do: Callable[[T], Awaitable[None]]) -> None:
        self.items: Final[deque[T]] = deque()
        self._name = name
        self._do = do
        self._some = asyncio.Event()

    def put(self, item: T) -> None:
        """Add an item."""
        self.items.append(item)
        self._some.set()

    async def run(self) -> None:
        """Never returns."""
        while await self._some.wait():
            if not self.items:
                self._some.clear()
                continue
            item = self.items[0]
            self.items.rotate(-1)
            try:
                await self._do(item)
            except CrawlError as error:
                log.warning("chore_failed", chore=self._name, error=str(error))
                await asyncio.sleep(AGAIN_S)
            else:
                self.items.remove(item)


class Lost(NamedTuple):
    """Markers written before that moment have no message any more. lane: None: those of delayed requests."""

    lane: Lane | None
    before: datetime


class Recovery:
    """owed: released requests that could be neither pushed nor returned. lost: what to publish again.

    Messages were lost with a queue or the broker's disk, and are published from their dedup markers. One that was not
    lost is dropped when it is popped: its copy covers it. If the process dies, the hourly sweep finds the rest.
    """

    def __init__(self, dedup: DedupProtocol, clock: Clock) -> None:
        self.owed: Final = Backlog[Push]("owed", self._push)
        self.lost: Final = Backlog[Lost]("recovery", self._renew)
        self._dedup = dedup
        self._clock = clock

    async def _push(self, push: Push) -> None:
        await self._dedup.push([push], token=new_token(), now=self._clock.now())

    async def _renew(self, lost: Lost) -> None:
        lane, before = lost
        if any(later.lane == lane and later.before > before for later in self.lost.items):
            return
        markers: list[DedupMarker] = []
        count = 0
        async for marker in self._dedup.markers.written(before, lane):
            if lane is not None and marker.not_before is not None and marker.not_before > before:
                continue  # it is still among the delayed ones
            markers.append(marker)
            count += 1
            if len(markers) == AT_ONCE:
                await self._publish(markers)
                markers = []
        await self._publish(markers)
        if count:
            log.warning("lost_requests_queued_again", queue="delayed" if lane is None else lane.queue, count=count)

    async def _publish(self, markers: list[DedupMarker]) -> None:
        await self._dedup.renew(markers, token=new_token(), now=self._clock.now())
