"""A scrape shows what is away, in time, whatever does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from ghcrawl.cli import serve_site
from ghcrawl.cli.serve_site import Surface, Watching
from ghcrawl.ports.queue import Depth
from ghcrawl.settings.live import Base, LiveSettings
from ghcrawl.telemetry.metrics import Metrics
from ghcrawl.telemetry.rates import Rates
from ghcrawl.telemetry.service_metrics import ServiceMetrics
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import QueueError
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane
from ghcrawl.wiring import load, open_service
from queues.memory import MemoryQueue
from stores.memory import MemoryDeadletters
from tests.support.clock import FakeClock


class SilentDeadletters(MemoryDeadletters):
    async def count(self, which: Any) -> Any:
        await asyncio.Event().wait()


class Tagged(MemoryQueue):
    """A queue whose tags are in a store that never answers, and its broker."""

    blocked = False
    away = False
    restarts = 0

    async def depths(self) -> Mapping[Lane, Depth]:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that")

    async def answer(self) -> None:
        if self.away:
            raise QueueError("the broker is away")


@asynccontextmanager
async def surface(**over: Any) -> AsyncIterator[Surface]:
    """The surface of a service whose loops do nothing. over: replaces parts of its backend."""
    providers = {"queue.provider": "memory", "store.provider": "memory"}
    settings = load(None, {}, providers)[0]
    metrics, tally = Metrics(CollectorRegistry()), Tally()
    gauges = ServiceMetrics(metrics.registry)
    async with open_service(settings, {}, tally, clock=FakeClock(), measure=gauges.measure) as service:
        service.queue._queue = over.get("queue", service.backend.queue)
        backend = replace(service.backend, **over)
        yield Surface(
            settings=settings,
            environ={},
            service=replace(service, backend=backend),
            watching=Watching(tally=tally, rates=Rates(lambda: 0.0), metrics=metrics, gauges=gauges),
            live=LiveSettings(backend.store, backend.clock, Base()),
            worker="w1",
            applied=asyncio.Event().wait,  # type: ignore[arg-type]  # nothing is changed here
        )


async def scraped(of: Surface) -> Mapping[str, float | None]:
    async with asyncio.timeout(10):
        await of.probed().refresh()
    value = of.watching.metrics.registry.get_sample_value
    return {port: value("ghcrawl_reachable", {"port": port}) for port in ("queue", "store")}


def blocked(of: Surface) -> float | None:
    return of.watching.metrics.registry.get_sample_value("ghcrawl_broker_blocked")


async def test_a_scrape_of_what_is_well():
    async with surface() as well:
        assert await scraped(well) == {"queue": 1, "store": 1}


async def test_a_store_that_never_answers_is_told_in_time_and_the_broker_is_not_blamed_for_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(serve_site, "SCRAPE_S", 0.3)
    queue = Tagged(FakeClock())
    async with surface(queue=queue, broker=queue, deadletters=SilentDeadletters()) as frozen:
        assert await scraped(frozen) == {"queue": 1, "store": 0}
        assert blocked(frozen) == 0
        queue.away = queue.blocked = True
        assert await scraped(frozen) == {"queue": 0, "store": 0}
        assert blocked(frozen) == 1


async def test_a_queue_without_a_broker_is_judged_by_its_depths(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serve_site, "SCRAPE_S", 0.3)
    async with surface(queue=Tagged(FakeClock())) as frozen:
        assert await scraped(frozen) == {"queue": 0, "store": 1}
