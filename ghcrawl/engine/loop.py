"""The loop: pop → decide → settle. It is the same for every API, broker and database.

`decide` returns one outcome and changes neither queue nor documents. `settle` makes the outcome durable and only then
acks the request, so a crash at any line means *again*, never *lost*.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct

from ghcrawl.engine.decision import Decider, Decision, Mounted, kind_of, unasked
from ghcrawl.engine.elements import Elements
from ghcrawl.engine.in_flight import InFlight, exclusive_target, put_back
from ghcrawl.engine.pop_order import PopOrder
from ghcrawl.engine.recent import RecentlySettled
from ghcrawl.engine.settlement import Prepared, Settlement, settled
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.queue import Delivery, Queue
from ghcrawl.ports.store import Store
from ghcrawl.ports.unit_of_work import Committed, UnitOfWork
from ghcrawl.values.cancellation import run_to_end
from ghcrawl.values.errors import CrawlError, QueueError, StoreError
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import Defer, Outcome, Save, Skip
from ghcrawl.values.requests import Request
from ghcrawl.values.tuning import Tuning

log = structlog.stdlib.get_logger(__name__)

MAX_SLOWED_S: Final = 30.0
"""The longest pause of a loop after failures of the broker or the store."""


class Ports(Struct, frozen=True, kw_only=True):
    """What the engine needs of the outside.

    draw: the queues in the order in which one pop tries them, drawn by their weights.
    on_settled: platform → told of each settled request after its ack. Must not raise.
    """

    queue: Queue
    store: Store
    unit_of_work: UnitOfWork
    clock: Clock
    observer: Observer
    draw: Callable[[Mapping[QueueName, int]], Sequence[QueueName]]
    on_settled: Mapping[str, Callable[[Request, Outcome], Awaitable[None]]] = {}


class Engine:
    """Runs any number of loops over the same ports. Holds nothing that a crash could lose.

    busy: requests in flight. jitter: a number in [0, 1) at each call.
    """

    def __init__(
        self,
        platforms: Sequence[Mounted],
        ports: Ports,
        *,
        tuning: Tuning,
        worker: str = "",
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.tuning = tuning
        self.busy = 0
        self._ports = ports
        self._mounted = {mounted.platform.name: mounted for mounted in platforms}
        self._recent = RecentlySettled()
        self._decider = Decider(self._mounted, ports.store, ports.clock, worker=worker, recent=self._recent)
        self._settlement = Settlement(
            self._mounted, ports.unit_of_work, ports.clock, decider=self._decider, recent=self._recent, jitter=jitter
        )
        self._elements = Elements(self._mounted, self._settlement, self.decide)
        self._order = PopOrder({name: each.fetcher for name, each in self._mounted.items()}, ports.draw, jitter)
        self._in_flight = InFlight()

    @property
    def platforms(self) -> Collection[str]:
        """The names of those that this engine works for; requests of others wait."""
        return self._mounted.keys()

    def blocked(self) -> Mapping[str, datetime]:
        """The platforms that cannot be asked anything now, and when each can be again."""
        return self._order.blocked()

    async def run(self, stop: asyncio.Event) -> None:
        """Take deliveries until `stop` is set. A broken broker or store slows the loop; it never ends it."""
        failures = 0
        try:
            while not stop.is_set():
                try:
                    await self._turn()
                    failures = 0
                except CrawlError as error:
                    failures += 1
                    log.warning("loop_slowed", error=str(error), kind=type(error).__name__, troubles=failures)
                    delay_s = self._settlement.delay_s(failures, self.tuning, cap_s=MAX_SLOWED_S)
                    await self._ports.clock.sleep(delay_s)
        finally:
            await run_to_end(self._in_flight.release_parked())

    async def _turn(self) -> None:
        if self.tuning.paused:
            await run_to_end(self._in_flight.release_parked())
            await self._ports.clock.sleep(self.tuning.patience_s)
            return
        delivery = self._in_flight.unpark()
        if delivery is None:
            lanes = self._order.lanes(self.tuning.weights)
            delivery = await self._ports.queue.pop(lanes, patience_s=self.tuning.patience_s)
        if delivery is None:
            return
        if self.tuning.paused:  # paused while we waited: effective at once
            await run_to_end(delivery.release())
            return
        await self.step(delivery)

    async def step(self, delivery: Delivery) -> None:
        """Decide one delivery and make the decision durable: it is acked, or released and will come again.

        If another worker is processing the same target, the delivery is parked until that one is done.
        """
        target = exclusive_target(delivery.request, kind_of(delivery.request, self._mounted))
        if self._in_flight.park(target, delivery, workers=self.tuning.loops):
            return
        taken = self._in_flight.take(target)
        self.busy += 1
        acked = False
        try:
            started_at, began = self._ports.clock.now(), monotonic()
            decision = await self.decide(delivery.request) if taken else Decision(outcome=put_back(started_at))
            prepared = self._settlement.prepare(delivery, decision, self.tuning)
            elements = await self._elements.prepared(prepared, self.tuning, suspect=delivery.suspect)
            decided = monotonic()
            outcome, committed = await self._settlement.settle(delivery, prepared, self.tuning, elements)
            acked = True
            self._remember(delivery.request, outcome, decision, started_at)
            seconds = {"fetch_s": decided - began, "write_s": monotonic() - decided}
            self._ports.observer.settled(settled(delivery, outcome, committed, **seconds))
            self._observe(elements, committed)
            if (on_settled := self._ports.on_settled.get(delivery.request.platform)) is not None:
                await on_settled(delivery.request, outcome)
        finally:
            self.busy -= 1
            if taken:
                self._in_flight.free(target)
            if not acked:
                await run_to_end(delivery.release())

    async def decide(self, request: Request) -> Decision:
        """Decide `request`. Raises only QueueError and StoreError: failures of infrastructure."""
        if request.platform not in self._mounted:  # in its own lane from now on, which is not popped
            return Decision(outcome=Defer(until=self._ports.clock.now(), reason="not_mounted"))
        if request.payload is None and self._recent.refused(request):
            return unasked(request, "visited")
        try:
            async with asyncio.timeout(self.tuning.timeout_s):
                return await self._decider.decide(request, self.tuning)
        except (QueueError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001  # the one broad catch: a bug costs an attempt, not the loop
            return self._decider.failed(error)

    def _remember(self, request: Request, outcome: Outcome, decision: Decision, started_at: datetime) -> None:
        if isinstance(outcome, Save | Skip):
            as_of = decision.as_of or started_at
            self._recent.add(request, outcome, min(started_at, as_of))
            for answered in decision.also:
                self._recent.add(answered, outcome, as_of)

    def _observe(self, elements: Sequence[Prepared], committed: Committed) -> None:
        for each, saved in zip(elements, committed.carried, strict=False):  # none, where they were queued after all
            told = settled(each.source, each.outcome, Committed(saved=saved), fetch_s=0.0, write_s=0.0)
            self._ports.observer.settled(told)
