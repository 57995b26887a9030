from __future__ import annotations

import asyncio
import re
import socket

import aiohttp
import pytest

from ghcrawl.platforms.simulation import Simulation
from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.faults import Slow
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.standalone import simulated
from ghcrawl.simulator.github.world import World
from tests.unit.simulator.github.conftest import Start


async def test_the_journal_says_what_was_asked_and_what_it_cost(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny)
    tag = (await hub.get("/repos/acme/web/issues?state=all")).headers["ETag"]
    await hub.get("/repos/acme/web/issues?state=all", If_None_Match=tag)
    await hub.get("/repos/acme/nope")
    await hub.get("/repos/acme/nope")
    journal = hub.server.journal
    assert (journal.total, journal.charged, journal.not_modified, journal.violated) == (4, 3, 1, 0)
    assert journal.repeated() == {"/repos/acme/nope": 2}
    assert journal.answered("/repos/acme/web/issues?state=all") == 1
    assert journal.targets() == {"/repos/acme/web/issues?state=all", "/repos/acme/nope"}
    assert dict(journal.statuses) == {200: 1, 304: 1, 404: 2}
    first, second = list(journal.calls)[:2]
    assert (first.method, first.status, first.charged, first.conditional, first.at) == (
        "GET",
        200,
        True,
        False,
        clock.now(),
    )
    assert (second.status, second.charged, second.conditional) == (304, False, True)
    assert set(journal.by_principal) == {first.principal}
    journal.clear()
    assert (journal.total, journal.repeated(), list(journal.calls)) == (0, {}, [])


async def test_a_taken_address_is_an_error_and_leaves_nothing_behind(tiny: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with running(tiny, port=taken.getsockname()[1]):
            pass


async def test_urls_in_bodies_begin_with_the_public_one_where_there_is_one(tiny: World) -> None:
    async with running(tiny, Setup(public_url="http://github.test/")) as server:
        assert server.url == server.site.base == "http://github.test"


async def test_many_simulators_run_beside_one_another(tiny: World, start: Start) -> None:
    one, other = await start(tiny), await start(tiny)
    assert one.server.url != other.server.url
    got = [(await hub.get("/repos/acme/web")).json["url"] for hub in (one, other)]
    assert got == [f"{hub.server.url}/repos/acme/web" for hub in (one, other)]


async def test_stopping_does_not_wait_for_an_answer_that_takes_its_time(tiny: World, clock: SimClock) -> None:
    async with aiohttp.ClientSession() as session:
        async with running(tiny) as server:
            server.faults.script("/orgs/acme", Slow(1e6))
            asked = asyncio.create_task(session.get(f"{server.url}/orgs/acme"))
            await clock.sleeper()
        with pytest.raises(aiohttp.ClientConnectionError):
            await asked


async def test_a_simulator_of_its_own_has_the_options_that_were_asked_for() -> None:
    wished = Simulation(size=100, tokens=2, limit=7, window_s=30, faults=0.5, changes_per_minute=6000)
    async with simulated(wished) as running_one, aiohttp.ClientSession() as session:
        assert (len(running_one.tokens), running_one.settings) == (2, {"github.api_url": running_one.url})
        assert list(running_one.about)[1] == "Making about 6000 changes per minute."
        headers = {"Authorization": f"Bearer {next(iter(running_one.tokens))}", "User-Agent": "test"}
        statuses = []
        for _ in range(7):
            async with session.get(f"{running_one.url}/orgs/acme", headers=headers) as answer:
                statuses.append(answer.status)
        assert any(status >= 500 for status in statuses)
        async with session.get(f"{running_one.url}/rate_limit", headers=headers) as answer:
            assert (await answer.json())["rate"]["limit"] == 7
    assert re.fullmatch(r"[1-9]\d* changes made\.", running_one.report())


async def test_without_limits_a_crawl_need_not_limit_itself_either() -> None:
    async with simulated(Simulation(size=100, limit=None)) as running_one:
        assert running_one.settings["github.calls_per_min"] == "0"
    assert running_one.report() == ""
