"""Replicas of a ticker, and blogs that post at a rate: a schedule without a network."""

from __future__ import annotations

from asyncio import gather
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Protocol

from msgspec import Struct

from ghcrawl.platforms.contract import Feed
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.sources import Sources
from ghcrawl.ports.store import Store
from ghcrawl.schedule.asking import watch, watched
from ghcrawl.schedule.options import Options
from ghcrawl.schedule.ticker import Ticker
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Save
from ghcrawl.values.requests import Payload, Push, Request
from ghcrawl.values.source import DAY_S, WatchedSource, days
from queues.memory import MemoryQueue
from stores.memory import MemoryStore
from stores.sources import MemorySources
from tests.support.builders import NOW
from tests.support.clock import FakeClock
from tests.support.lanes import lanes

FEED = Feed(
    request=lambda type, url: Request(platform="web", type="feed", url=url) if type == "blog" else None, type="feed"
)
MINUTE = 60.0
HOUR_D = 3599.999 / DAY_S
"""An hour less what is lost in rounding."""


def a_blog(name: str | int) -> Request:
    return Request(platform="web", type="blog", url=f"https://{name}.example")


def a_page(request: Request, times: Sequence[float], *, onward: bool = False) -> Save:
    """What a page of a feed comes to, with items at these days."""
    payloads = [
        Payload.of({"n": n}, origin="event", observed_at=NOW + timedelta(days=time - days(NOW)))
        for n, time in enumerate(times)
    ]
    pushes = [
        Push(request=Request(platform="web", type="post", url=f"{request.url}#{n}", payload=payload), queue="event")
        for n, payload in enumerate(payloads)
    ]
    if onward:
        pushes.append(Push(request=replace(request, url=f"{request.url}?page=2"), queue="soon"))
    document = Document(
        platform="web", type="feed", url=request.url, urn=request.url, body={}, links={}, observed_at=NOW,
        fetched_at=NOW, processed_at=NOW, version=1, digest="d",
    )  # fmt: skip
    return Save(document=document, follow_ups=tuple(pushes))


class Place(Protocol):
    """Where a replica keeps its sources and queues its requests."""

    @property
    def sources(self) -> Sources: ...
    @property
    def store(self) -> Store: ...
    @property
    def queue(self) -> Queue: ...


class Memory(Struct, frozen=True):
    """One memory for all replicas."""

    queue: Queue
    sources: Sources
    store: Store


class World:
    """Replicas, each in its own place or all in one memory, and blogs that post at a rate."""

    def __init__(
        self, replicas: int = 1, *, calls: float = 60.0, places: Sequence[Place] = (), **options: float
    ) -> None:
        self.clock = FakeClock()
        shared = Memory(MemoryQueue(self.clock), MemorySources(), MemoryStore())
        self.places: Sequence[Place] = places or [shared] * replicas
        first = self.places[0]
        self.sources, self.store, self.queue = first.sources, first.store, first.queue
        self.clocks = [FakeClock() for _ in self.places]
        self.tickers = [
            self.ticker(f"w{n}", place, clock, calls, options)
            for n, (place, clock) in enumerate(zip(self.places, self.clocks, strict=True))
        ]
        self.asked = Counter[str]()
        self.asked_at: list[float] = []
        self.rates: dict[str, float] = {}
        self.random = Random(1)
        self._last: dict[str, float] = {}

    def ticker(self, worker: str, place: Place, clock: FakeClock, calls: float, options: dict[str, float]) -> Ticker:
        return Ticker(
            platform="web", feed=FEED, sources=place.sources, store=place.store, queue=place.queue, clock=clock,
            hourly=lambda: calls, worker=worker, options=Options(**options),  # type: ignore[arg-type]
        )  # fmt: skip

    async def name(self, *names: str, rate: float = 1.0) -> None:
        wanted = [watched("web", FEED, a_blog(name)) for name in names]
        self.rates |= {each.url: rate for each in wanted}
        await watch(self.sources, self.store, {"web": FEED}, wanted)

    async def get(self, name: str) -> WatchedSource:
        found = await self.sources.get(watched("web", FEED, a_blog(name)).key)
        assert found is not None
        return found

    def pass_time(self, seconds: float) -> None:
        for clock in (self.clock, *self.clocks):
            clock.advance(seconds)

    async def popped(self, *, patience_s: float = 0.0, most: int | None = None) -> list[Request]:
        """Everything that waits, or `most` of it; a broker may take `patience_s` to hand over the next."""
        requests: list[Request] = []
        every = lanes("soon", "normal", platform="web")
        while len(requests) != most and (delivery := await self.queue.pop(every, patience_s=patience_s)) is not None:
            requests.append(delivery.request)
            await delivery.ack()
        return requests

    async def answer(self, reader: Ticker, requests: Sequence[Request] | None = None) -> int:
        """Every request that waits is answered, with what was posted since the last time."""
        asked = await self.popped() if requests is None else requests
        sources = await gather(*(self._asked(request) for request in asked))
        self.asked.update(f"{source.url} {source.version}" for source in sources)
        await gather(*(self._answer(reader, request, source) for request, source in zip(asked, sources, strict=True)))
        return len(asked)

    async def _asked(self, request: Request) -> WatchedSource:
        source = await self.sources.get(watched("web", FEED, replace(request, type="blog")).key)
        assert source is not None
        return source

    async def _answer(self, reader: Ticker, request: Request, source: WatchedSource) -> None:
        now = days(self.clock.now())
        self.asked_at.append(now)
        last = self._last.get(request.url, now - 10.0)
        expected = self.rates[source.url] * (now - last)
        count = int(expected) + (self.random.random() < expected % 1)
        times = sorted(self.random.uniform(last, now) for _ in range(count))
        self._last[request.url] = now
        await reader.read(request, a_page(request, times))

    def most_in_an_hour(self) -> int:
        """The most calls that any hour saw."""
        at = sorted(self.asked_at)
        return max((place + 1 - bisect_right(at, now - HOUR_D) for place, now in enumerate(at)), default=0)
