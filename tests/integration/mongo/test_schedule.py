"""A thousand sources, or ten thousand, and three replicas on RabbitMQ and MongoDB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final
from uuid import uuid4

import pytest

from ghcrawl.backend import Backend, open_backend
from ghcrawl.schedule.ticker import Ticker
from ghcrawl.settings.sections import Settings
from stores.mongo.settings import MongoSettings
from tests.integration.amqp.own import forgotten
from tests.support.scheduled import MINUTE, World
from tests.support.services.rabbitmq import Server

MINUTES: Final = 75
KILLED_AT: Final = 30


class Killed(Exception):  # a process that is gone is no error
    """The replica is gone."""


class Dying:
    """The queue of a replica that is killed after its sources are leased, before its requests are queued."""

    async def push(self, _pushes: object) -> None:
        raise Killed


@asynccontextmanager
async def three_replicas(rabbitmq: Server, settings: MongoSettings) -> AsyncIterator[list[Backend]]:
    """Three processes' connections to one broker and one database."""
    prefix = f"test-{uuid4().hex[:8]}"
    shared: dict[str, Any] = {
        "queue": {"provider": "amqp"},
        "amqp": {"url": rabbitmq.url, "management_url": rabbitmq.management_url, "prefix": prefix},
        "store": {"provider": "mongo"},
        "mongo": {"url": settings.url, "database": settings.database},
    }
    async with AsyncExitStack() as stack:
        stack.push_async_callback(forgotten, rabbitmq, prefix, "web")
        opened = [open_backend(Settings.model_validate(shared)) for _ in range(3)]
        yield [await stack.enter_async_context(each) for each in opened]


async def a_minute(world: World, alive: list[Ticker]) -> None:
    """Every living replica has its turn, and what they queue is answered; whoever is killed is alive no more."""
    queued = 0
    for ticker in [alive[0], *world.random.sample(alive[1:], len(alive) - 1)]:
        try:
            ticked = await ticker.turn()
        except Killed:
            alive.remove(ticker)
        else:
            queued += ticked.asked if ticked else 0
    waiting = await world.popped(patience_s=10.0, most=queued)
    assert len(waiting) == queued, "each was queued once"
    await world.answer(world.random.choice(alive), waiting)
    world.pass_time(MINUTE)


@pytest.mark.parametrize("sources", [1000, pytest.param(10_000, marks=pytest.mark.faults)])
@pytest.mark.timeout(1800)
async def test_three_replicas_of_which_one_is_killed_and_one_has_a_wrong_clock(
    rabbitmq: Server, settings: MongoSettings, sources: int
):
    an_hour = int(sources * 1.2)
    async with three_replicas(rabbitmq, settings) as places:
        world = World(calls=an_hour, places=places)
        world.clocks[2].advance(30)
        names = [str(number) for number in range(sources)]
        await world.name(*names[: sources // 10], rate=20)
        await world.name(*names[sources // 10 :], rate=0.01)
        alive = list(world.tickers)
        for minute in range(MINUTES):
            if minute == KILLED_AT:
                alive[0].queue = Dying()  # type: ignore[assignment]
            await a_minute(world, alive)

        assert len(alive) == 2
        assert await world.popped() == []
        assert max(world.asked.values()) == 1, "no source twice in one version"
        assert world.most_in_an_hour() <= an_hour
        assert len(world.asked_at) >= 0.9 * an_hour * (MINUTES - 1) / 60, "and the budget is used"
        found = await world.sources.list("web", limit=sources)
        assert len(found) == sources
        assert all(each.estimate.last is not None for each in found), "none is starved, those of the dead one neither"
