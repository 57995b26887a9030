"""Ports and processors that say how long they took, since when they fail, and what each loop does now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import count
from time import monotonic
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import with_processor
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.queue import Delivery, Depth, Queue
from ghcrawl.ports.store import Stored
from ghcrawl.ports.unit_of_work import Committed, Effects, UnitOfWork
from ghcrawl.telemetry.load_shedding import YIELD_S, LoadShedding
from ghcrawl.values.errors import CrawlError, Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.outcome import (
    Processor,
    Retrieved,
    Save,
    Skip,
    Visit,
)
from ghcrawl.values.requests import Request

SAMPLED: Final = 16
"""Measuring a body means encoding it once more: only one in this many is measured."""

Phase = Literal["pop", "fetch", "process", "push", "save", "settle"]
"""The parts of a turn. `settle` makes the outcome durable: what it pushes, what it saves, and the ack. `push` and
`save` are told where these are done one after another; in one file they are one transaction, and only `settle` is."""


class Measure(Struct, frozen=True, kw_only=True):
    """Told of every phase how many seconds it took, and of one in `SAMPLED` documents written how large its body is."""

    phase: Callable[[Phase, float], None]
    document: Callable[[int], None]


class Turn(Struct, frozen=True, kw_only=True):
    """What one loop does since then. request None: it waits for one."""

    loop: str
    since: datetime
    request: Request | None = None
    queue: QueueName | None = None


class PortOutage(Struct, frozen=True, kw_only=True):
    """A port has failed since then, without a single success. error: the last failure."""

    since: datetime
    error: CrawlError


class _Watched:
    """outage: None while the port works. outages: how many there were, the present one included.

    Loops only slow down when a broker or a database fails, which is right for a service. A person at a terminal wants
    to be told that the disk is full.
    """

    def __init__(self, clock: Clock) -> None:
        self.outage: PortOutage | None = None
        self.outages = 0
        self._clock = clock

    def failed(self, error: CrawlError) -> None:
        """A call failed."""
        self.outages += self.outage is None
        self.outage = PortOutage(since=self.outage.since if self.outage else self._clock.now(), error=error)

    def worked(self) -> None:
        """A call succeeded: any outage is over."""
        self.outage = None


class InstrumentedQueue(_Watched):
    """`queue`, and what its pops tell: since when they fail, how long they take, and what each loop does.

    measure: told how long each pop took that returned something; without it, `turns` and `last_turn` do not change.
    answering: pops wait while many callers of the service wait for an answer, but at most `yield_s` seconds.

    A broker cannot be asked how old the first in a queue is. But what was popped last was the first a moment ago: as
    long as something is left, that is since when it has been asked for, as far as this process can tell.
    """

    def __init__(
        self,
        queue: Queue,
        clock: Clock,
        *,
        measure: Measure | None = None,
        answering: LoadShedding | None = None,
        yield_s: float = YIELD_S,
    ) -> None:
        super().__init__(clock)
        self.last_turn = clock.now()
        self.push, self.is_empty, self.peek, self.purge = queue.push, queue.is_empty, queue.peek, queue.purge
        self._queue = queue
        self._measure = measure
        self._answering = answering
        self._yield_s = yield_s
        self._turns: dict[asyncio.Task[object], Turn] = {}
        self._popped: dict[Lane, datetime] = {}

    def turns(self) -> Sequence[Turn]:
        """What each loop that is alive does now."""
        self._turns = {task: turn for task, turn in self._turns.items() if not task.done()}
        return list(self._turns.values())

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> Delivery | None:
        """As the port says."""
        if self._answering is not None:
            await self._answering.calm(self._yield_s)
        if self._measure is not None:
            self._note()
        began = monotonic()
        try:
            delivery = await self._queue.pop(order, patience_s=patience_s)
        except CrawlError as error:
            self.failed(error)
            raise
        self.worked()
        if delivery is not None and self._measure is not None:
            self._measure.phase("pop", monotonic() - began)
            self._note(delivery)
            lane = Lane(delivery.request.platform, delivery.queue)
            self._popped[lane] = delivery.request.asked_at or self._clock.now()
        return delivery

    async def depths(self) -> Mapping[Lane, Depth]:
        """As the port says, with `oldest_at` also where `queue` does not know it."""
        depths = await self._queue.depths()
        self._popped = {lane: at for lane, at in self._popped.items() if lane in depths and depths[lane].ready}
        return {lane: self._aged(lane, depth) for lane, depth in depths.items()}

    def _aged(self, lane: Lane, depth: Depth) -> Depth:
        return depth if depth.oldest_at is not None else replace(depth, oldest_at=self._popped.get(lane))

    def _note(self, delivery: Delivery | None = None) -> None:
        self.last_turn = now = self._clock.now()
        task = asyncio.current_task()
        if task is None:
            return
        before = self._turns.get(task)
        if delivery is None and before is not None and before.request is None:
            return
        name = before.loop if before is not None else self._new_name()
        request, queue = (delivery.request, delivery.queue) if delivery is not None else (None, None)
        self._turns[task] = Turn(loop=name, since=now, request=request, queue=queue)

    def _new_name(self) -> str:
        taken = {turn.loop for turn in self.turns()}
        return next(name for name in map(str, count()) if name not in taken)


class InstrumentedUnitOfWork(_Watched):
    """`unit_of_work`, since when its commits fail, how long they take, and the size of some of what they write.

    What can never be stored is no outage. measure: told the size of the first document, and then of one in `SAMPLED`.
    """

    def __init__(self, unit_of_work: UnitOfWork, clock: Clock, *, measure: Measure | None = None) -> None:
        super().__init__(clock)
        self._unit_of_work = unit_of_work
        self._measure = measure
        self._written = 0

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """As the port says."""
        began = monotonic()
        try:
            committed = await self._unit_of_work.commit(delivery, effects)
        except Unstorable:
            raise
        except CrawlError as error:
            self.failed(error)
            raise
        self.worked()
        if self._measure is not None:
            self._measure.phase("settle", monotonic() - began)
            if committed.saved == "saved" and effects.document is not None:
                if self._written % SAMPLED == 0:
                    self._measure.document(len(dumps(effects.document.body)))
                self._written += 1
        return committed


class MeasuredFetcher:
    """`fetcher`, and the time its answers take."""

    def __init__(self, fetcher: Fetcher, measure: Measure) -> None:
        self._fetcher = fetcher
        self._measure = measure

    def blocked_until(self) -> datetime | None:
        """As the port says."""
        return self._fetcher.blocked_until()

    def credential_digest(self) -> str:
        """As the port says."""
        return self._fetcher.credential_digest()

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says."""
        began = monotonic()
        try:
            return await self._fetcher.fetch(request, stored)
        finally:
            self._measure.phase("fetch", monotonic() - began)


def measured(platform: Platform, measure: Measure) -> Platform:
    """`platform`, whose processors say how long they took."""
    kinds = {type: with_processor(kind, partial(_timed, measure)) for type, kind in platform.kinds.items()}
    return replace(platform, kinds=kinds)


def _timed(measure: Measure, processor: Processor) -> Processor:
    def process(visit: Visit) -> Save | Skip:
        began = monotonic()
        try:
            return processor(visit)
        finally:
            measure.phase("process", monotonic() - began)

    return process
