"""What the broker lost, with a queue or its whole disk, is published again from its dedup markers."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import DedupMarker, new_token
from ghcrawl.values.model import Lane, Push
from queues.amqp.backlog import Backlog
from queues.dedup_protocol import Tagging

log = structlog.stdlib.get_logger(__name__)

AT_ONCE: Final = 100


class Lost(NamedTuple):
    """Markers written before that moment have no message any more. lane: None: those of delayed requests."""

    lane: Lane | None
    before: datetime


class Recovery:
    """owed: released requests that could be neither pushed nor returned. lost: what to publish again.

    A copy that was not lost after all is dropped when it is popped, because another one covers it. A process that dies
    in the middle of it leaves markers whose queue is empty, which the hourly sweep finds.
    """

    def __init__(self, tagging: Tagging, clock: Clock) -> None:
        self.owed: Final = Backlog[Push]("owed", self._push)
        self.lost: Final = Backlog[Lost]("recovery", self._renew)
        self._tagging = tagging
        self._clock = clock

    async def _push(self, push: Push) -> None:
        await self._tagging.push([push], token=new_token(), now=self._clock.now())

    async def _renew(self, lost: Lost) -> None:
        lane, before = lost
        if any(later.lane == lane and later.before > before for later in self.lost.items):
            return
        markers: list[DedupMarker] = []
        count = 0
        async for marker in self._tagging.tags.written(before, lane):
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
        await self._tagging.renew(markers, token=new_token(), now=self._clock.now())
