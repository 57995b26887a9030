"""What has to be done now and then beside the loops, whether or not anybody pops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from ghcrawl.values.errors import CrawlError
from ghcrawl.values.model import Lane
from ghcrawl.values.shielded import run_to_end
from queues.amqp.connection import AmqpLink
from queues.amqp.consumers import Consumers
from queues.amqp.errors import Unroutable
from queues.amqp.prefetch import Prefetch

log = structlog.stdlib.get_logger(__name__)

EVERY_S: Final = 1.0
REVIVE_S: Final = 30.0
SWEEP_S: Final = 3600.0


class Housekeeping:
    """hand_back: what is held of these lanes waits in the broker again. declare: all is there that should be.

    sweep: what is too old to be true is set right.

    attending: what the broker sets aside is looked after here, whether or not anybody pops.
    """

    def __init__(
        self,
        link: AmqpLink,
        consumers: Consumers,
        demand: Prefetch,
        *,
        hand_back: Callable[[Sequence[Lane]], Awaitable[None]],
        declare: Callable[[], Awaitable[None]],
        sweep: Callable[[], Awaitable[None]],
    ) -> None:
        self._link = link
        self._consumers = consumers
        self._demand = demand
        self._hand_back = hand_back
        self._declare = declare
        self._sweep = sweep
        self._declared = True
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
                await self._mend()
                await self._attend(monotonic())
                await self._consumers.want(self._consumers.deaf())
                await self._hand_back(self._consumers.unwanted())
                await self.fit(monotonic())
                if monotonic() - revived_at >= REVIVE_S:
                    revived_at = monotonic()
                    await self.revive()
                if monotonic() - swept_at >= SWEEP_S:
                    swept_at = monotonic()
                    await self._sweep()
            except Unroutable as error:
                self._declared = False
                log.warning("topology_lost", error=str(error))
            except CrawlError as error:
                log.warning("chore_failed", chore="housekeeping", error=str(error))

    async def _mend(self) -> None:
        """Connections that were lost are there again, and so is whatever the broker may have lost meanwhile."""
        if self._link.away:
            self._declared = False
            await self._link.restore()
            await self._link.check()
        if not self._declared:
            await self._declare()
            self._declared = True

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
        await self._hand_back([lane for lane in misfits if self._consumers.too_large(lane)])
        await run_to_end(self._consumers.begin_anew(misfits))
        log.info("prefetch_fitted", loops=loops, queues=[*map(self._consumers.names.queue, misfits)])

    async def revive(self) -> None:
        """Consumers that the broker forgot begin anew: it does not always say so when it makes a queue anew."""
        await self._consumers.probe()
        active, queue = self._consumers.active, self._consumers.names.queue
        deaf = [lane for lane in active if not await self._link.consumer_count(queue(lane))]
        if deaf:
            log.warning("consumers_lost", queues=[*map(queue, deaf)])
            await self._consumers.abandon([*map(queue, deaf)])
            await self._consumers.want(deaf)
