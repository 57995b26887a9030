from __future__ import annotations

import asyncio

import pytest

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.faults import Faults, Limited, Slow
from ghcrawl.simulator.github.behaviour import Manners, Secondary
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from tests.unit.simulator.github.conftest import Hub, Start, an_insider


def a_setup(world: World, *, limit: int = 5000, **manners: object) -> Setup:
    principal = world.principal(an_insider(world), limit=limit)
    tokens = {"token-a": principal, "token-b": principal}
    return Setup(tokens=tokens, manners=Manners(**manners))  # type: ignore[arg-type]  # each test names real fields


async def test_every_answer_says_what_is_left(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny)
    clock.advance(10)
    reset = int(clock.now().timestamp()) + 3600
    for used, path in enumerate(("/repos/acme/web", "/repos/acme/nope", "/orgs/acme/teams"), start=1):
        headers = (await hub.get(path)).headers
        said = {name: headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Used", "Reset", "Resource")}
        assert said == {
            "Limit": "5000",
            "Remaining": str(5000 - used),
            "Used": str(used),
            "Reset": str(reset),
            "Resource": "core",
        }


async def test_tokens_of_one_user_share_a_budget_and_those_of_two_do_not(tiny: World, start: Start) -> None:
    first, second = list(tiny.org("acme").members.values())[:2]
    one, other = tiny.principal(first.user.login), tiny.principal(second.user.login)
    hub = await start(tiny, Setup(tokens={"token-a": one, "token-b": one, "token-c": other}))
    await hub.get("/orgs/acme")
    assert (await hub.get("/orgs/acme", token="token-b")).remaining == 4998
    assert (await hub.get("/orgs/acme", token="token-c")).remaining == 4999


async def test_a_window_begins_with_the_first_call_and_does_not_roll(
    tiny: World, start: Start, clock: SimClock
) -> None:
    hub = await start(tiny)
    clock.advance(1000)
    first = (await hub.get("/orgs/acme")).headers["X-RateLimit-Reset"]
    assert int(first) == int(clock.now().timestamp()) + 3600
    clock.advance(3599)
    late = await hub.get("/orgs/acme")
    assert (late.headers["X-RateLimit-Reset"], late.remaining) == (first, 4998)
    clock.advance(1)
    fresh = await hub.get("/orgs/acme")
    assert (int(fresh.headers["X-RateLimit-Reset"]), fresh.remaining) == (int(first) + 3600, 4999)


@pytest.mark.parametrize("status", [403, 429])
async def test_a_call_over_the_limit_is_refused_and_noted(
    tiny: World, start: Start, clock: SimClock, status: int
) -> None:
    hub = await start(tiny, a_setup(tiny, limit=2, over_limit_status=status))
    tag = (await hub.get("/orgs/acme")).headers["ETag"]
    assert (await hub.get("/orgs/acme")).status == 200
    assert hub.server.journal.violated == 0
    over = await hub.get("/orgs/acme", token="token-b", If_None_Match=tag)
    assert (over.status, over.remaining) == (status, 0)
    assert over.json["message"].startswith("API rate limit exceeded for user ID ")
    assert [call.violation for call in hub.server.journal.violations] == ["primary"]
    clock.advance(3600)
    assert (await hub.get("/orgs/acme")).status == 200


async def test_nobody_has_a_small_budget_of_their_own_for_each_address(tiny: World, start: Start) -> None:
    hub = await start(tiny, a_setup(tiny, anonymous_limit=1))
    assert (await hub.get("/repos/acme/web", token=None)).remaining == 0
    over = await hub.get("/repos/acme/web", token=None)
    assert (over.status, "better" in over.json["message"], "higher rate limit" in over.json["message"]) == (
        403,
        False,
        True,
    )
    assert (await hub.get("/repos/acme/web")).status == 200


async def test_searches_have_a_bucket_and_a_minute_of_their_own(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny)
    got = await hub.get("/search/repositories?q=web")
    assert (got.headers["X-RateLimit-Resource"], got.headers["X-RateLimit-Limit"], got.remaining) == (
        "search",
        "30",
        29,
    )
    assert int(got.headers["X-RateLimit-Reset"]) == int(clock.now().timestamp()) + 60
    assert (await hub.get("/orgs/acme")).remaining == 4999


async def test_asking_what_is_left_is_free(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    await hub.get("/orgs/acme")
    for _ in range(2):
        got = await hub.get("/rate_limit")
        assert got.json["resources"]["core"]["used"] == 1
        assert got.json["rate"] == got.json["resources"]["core"]
    assert "rate" not in (await hub.get("/rate_limit", X_GitHub_Api_Version="2026-03-10")).json


async def test_what_is_left_is_told_of_every_budget(tiny: World, start: Start) -> None:
    resources = (await (await start(tiny)).get("/rate_limit")).json["resources"]
    assert resources.keys() >= {"core", "search", "graphql", "code_search", "integration_manifest", "audit_log"}
    assert all(name == told["resource"] and told["remaining"] <= told["limit"] for name, told in resources.items())


async def test_asking_what_is_left_is_answered_when_nothing_is(tiny: World, start: Start) -> None:
    hub = await start(tiny, a_setup(tiny, limit=1))
    await hub.get("/orgs/acme")
    got = await hub.get("/rate_limit")
    assert (got.status, got.json["resources"]["core"]["remaining"], hub.server.journal.violated) == (200, 0, 0)


async def test_what_is_in_flight_is_spent(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny, a_setup(tiny, limit=1))
    hub.server.faults.script("/repos/acme/web", Slow(1))
    asked = asyncio.create_task(hub.get("/repos/acme/web"))
    await clock.sleeper()
    assert (await hub.get("/orgs/acme")).status == 403
    assert hub.server.journal.violated == 1
    clock.advance(1)
    assert (await asked).remaining == 0


async def test_a_304_that_took_until_the_next_window_is_not_refunded_there(
    tiny: World, start: Start, clock: SimClock
) -> None:
    hub = await start(tiny)
    tag = (await hub.get("/orgs/acme")).headers["ETag"]
    hub.server.faults.script("/orgs/acme", Slow(4000))
    asked = asyncio.create_task(hub.get("/orgs/acme", If_None_Match=tag))
    await clock.sleeper()
    clock.advance(4000)
    got = await asked
    assert (got.status, got.remaining) == (304, 5000)


async def test_window_and_limit_are_the_principals_own(tiny: World, start: Start, clock: SimClock) -> None:
    principal = replace(tiny.principal(an_insider(tiny)), limit=7, window_s=20)
    hub = await start(tiny, Setup(tokens={"token-a": principal}))
    assert (await hub.get("/orgs/acme")).remaining == 6
    clock.advance(20)
    assert (await hub.get("/orgs/acme")).remaining == 6


class TestSecondary:
    async def _refused(self, hub: Hub) -> None:
        got = await hub.get("/orgs/acme")
        assert got.status == 403
        assert "secondary rate limit" in got.json["message"]
        assert got.remaining > 0

    async def test_too_many_points_in_a_minute_bench_the_principal(
        self, tiny: World, start: Start, clock: SimClock
    ) -> None:
        rules = Secondary(points_per_minute=2, retry_after_s=30)
        hub = await start(tiny, a_setup(tiny, secondary=rules))
        for _ in range(2):
            assert (await hub.get("/orgs/acme")).status == 200
        got = await hub.get("/orgs/acme")
        assert (got.status, got.headers["Retry-After"]) == (403, "30")
        assert hub.server.journal.violated == 0
        clock.advance(20)
        await self._refused(hub)
        assert [call.violation for call in hub.server.journal.violations] == ["secondary"]
        clock.advance(60)
        assert (await hub.get("/orgs/acme")).status == 200

    async def test_too_much_response_time_in_a_minute_does_too(
        self, tiny: World, start: Start, clock: SimClock
    ) -> None:
        setup = a_setup(tiny, secondary=Secondary(cpu_s_per_minute=5))
        hub = await start(tiny, replace(setup, faults=Faults()))
        hub.server.faults.script("/orgs/acme", Slow(6))
        asked = asyncio.create_task(hub.get("/orgs/acme"))
        await clock.sleeper()
        clock.advance(6)
        assert (await asked).status == 200
        await self._refused(hub)

    async def test_too_many_calls_at_a_time_do_too(self, tiny: World, start: Start, clock: SimClock) -> None:
        hub = await start(tiny, a_setup(tiny, secondary=Secondary(concurrent=1)))
        hub.server.faults.script("/repos/acme/web", Slow(1))
        asked = asyncio.create_task(hub.get("/repos/acme/web"))
        await clock.sleeper()
        await self._refused(hub)
        clock.advance(1)
        assert (await asked).status == 200

    async def test_one_that_does_not_say_how_long_lasts_a_minute(
        self, tiny: World, start: Start, clock: SimClock
    ) -> None:
        hub = await start(tiny, a_setup(tiny, secondary=Secondary(retry_after_s=None)))
        hub.server.faults.script("/orgs/acme", Limited(retry_after_s=None, status=429))
        got = await hub.get("/orgs/acme")
        assert (got.status, "Retry-After" in got.headers) == (429, False)
        clock.advance(59)
        await self._refused(hub)
        clock.advance(1)
        assert (await hub.get("/orgs/acme")).status == 200

    async def test_calls_that_were_on_their_way_are_refused_and_are_no_violation(
        self, tiny: World, start: Start, clock: SimClock
    ) -> None:
        hub = await start(tiny)
        hub.server.faults.script("/orgs/acme", Limited(retry_after_s=5))
        assert (await hub.get("/orgs/acme")).headers["Retry-After"] == "5"
        await self._refused(hub)
        assert hub.server.journal.violated == 0
        clock.advance(2)
        await self._refused(hub)
        assert hub.server.journal.violated == 1

    async def test_it_is_one_principals_and_nobody_elses(self, tiny: World, start: Start) -> None:
        hub = await start(tiny)
        hub.server.faults.script("/orgs/acme", Limited())
        assert (await hub.get("/orgs/acme")).status == 403
        assert (await hub.get("/orgs/acme", token=None)).status == 200
