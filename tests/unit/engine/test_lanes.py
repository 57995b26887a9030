"""Two platforms in one engine: what is popped is decided for each of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from ghcrawl.engine.decision import Mounted
from ghcrawl.engine.loop import Engine, Ports
from ghcrawl.engine.weighted_order import draw
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.tuning import Tuning
from queues.memory import MemoryDelivery, MemoryQueue
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sequential_unit_of_work import SequentialUnitOfWork
from tests.support.builders import NOW, a_payload, at
from tests.support.clock import FakeClock
from tests.support.library import LIBRARY
from tests.support.scripted import Recorder, ScriptedFetcher, a_body

NAMES = ["library", *(f"archive-{number}" for number in range(9))]
MANY = 100


class CountingQueue(MemoryQueue):
    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.popped: Counter[str] = Counter()

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> MemoryDelivery | None:
        delivery = await super().pop(order, patience_s=patience_s)
        if delivery is not None:
            self.popped[delivery.request.platform] += 1
        return delivery


class BlockableFetcher(ScriptedFetcher):
    until: datetime | None = None

    def blocked_until(self) -> datetime | None:
        return self.until


def a_book(platform: str, number: int = 1, **over: object) -> Request:
    book = Request(platform=platform, type="book", url=f"{platform}/book/{number}", policy="default", asked_at=NOW)
    return replace(book, **over)  # type: ignore[arg-type]  # fields by name


def answers(platform: str) -> dict[str, object]:
    urls = [f"{platform}/book/{number}" for number in range(MANY)]
    return {url: a_body({"isbn": url}, url) for url in urls}


class Town:
    """One engine for all of these libraries."""

    def __init__(self, names: Sequence[str] = NAMES, mounted: Sequence[str] | None = None) -> None:
        self.names = names
        self.clock = FakeClock()
        self.queue, self.recorder = CountingQueue(self.clock), Recorder()
        self.store, self.deadletters = MemoryStore(), MemoryDeadletters()
        self.fetchers = {
            name: BlockableFetcher(
                {(url := f"{name}/book/{n}"): a_body({"isbn": f"{name}-{n}"}, url) for n in range(MANY)}
            )
            for name in (names if mounted is None else mounted)
        }
        unit_of_work = SequentialUnitOfWork(self.queue, self.store, self.deadletters)
        ports = Ports(
            queue=self.queue, store=self.store, unit_of_work=unit_of_work, clock=self.clock, observer=self.recorder,
            draw=draw,
        )  # fmt: skip
        platforms = [
            Mounted(platform=replace(LIBRARY, name=name), fetcher=fetcher) for name, fetcher in self.fetchers.items()
        ]
        self.engine = Engine(platforms, ports, tuning=Tuning(patience_s=0))

    async def fill(self, count: int = MANY, queue: QueueName = "normal") -> None:
        requests = [a_book(name, number) for name in self.names for number in range(count)]
        await self.queue.push([Push(request=request, queue=queue) for request in requests])

    async def run(self, turns: int) -> None:
        for _ in range(turns):
            await self.engine._turn()

    def outcomes(self) -> Counter[str]:
        return Counter(settled.outcome for settled in self.recorder.settlements)


async def test_one_is_blocked_and_the_other_goes_on_at_full_speed_with_no_deferral():
    town = Town(NAMES[:2])
    town.fetchers["archive-0"].until = at(60)
    await town.fill()
    await town.run(MANY)
    assert town.queue.popped == {"library": MANY}
    assert town.outcomes() == {"save": MANY}
    assert town.engine.blocked() == {"archive-0": at(60)}
    town.fetchers["archive-0"].until = None
    await town.run(MANY)
    assert town.queue.popped == {"library": MANY, "archive-0": MANY}
    assert await town.queue.is_empty()


async def test_of_ten_platforms_the_nine_that_are_blocked_cost_no_pop():
    town = Town()
    for name in NAMES[1:]:
        town.fetchers[name].until = at(60)
    await town.fill(10)
    await town.run(50)
    assert town.queue.popped == {"library": 10}
    assert by_queue(await town.queue.depths())["normal"].ready == 90


async def test_what_needs_no_call_is_popped_of_a_blocked_platform_too():
    town = Town(NAMES[:2])
    for fetcher in town.fetchers.values():
        fetcher.until = at(60)
    await town.fill(1)
    told = a_book("archive-0", payload=a_payload({"isbn": "9"}))
    await town.queue.push([Push(request=told, queue="event")])
    await town.run(3)
    assert town.queue.popped == {"archive-0": 1}
    assert town.engine.blocked().keys() == town.engine.platforms


async def test_within_one_queue_no_platform_starves_another():
    town = Town(NAMES[:3])
    await town.fill()
    await town.run(90)
    assert min(town.queue.popped[name] for name in NAMES[:3]) > 10


async def test_a_request_of_a_platform_that_is_not_mounted_waits_in_its_own_lane():
    town = Town(["library", "elsewhere"], mounted=["library"])
    await town.fill(2)
    await asyncio.wait_for(town.run(5), timeout=30)
    assert town.queue.popped == {"library": 2}
    stray = await town.queue.pop([Lane("elsewhere", "normal")], patience_s=0)
    assert stray is not None, "as from a lane that it does not belong in"
    await town.engine.step(stray)
    assert town.outcomes() == {"save": 2, "defer": 1}
    assert (await town.queue.depths())[Lane("elsewhere", "normal")].ready == 2
    assert await town.queue.is_empty(town.engine.platforms)
