"""What has to be done now and then beside the loops, whether or not anybody pops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from ghcrawl.errors import CrawlError
from ghcrawl.finished import finished
from ghcrawl.model import QUEUES, QueueName
from queues.amqp_consumers import Consumers
from queues.amqp_demand import Demand
from queues.amqp_link import AmqpLink

log = structlog.stdlib.get_logger(__name__)

EVERY_S: Final = 1.0
REVIVE_S: Final = 30.0
SWEEP_S: Final = 3600.0


class Housekeeping:
    """hand_back: what is held of these queues waits in the broker again. sweep: forgets what is too old to be true.

    attending: what the broker sets aside is looked after here, whether or not anybody pops.
    """

    def __init__(
        self,
        link: AmqpLink,
        consumers: Consumers,
        demand: Demand,
        *,
        hand_back: Callable[[Sequence[QueueName]], Awaitable[None]],
        sweep: Callable[[], Awaitable[int]],
    ) -> None:
        self._link = link
        self._consumers = consumers
        self._demand = demand
        self._hand_back = hand_back
        self._sweep = sweep
        self.attending = False
        self._attended_at = -REVIVE_S

    async def keep(self) -> None:
        """Never returns."""
        monotonic = asyncio.get_running_loop().time
        swept_at = revived_at = monotonic()
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self._link.check()
                await self._attend(monotonic())
                await self._hand_back(self._consumers.unwanted())
                await self.fit(monotonic())
                if monotonic() - revived_at >= REVIVE_S:
                    revived_at = monotonic()
                    await self.revive()
                if monotonic() - swept_at >= SWEEP_S:
                    swept_at = monotonic()
                    await self.sweep()
            except CrawlError as error:
                log.warning("chore_failed", chore="housekeeping", error=str(error))

    async def _attend(self, now: float) -> None:
        if self.attending and not self._link.away and now - self._attended_at >= REVIVE_S:
            self._attended_at = now
            await self._consumers.attend()

    async def fit(self, now: float) -> None:
        """What is prefetched suits the loops that there are; what is too much for them waits in the broker again."""
        loops = self._demand.reckon(now)
        misfits = self._consumers.fit(loops)
        if not misfits or self._link.away:
            return
        await self._hand_back([name for name in misfits if self._consumers.too_large(name)])
        await finished(self._consumers.begin_anew(misfits))
        log.info("prefetch_fitted", loops=loops, queues=misfits)

    async def revive(self) -> None:
        """Consumers that the broker forgot, because somebody deleted their queue and another made it anew."""
        active = [name for name in QUEUES if name in self._consumers.active]
        names = self._consumers.names
        deaf = [name for name in active if not await self._link.consumer_count(names.queue(name))]
        if deaf:
            log.warning("consumers_lost", queues=deaf)
            await self._consumers.stop(deaf)

    async def sweep(self) -> None:
        """Tags that are too old to be true are gone."""
        if gone := await self._sweep():
            log.info("tags_swept", count=gone)
