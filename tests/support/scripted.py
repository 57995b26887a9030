"""A fetcher that answers what a test told it to, and engines over memory adapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ghcrawl.engine.decision import Mounted
from ghcrawl.engine.loop import Engine, Ports
from ghcrawl.engine.weighted_order import draw
from ghcrawl.platforms.contract import Platform
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.ports.queue import Delivery, Queue
from ghcrawl.ports.store import Store, Stored
from ghcrawl.ports.unit_of_work import UnitOfWork
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import Fetched, Retrieved
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.tuning import Tuning
from queues.memory import MemoryQueue
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sequential_unit_of_work import SequentialUnitOfWork
from tests.support.builders import NOW
from tests.support.clock import FakeClock
from tests.support.lanes import lanes


def a_body(body: Any, url: str = "", **over: Any) -> Fetched:
    fields: dict[str, Any] = {"body": body, "url": url, "observed_at": NOW, "checked_at": NOW}
    return Fetched(**(fields | over))


@dataclass
class ScriptedFetcher:
    """Answers by URL. Of a list one by one, the last for ever; exceptions are raised, functions called."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Stored | None]] = field(default_factory=list)
    blocked: datetime | None = None
    asker: str = "a token"

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        self.asked.append((request.url, stored))
        answer = self.answers[request.url]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = await answer(request)
        if isinstance(answer, BaseException):
            raise answer
        result: Retrieved = answer
        return result

    def blocked_until(self) -> datetime | None:
        return self.blocked

    def credential_digest(self) -> str:
        return self.asker


@dataclass
class Recorder:
    """An observer that remembers."""

    settlements: list[Settled] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def settled(self, settled: Settled) -> None:
        self.settlements.append(settled)

    def called(self, call: Call) -> None:
        self.calls.append(call)


class Rig:
    """An engine over memory adapters, driven a step at a time."""

    def __init__(
        self,
        platform: Platform,
        answers: Mapping[str, Any],
        *,
        tuning: Tuning | None = None,
        store: Store | None = None,
        queue: Queue | None = None,
        unit_of_work: UnitOfWork | None = None,
    ) -> None:
        self._lanes = [*lanes(platform=platform.name), *lanes(platform="elsewhere")]
        self.clock = FakeClock()
        self.fetcher = ScriptedFetcher(dict(answers))
        self.recorder = Recorder()
        self.queue: Queue = queue or MemoryQueue(self.clock)
        self.store: Store = store or MemoryStore()
        self.deadletters = MemoryDeadletters()
        self.ports = Ports(
            queue=self.queue,
            store=self.store,
            unit_of_work=unit_of_work or SequentialUnitOfWork(self.queue, self.store, self.deadletters),
            clock=self.clock,
            observer=self.recorder,
            draw=draw,
        )
        self.engine = Engine(
            (Mounted(platform=platform, fetcher=self.fetcher),),
            self.ports,
            tuning=tuning or Tuning(patience_s=0),
            worker="test",
            jitter=lambda: 0.5,
        )

    async def push(self, *requests: Request, queue: QueueName = "normal") -> None:
        await self.queue.push([Push(request=request, queue=queue) for request in requests])

    async def pop(self) -> Delivery | None:
        return await self.queue.pop(self._lanes, patience_s=0)

    async def step(self) -> Settled | None:
        """One turn; None where nothing was ready."""
        delivery = await self.pop()
        if delivery is None:
            return None
        before = len(self.recorder.settlements)
        await self.engine.step(delivery)
        return self.recorder.settlements[-1] if len(self.recorder.settlements) > before else None

    async def drain(self, limit: int = 1000) -> Sequence[Settled]:
        """Turns until nothing is ready."""
        for _ in range(limit):
            if await self.step() is None:
                return self.recorder.settlements
        raise AssertionError("the crawl does not end")
