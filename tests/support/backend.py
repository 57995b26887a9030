"""Requests settled one after the other, on memory adapters: what events come to without a server."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import ghcrawl.platforms.github
from ghcrawl.engine.decision import Mounted
from ghcrawl.engine.loop import Engine, Ports
from ghcrawl.engine.weighted_order import draw
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Delivery
from ghcrawl.ports.store import DocumentFilter, Stored
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import Fetched, Missing, Retrieved
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.tuning import Tuning
from queues.memory import MemoryQueue
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sequential_unit_of_work import SequentialUnitOfWork
from tests.support.clock import FakeClock
from tests.support.lanes import LANES

PLATFORM = ghcrawl.platforms.github.platform()


@dataclass
class Catalogue:
    """A fetcher that knows a few bodies by URL, answers 404 for the rest, and remembers what was asked."""

    clock: FakeClock
    bodies: dict[str, Json] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        self.asked.append(request)
        now = self.clock.now()
        body = self.bodies.get(request.url)
        if body is None:
            return Missing(status=404, detail="Not Found", observed_at=now)
        return Fetched(body=body, url=request.url, observed_at=now, checked_at=now)

    def blocked_until(self) -> None:
        return None

    def credential_digest(self) -> str:
        return "a token"


class CrawlBackend:
    """A store, a queue, and one loop that is turned by hand."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store, self.deadletters = MemoryStore(), MemoryDeadletters()
        self.queue = MemoryQueue(self.clock)
        self.fetcher = Catalogue(self.clock)
        self.tally = Tally()
        ports = Ports(
            queue=self.queue,
            store=self.store,
            unit_of_work=SequentialUnitOfWork(self.queue, self.store, self.deadletters),
            clock=self.clock,
            observer=self.tally,
            draw=draw,
        )
        self.engine = Engine([Mounted(platform=PLATFORM, fetcher=self.fetcher)], ports, tuning=Tuning())

    def delivery(self, event: str, delivery_id: str, payload: JsonObject) -> Request:
        assert PLATFORM.deliveries is not None
        return PLATFORM.deliveries.request(event, delivery_id, payload, self.clock.now())

    async def settle(self, *requests: Request, queue: QueueName = "event", later: bool = True) -> None:
        """These, and all that follows from them; `later`: also what was put off, when its time has come."""
        await self.queue.push([Push(request=request, queue=queue) for request in requests])
        while (delivery := await self._next()) is not None:
            await self.engine.step(delivery)
        if later and not await self.queue.is_empty():
            self.clock.advance(3600)
            await self.settle()

    async def settle_shuffled(self, requests: Sequence[Request], rng: random.Random) -> None:
        """The same in any order, follow-ups included."""
        await self.queue.push([Push(request=request, queue="event") for request in requests])
        while True:
            in_hand: list[Delivery] = []
            while (delivery := await self._next()) is not None:
                in_hand.append(delivery)
            if not in_hand:
                return
            rng.shuffle(in_hand)
            for each in in_hand:
                await self.engine.step(each)

    async def _next(self) -> Delivery | None:
        return await self.queue.pop(LANES, patience_s=0)

    async def documents(self) -> Mapping[str, Document]:
        return {document.urn: document async for document in self.store.list(DocumentFilter())}

    async def letters(self) -> Sequence[Deadletter]:
        return await self.deadletters.list(DeadletterFilter(), limit=1000)

    def calls(self, unless: Callable[[Request], bool] = lambda _: False) -> list[str]:
        return [request.name for request in self.fetcher.asked if not unless(request)]
