"""Ports and processors that say how long they took, and what each loop does at this moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from ghcrawl.jsontext import dumps
from ghcrawl.model import QueueName, Request
from ghcrawl.outcome import Processor, Retrieved, Save, Skip, Visit
from ghcrawl.passing import PassingQueue
from ghcrawl.platform import Platform
from ghcrawl.ports import Clock, Committed, Delivery, Depth, Effects, Fetcher, Ledger, Queue, Stored

SAMPLED: Final = 16
"""Whoever writes a body encodes it for itself. Encoding it once more to know its size is done for one in so many."""

Phase = Literal["pop", "fetch", "process", "push", "save", "settle"]
"""The parts of a turn. `settle` makes the outcome durable: what it pushes, what it saves, and the ack. `push` and
`save` are told where these are done one after another; in one file they are one transaction, and only `settle` is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Told of every phase how many seconds it took, and of one in `SAMPLED` documents written how large its body is."""

    phase: Callable[[Phase, float], None]
    document: Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one loop does since then. request None: it waits for one."""

    loop: str
    since: datetime
    request: Request | None = None
    queue: QueueName | None = None


def _now_s() -> float:
    return asyncio.get_running_loop().time()


class MeasuredQueue(PassingQueue):
    """`queue`, the time its pops take that bring something, and what became of them: `turns`.

    A broker cannot be asked how old the first in a queue is. But what was popped last was the first a moment ago: as
    long as something is left, that is since when it has been asked for, as far as this process can tell.
    """

    def __init__(self, queue: Queue, clock: Clock, measure: Measure) -> None:
        super().__init__(queue)
        self.last_turn = clock.now()
        self._clock = clock
        self._measure = measure
        self._turns: dict[asyncio.Task[object], Turn] = {}
        self._popped: dict[QueueName, datetime] = {}

    def turns(self) -> Sequence[Turn]:
        """What each loop that is alive does now."""
        self._turns = {task: turn for task, turn in self._turns.items() if not task.done()}
        return list(self._turns.values())

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> Delivery | None:
        """As the port says."""
        self._note()
        began = _now_s()
        delivery = await super().pop(order, patience_s=patience_s)
        if delivery is not None:
            self._measure.phase("pop", _now_s() - began)
            self._note(delivery)
            self._popped[delivery.queue] = delivery.request.asked_at or self._clock.now()
        return delivery

    async def depths(self) -> Mapping[QueueName, Depth]:
        """As the port says, with `oldest_at` also where `queue` does not know it."""
        depths = await super().depths()
        for name, depth in depths.items():
            if not depth.ready:
                self._popped.pop(name, None)
        return {name: self._aged(name, depth) for name, depth in depths.items()}

    def _aged(self, name: QueueName, depth: Depth) -> Depth:
        return depth if depth.oldest_at is not None else replace(depth, oldest_at=self._popped.get(name))

    def _note(self, delivery: Delivery | None = None) -> None:
        self.last_turn = now = self._clock.now()
        task = asyncio.current_task()
        if task is None:
            return
        before = self._turns.get(task)
        if delivery is None and before is not None and before.request is None:
            return
        name = before.loop if before is not None else f"{len(self.turns())}"
        request, queue = (delivery.request, delivery.queue) if delivery is not None else (None, None)
        self._turns[task] = Turn(loop=name, since=now, request=request, queue=queue)


class MeasuredLedger:
    """`ledger`, the time its commits take, and the size of some of what they write: the first, and then evenly."""

    def __init__(self, ledger: Ledger, measure: Measure) -> None:
        self._ledger = ledger
        self._measure = measure
        self._written = 0

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """As the port says."""
        began = _now_s()
        committed = await self._ledger.commit(delivery, effects)
        self._measure.phase("settle", _now_s() - began)
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

    def audience(self) -> str:
        """As the port says."""
        return self._fetcher.audience()

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says."""
        began = _now_s()
        try:
            return await self._fetcher.fetch(request, stored)
        finally:
            self._measure.phase("fetch", _now_s() - began)


def measured(platform: Platform, measure: Measure) -> Platform:
    """`platform`, whose processors say how long they took."""
    kinds = {type: replace(kind, processor=_timed(kind.processor, measure)) for type, kind in platform.kinds.items()}
    return replace(platform, kinds=kinds)


def _timed(processor: Processor, measure: Measure) -> Processor:
    def process(visit: Visit) -> Save | Skip:
        began = _now_s()
        try:
            return processor(visit)
        finally:
            measure.phase("process", _now_s() - began)

    return process
