from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from ghcrawl.simulator.answers import Answer
from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.faults import Broken, Dropped, Fault, Faults, Scripted, Slow, Truncated
from ghcrawl.simulator.github.world import World
from tests.unit.simulator.github.conftest import Start


def drawn(faults: Faults, target: str, times: int) -> list[Fault | None]:
    return [faults.draw(target, target, 30) for _ in range(times)]


def test_what_befalls_a_url_depends_on_the_seed_and_not_on_other_urls() -> None:
    alone = drawn(Faults.weather(0.5, seed=3), "/a", 20)
    mixed_with = Faults.weather(0.5, seed=3)
    mixed = []
    for number in range(20):
        mixed_with.draw(f"/other/{number}", f"/other/{number}", 30)
        mixed += drawn(mixed_with, "/a", 1)
    assert alone == mixed
    assert alone != drawn(Faults.weather(0.5, seed=4), "/a", 20)


def test_about_the_wanted_share_of_calls_goes_wrong_in_every_way_there_is() -> None:
    faults = Faults.weather(0.2, seed=1)
    found = [faults.draw(f"/{number}", f"/{number}", 30) for number in range(2000)]
    wrong = [fault for fault in found if fault]
    assert 300 < len(wrong) < 500
    assert {type(fault) for fault in wrong} == {Broken, Dropped, Truncated}


def test_no_url_fails_more_than_twice_in_a_row() -> None:
    faults = Faults([(1.0, Broken(500))], streak=2)
    assert drawn(faults, "/a", 6) == [Broken(500), Broken(500), None] * 2


async def test_a_script_is_played_in_order_and_then_over(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    hub.server.faults.script("/repos/*", Broken(500), None, Broken(504))
    statuses = [(await hub.get("/repos/acme/web")).status for _ in range(4)]
    assert statuses == [500, 200, 504, 200]
    assert (await hub.get("/orgs/acme")).status == 200


async def test_a_503_is_a_page_for_people(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    hub.server.faults.script("/orgs/acme", Broken(503))
    got = await hub.get("/orgs/acme")
    assert (got.status, got.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
    assert b"Unicorn" in got.raw


async def test_any_answer_can_be_scripted(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    answer = Answer(status=422, body={"message": "spammed"}, headers={"X-Odd": "yes"})
    hub.server.faults.script("/orgs/acme", Scripted(answer))
    got = await hub.get("/orgs/acme")
    assert (got.status, got.json, got.headers["X-Odd"]) == (422, {"message": "spammed"}, "yes")


async def test_a_failed_call_costs_what_any_call_costs(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    hub.server.faults.script("/orgs/acme", Broken(502))
    assert (await hub.get("/orgs/acme")).remaining == 4999


async def test_a_connection_can_be_lost_before_anything_was_sent(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    hub.server.faults.script("/orgs/acme", *[Dropped()] * 2)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await hub.get("/orgs/acme")
    assert hub.server.journal.total >= 1
    hub.server.faults.script("/orgs/acme", *[None] * 2)
    assert (await hub.get("/repos/acme/web")).status == 200


async def test_a_connection_can_be_lost_in_the_middle_of_a_body(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    hub.server.faults.script("/orgs/acme", Dropped(mid_body=True))
    with pytest.raises(aiohttp.ClientPayloadError):
        await hub.get("/orgs/acme")
    assert (await hub.get("/orgs/acme")).status == 200


async def test_json_can_end_half_way_in_a_whole_answer(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    whole = (await hub.get("/orgs/acme")).raw
    hub.server.faults.script("/orgs/acme", Truncated())
    async with hub.session.get(f"{hub.server.url}/orgs/acme", headers={"Authorization": "Bearer token-a"}) as got:
        half = await got.read()
    assert (got.status, half) == (200, whole[: len(whole) // 2])
    with pytest.raises(json.JSONDecodeError):
        json.loads(half)


async def test_an_answer_can_take_its_time(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny)
    hub.server.faults.script("/orgs/acme", Slow(9))
    asked = asyncio.create_task(hub.get("/orgs/acme"))
    await clock.sleeper()
    clock.advance(8)
    assert not asked.done()
    clock.advance(1)
    assert (await asked).status == 200


async def test_a_page_that_is_too_heavy_is_502_until_it_is_small_enough(settled: World, start: Start) -> None:
    hub = await start(settled)
    hub.server.faults.heavy["*/pulls"] = 25
    statuses = [(await hub.get(f"/repos/acme/web/pulls?per_page={size}")).status for size in (100, 50, 25)]
    assert statuses == [502, 502, 200]
    assert (await hub.get("/repos/acme/web/pulls")).status == 502
    assert (await hub.get("/repos/acme/web/issues?per_page=100")).status == 200
