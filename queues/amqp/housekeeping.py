"""Periodic work beside the loops, whether or not anything is popped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from ghcrawl.values.errors import CrawlError
from ghcrawl.values.model import Lane
from queues.amqp.connection import AmqpLink
from queues.amqp.consumers import Consumers
from queues.amqp.errors import Unroutable
from queues.amqp.prefetch import Prefetch

log = structlog.stdlib.get_logger(__name__)

EVERY_S: Final = 1.0
REVIVE_S: Final = 30.0
SWEEP_S: Final = 3600.0


class Housekeeping:
    """hand_back, declare, sweep: as `AmqpQueue` has them."""

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

    async def keep(self) -> None:
        """Never returns."""
        monotonic = asyncio.get_running_loop().time
        swept_at = revived_at = monotonic()
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self._link.check()
                await self._mend()
                await self._consumers.want(self._consumers.deaf())
                await self._hand_back(self._consumers.unwanted())
                await self._fit(monotonic())
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
        """Connect again, and declare again what the broker may have lost meanwhile."""
        if self._link.away:
            self._declared = False
            await self._link.restore()
            await self._link.check()
        if not self._declared:
            await self._declare()
            self._declared = True

    async def _fit(self, now: float) -> None:
        """Prefetch what suits the number of loops, and return what is too much for them to the broker."""
        loops = self._demand.reckon(now)
        larger, smaller = self._consumers.fit(loops)
        if (larger or smaller) and not self._link.away:
            await self._hand_back(larger)
            await self._consumers.stop(smaller)
            await self._consumers.want([*larger, *smaller])
            log.info("prefetch_fitted", loops=loops, queues=[*map(self._consumers.names.queue, [*larger, *smaller])])

    async def revive(self) -> None:
        """Restart consumers that the broker forgot: it does not always say so when a queue is declared again."""
        await self._consumers.probe()
        queues = {lane: self._consumers.names.queue(lane) for lane in self._consumers.active}
        deaf = [lane for lane, queue in queues.items() if not (await self._link.declared(queue)).consumer_count]
        if deaf:
            log.warning("consumers_lost", queues=[queues[lane] for lane in deaf])
            await self._consumers.abandon([queues[lane] for lane in deaf])
            await self._consumers.want(deaf)
