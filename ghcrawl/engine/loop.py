"""The loop: pop → decide → settle. It is the same for every API, broker and database.

`decide` writes nothing and returns one outcome. `settle` makes the outcome durable and only then acks the request, so
a crash at any line means *again*, never *lost*.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct

from ghcrawl.engine.decision import Decider, Decision, Mounted, unasked
from ghcrawl.engine.recent import Place, RecentlySettled, place_of
from ghcrawl.engine.settlement import Prepared, Settlement, settled
from ghcrawl.platforms.kind import Batch
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.queue import Delivery, Queue
from ghcrawl.ports.store import Store
from ghcrawl.ports.unit_of_work import Committed, UnitOfWork
from ghcrawl.values.errors import CrawlError, QueueError, StoreError
from ghcrawl.values.model import QUEUES, Lane, QueueName, Request
from ghcrawl.values.outcome import Defer, Outcome, Save, Skip
from ghcrawl.values.shielded import all_of, run_to_end
from ghcrawl.values.tuning import FREE_QUEUES, Tuning

log = structlog.stdlib.get_logger(__name__)

IN_HAND_WAIT_S: Final = 1.0
MAX_TROUBLE_S: Final = 30.0
MOST_CARRIED: Final = 200
TOGETHER: Final = 20
"""Elements that are decided together; then other workers have their turn."""


class Ports(Struct, frozen=True, kw_only=True):
    """The outside, as the engine needs it.

    draw: the order in which one pop tries the queues, drawn by their weights.
    read: platform → who is told of its settled requests, after their ack, and learns when to look again. Never raises.
    """

    queue: Queue
    store: Store
    unit_of_work: UnitOfWork
    clock: Clock
    observer: Observer
    draw: Callable[[Mapping[QueueName, int]], Sequence[QueueName]]
    read: Mapping[str, Callable[[Request, Outcome], Awaitable[None]]] = {}


class Engine:
    """Runs any number of loops over the same ports. Holds nothing that a crash could lose.

    jitter: a number in [0, 1) at each call.
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
        self._jitter = jitter
        self._mounted = {mounted.platform.name: mounted for mounted in platforms}
        self._lanes = {queue: {name: Lane(name, queue) for name in self._mounted} for queue in QUEUES}
        self._recent = RecentlySettled()
        self._decider = Decider(self._mounted, ports.store, ports.clock, worker=worker, recent=self._recent)
        self._settlement = Settlement(
            self._mounted, ports.unit_of_work, ports.clock, decider=self._decider, recent=self._recent, jitter=jitter
        )
        self._in_hand: set[Place] = set()
        self._parked: deque[tuple[Place, Delivery]] = deque()

    async def run(self, stop: asyncio.Event) -> None:
        """Take deliveries until `stop` is set. A broken broker or store slows the loop; it never ends it."""
        try:
            await self._run(stop)
        finally:
            await run_to_end(self._release_parked())

    async def _run(self, stop: asyncio.Event) -> None:
        troubles = 0
        while not stop.is_set():
            try:
                await self._turn()
                troubles = 0
            except CrawlError as error:
                troubles += 1
                log.warning("loop_slowed", error=str(error), kind=type(error).__name__, troubles=troubles)
                delay_s = self._settlement.delay_s(troubles, self.tuning, cap_s=MAX_TROUBLE_S)
                await self._ports.clock.sleep(delay_s)

    async def _turn(self) -> None:
        if self.tuning.paused:
            await run_to_end(self._release_parked())
            await self._ports.clock.sleep(self.tuning.patience_s)
            return
        delivery = self._unparked() or await self._ports.queue.pop(self._order(), patience_s=self.tuning.patience_s)
        if delivery is None:
            return
        if self.tuning.paused:  # paused while we waited: effective at once
            await run_to_end(delivery.release())
            return
        await self.step(delivery)

    def _order(self) -> Sequence[Lane]:
        """The lanes that one pop tries: queues by their weights, and within a queue every platform with equal chances.

        What needs no call is popped for all; the rest only of platforms that can be asked, so that the backlog of any
        other stays where it is and costs nothing.
        """
        everyone = sorted(self._mounted, key=lambda _: self._jitter()) if len(self._mounted) > 1 else [*self._mounted]
        blocked = self.blocked()
        asked = [platform for platform in everyone if platform not in blocked]
        return [
            self._lanes[queue][platform]
            for queue in self._ports.draw(self.tuning.weights)
            for platform in (everyone if queue in FREE_QUEUES else asked)
        ]

    @property
    def platforms(self) -> Collection[str]:
        """The names of those that this engine works for; requests of others wait."""
        return self._mounted.keys()

    def blocked(self) -> Mapping[str, datetime]:
        """The platforms that cannot be asked anything just now, and when each can be again."""
        mounted = self._mounted.items()
        return {name: until for name, each in mounted if (until := each.fetcher.blocked_until()) is not None}

    async def step(self, delivery: Delivery) -> None:
        """Decide one delivery and make the decision durable: it is acked, or released and will come again.

        One whose place another loop is looking at is parked; the first loop that is free then goes on with it.
        """
        request, started_at = delivery.request, self._ports.clock.now()
        place = self._place(request)
        if place is not None and self._park(place, delivery):
            return
        taken = place is None or place not in self._in_hand
        self.busy += 1
        acked = False
        try:
            began = monotonic()
            decision = await self._take_in_hand(request, place) if taken else self._put_back()
            prepared = self._settlement.prepare(delivery, decision, self.tuning)
            carried = () if delivery.suspect else await self._carried(prepared)
            decided = monotonic()
            outcome, committed = await self._settlement.settle(delivery, prepared, self.tuning, carried)
            acked = True
            if isinstance(outcome, Save | Skip):
                self._recent.add(request, outcome, min(started_at, decision.as_of or started_at))
                for answered in decision.also:
                    self._recent.add(answered, outcome, decision.as_of or started_at)
            fetch_s, write_s = decided - began, monotonic() - decided
            self._ports.observer.settled(settled(delivery, outcome, committed, fetch_s=fetch_s, write_s=write_s))
            self._tell(carried, committed)
            if (read := self._ports.read.get(request.platform)) is not None:
                await read(request, outcome)
        finally:
            self.busy -= 1
            if place is not None and taken:
                self._in_hand.discard(place)
            if not acked:
                await run_to_end(delivery.release())

    def _tell(self, carried: Sequence[Prepared], committed: Committed) -> None:
        for each, saved in zip(carried, committed.carried, strict=False):  # none, where they were queued after all
            told = settled(each.source, each.outcome, Committed(saved=saved), fetch_s=0.0, write_s=0.0)
            self._ports.observer.settled(told)

    async def _carried(self, prepared: Prepared) -> Sequence[Prepared]:
        """The elements that came with a request and can be saved with it; and those that came with them.

        One that has to be retried or dead-lettered is left to its queue.
        """
        elements, found = deque(self._settlement.elements(prepared)), list[Prepared]()
        while elements and len(found) < MOST_CARRIED:
            some = [elements.popleft() for _ in range(min(TOGETHER, len(elements)))]
            decisions = await all_of(self.decide(push.request) for push in some)
            for push, decided in zip(some, decisions, strict=True):
                if isinstance(decided.outcome, Save | Skip):
                    found.append(each := self._settlement.prepare(push, decided, self.tuning))
                    elements.extend(self._settlement.elements(each))
        return found

    async def _take_in_hand(self, request: Request, place: Place | None) -> Decision:
        if place is not None:
            self._in_hand.add(place)
        return await self.decide(request)

    def _park(self, place: Place, delivery: Delivery) -> bool:
        if place not in self._in_hand or len(self._parked) >= self.tuning.loops // 2:
            return False
        self._parked.append((place, delivery))
        return True

    def _unparked(self) -> Delivery | None:
        """The parked delivery that has waited longest of those whose place is free again."""
        free = next((each for each in self._parked if each[0] not in self._in_hand), None)
        if free is None:
            return None
        self._parked.remove(free)
        return free[1]

    async def _release_parked(self) -> None:
        while self._parked:
            _, delivery = self._parked.popleft()
            await delivery.release()

    def _put_back(self) -> Decision:
        """Another loop is processing this URL, and enough are parked: its answer will serve this request too."""
        until = self._ports.clock.now() + timedelta(seconds=IN_HAND_WAIT_S)
        return Decision(outcome=Defer(until=until, reason="in_hand"))

    def _place(self, request: Request) -> Place | None:
        """What only one loop at a time looks at; None: any number of them may.

        Of batches that is their type: the next one then asks for nothing that this one brings.
        """
        mounted = self._mounted.get(request.platform)
        if mounted is not None and isinstance(mounted.platform.kinds.get(request.type), Batch):
            return request.platform, request.type, ""
        return place_of(request) if request.payload is None else None

    async def decide(self, request: Request) -> Decision:
        """What is to become of `request`. Raises QueueError or StoreError only: those are no request's fault."""
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
