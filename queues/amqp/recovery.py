"""What the broker has lost is published again from its tags: with a queue that was deleted, or with its whole disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import DedupMarker, new_token
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.model import Lane, Push
from queues.amqp.names import QueueSpec, lane_of
from queues.dedup_protocol import Tagging

log = structlog.stdlib.get_logger(__name__)

AT_ONCE: Final = 100
AGAIN_S: Final = 1.0


class Recovery:
    """Done beside the loops. A copy that was not lost after all is let go when it is popped: another one covers it.

    Whoever dies in the middle of it leaves tags whose queue is empty, which `orphaned` finds.
    """

    def __init__(self, tagging: Tagging, clock: Clock) -> None:
        self._tagging = tagging
        self._clock = clock
        self.owed: list[Push] = []
        self._wanted: dict[Lane | None, datetime] = {}
        self._some = asyncio.Event()

    def lost(self, spec: QueueSpec, at: datetime) -> None:
        """This queue is empty, whatever was there before. No lane means what is delayed, in any of them."""
        if spec.role != "dead":
            self.orphaned(lane_of(spec.key) if spec.role == "work" else None, at)

    def orphaned(self, lane: Lane | None, before: datetime) -> None:
        """What has a tag of this lane that was written before that moment waits by its tag alone."""
        self._wanted[lane] = before
        self._some.set()

    def owe(self, push: Push) -> None:
        """It was in hand, and could not be given back: it is pushed as soon as it can be."""
        self.owed.append(push)
        self._some.set()

    async def run(self) -> None:
        """Never returns."""
        while True:
            await self._some.wait()
            try:
                await self._next()
            except CrawlError as error:
                log.warning("chore_failed", chore="recovery", error=str(error))
                await asyncio.sleep(AGAIN_S)

    async def _next(self) -> None:
        """Each is moved to the end first: a queue that does not answer must not hold up all others."""
        if self.owed:
            push = self.owed.pop(0)
            self.owed.append(push)
            await self._tagging.push([push], token=new_token(), now=self._clock.now())
            self.owed.remove(push)
        elif self._wanted:
            lane, before = next(iter(self._wanted.items()))
            self._wanted[lane] = self._wanted.pop(lane)
            await self._renew(lane, before)
            if self._wanted[lane] == before:
                del self._wanted[lane]
        else:
            self._some.clear()

    async def _renew(self, lane: Lane | None, before: datetime) -> None:
        """Those that are delayed still are among the delayed ones, and not in their lane."""
        found: list[DedupMarker] = []
        count = 0
        async for tag in self._tagging.tags.written(before, lane):
            if lane is None or tag.not_before is None or tag.not_before <= before:
                found.append(tag)
            if len(found) == AT_ONCE:
                count += await self._again(found)
                found = []
        count += await self._again(found)
        if count:
            log.warning("lost_requests_queued_again", queue="delayed" if lane is None else lane.queue, count=count)

    async def _again(self, tags: Sequence[DedupMarker]) -> int:
        await self._tagging.renew(tags, token=new_token(), now=self._clock.now())
        return len(tags)
