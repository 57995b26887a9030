"""A world that lives: what happens in it, the webhooks that it sends and the feeds that it shows."""

from __future__ import annotations

import asyncio
import hmac
import json
import warnings
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from random import Random

import aiohttp
import pytest
from aiohttp import web

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import SMALL
from ghcrawl.simulator.github.live.feed import HELD
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.live.live import Life
from ghcrawl.simulator.github.live.sending import Sender, pack
from ghcrawl.simulator.github.principals import Principal, Viewer
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from tests.unit.simulator.github.conftest import Start

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the packages that the schemas are in
    from githubkit import webhooks

SITE = Site("http://127.0.0.1:1")
CALM = replace(SMALL, quirks=False)
SECRET = "it is no secret here"


def a_life(seed: int = 1, clock: SimClock | None = None, world: World | None = None) -> Life:
    clock = clock or SimClock()
    world = world or generate(CALM, seed=1, clock=clock)
    return Life(world=world, site=SITE, logins=("acme", "globex"), seed=seed)


def live(life: Life, count: int) -> list[Hook]:
    clock = life.world.clock
    assert isinstance(clock, SimClock)
    hooks: list[Hook] = []
    for _ in range(count):
        clock.advance(2)
        hooks += life.step()[1]
    return hooks


def test_the_same_seed_lets_the_same_things_happen():
    one, same, other = (live(a_life(seed), 120) for seed in (1, 1, 2))

    assert [hook.payload for hook in one] == [hook.payload for hook in same]
    assert [hook.event for hook in one] != [hook.event for hook in other]


@pytest.mark.slow
def test_every_webhook_is_as_the_official_schemas_say():
    seen: Counter[tuple[str, str]] = Counter()
    for hook in live(a_life(3), 900):
        kind = (hook.event, hook.payload.get("action", ""))
        seen[kind] += 1
        if seen[kind] == 1:
            webhooks.parse_obj(hook.event, json.loads(json.dumps(hook.payload)))

    wanted = {"issues", "issue_comment", "push", "create", "delete", "pull_request", "release", "label", "milestone"}
    wanted |= {"repository", "organization", "membership", "team", "star", "commit_comment", "pull_request_review"}
    assert wanted <= {event for event, _ in seen}
    assert {("issues", "deleted"), ("repository", "renamed"), ("repository", "privatized")} <= set(seen)


@pytest.mark.slow
def test_those_whose_tokens_are_used_stay():
    life = a_life(5)
    stays = [member.user.login for member in life.world.org("acme").members.values()][:2]
    life.stays = frozenset(stays)
    live(life, 1500)

    left = {member.user.login for member in life.world.org("acme").members.values()}
    assert set(stays) <= left
    assert life.counts["organization.member_removed"] > 0


def test_a_parcel_is_signed_over_its_very_bytes():
    hook = live(a_life(), 1)[0]
    parcel = pack(hook, "72d3162e-cc78-11e3-81ab-4c9367dc0958", SECRET, target=9)
    expected = hmac.new(SECRET.encode(), parcel.body, sha256).hexdigest()

    assert parcel.headers["X-Hub-Signature-256"] == f"sha256={expected}"
    assert parcel.headers["X-GitHub-Event"] == hook.event
    assert parcel.headers["X-GitHub-Delivery"] == parcel.id
    assert json.loads(parcel.body) == hook.payload


@asynccontextmanager
async def listening(statuses: list[int], taken: list[tuple[str, str]]) -> AsyncIterator[str]:
    async def take(request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        signature = hmac.new(SECRET.encode(), body, sha256).hexdigest()
        assert request.headers["X-Hub-Signature-256"] == f"sha256={signature}"
        taken.append((request.headers["X-GitHub-Event"], request.headers["X-GitHub-Delivery"]))
        return web.Response(status=statuses.pop(0) if statuses else 202)

    runner = web.ServerRunner(web.Server(take), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
    finally:
        await runner.cleanup()


async def test_life_sends_what_happens_until_it_is_stopped_and_what_failed_once_more_when_asked():
    taken: list[tuple[str, str]] = []
    clock, stop = SimClock(), asyncio.Event()
    async with listening([202, 503, 202], taken) as url, aiohttp.ClientSession() as session:
        sender, life = Sender(url, SECRET, Random(1)), a_life(1, clock)
        living = asyncio.create_task(life.run(stop, per_minute=30, sender=sender))
        while len(taken) < 8:
            await clock.sleeper()
            clock.advance(60)
            await asyncio.sleep(0)
        stop.set()
        await living

        assert sender.answers[503] == 1
        assert len({delivery for _, delivery in taken}) == len(taken)
        failed = [parcel.id for parcel in sender.failed]
        assert await sender.send_failed(session) == 0
        assert [delivery for _, delivery in taken].count(failed[0]) == 2


async def test_a_webhook_that_nobody_takes_is_remembered():
    async with aiohttp.ClientSession() as session:
        sender = Sender("http://127.0.0.1:9/webhook", SECRET, Random(1))
        parcel = sender.pack(live(a_life(), 1)[0])

        assert await sender.send(session, parcel) == 0
        assert [each.id for each in sender.failed] == [parcel.id]


# Feeds -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_feeds_hold_300_events_newest_first_and_say_how_often_to_ask(start: Start) -> None:
    clock = SimClock()
    world = generate(CALM, seed=1, clock=clock)
    hub = await start(world=world)
    live(a_life(2, clock, world), 700)
    first = await hub.get("/orgs/acme/events?per_page=100")
    events = await hub.pagination("/orgs/acme/events?per_page=100")

    assert first.headers["X-Poll-Interval"] == "60"
    assert (await hub.get("/orgs/acme/events?per_page=100", If_None_Match=first.headers["ETag"])).status == 304
    assert len(events) == HELD
    ids = [int(event["id"]) for event in events]
    assert ids == sorted(ids, reverse=True)
    assert {event["org"]["login"] for event in events} == {"acme"}
    assert all(event["public"] for event in events)


async def test_what_is_private_stands_only_in_its_repositorys_feed_for_those_who_may_see_it(start: Start) -> None:
    clock = SimClock()
    world = generate(CALM, seed=1, clock=clock)
    hub = await start(world=world)
    org = world.org("acme")
    for repo in world.repos_of(org):
        repo.private = True
    live(a_life(2, clock, world), 60)
    shown = [event for event in await hub.pagination("/orgs/acme/events?per_page=100") if not event["public"]]
    assert shown == []
    viewer = Viewer(user=next(iter(org.members)), kind="user", insider_of=frozenset({org.id}))
    hub.server.doorman.add("token-inside", Principal(name="inside", viewer=viewer))
    events = [
        event
        for repo in world.repos_of(org)
        if repo.private
        for event in (await hub.get(f"/repos/{repo.full_name}/events", token="token-inside")).json
    ]
    assert events
    assert not any(event["public"] for event in events)


@pytest.mark.parametrize("seconds", [30, 3600])
async def test_an_event_is_seen_some_time_after_it_happened(start: Start, seconds: int) -> None:
    clock = SimClock()
    world = generate(CALM, seed=1, clock=clock)
    world.happenings.latency = timedelta(seconds=seconds)
    hub = await start(world=world)
    life = a_life(2, clock, world)
    while not list(world.happenings.newest(clock.now() + timedelta(days=1))):
        clock.advance(1)
        life.step()
    event = next(world.happenings.newest(clock.now() + timedelta(days=1)))

    path = f"/repositories/{event.repo.id}/events"
    assert (await hub.get(path)).json == []
    clock.advance(seconds - 1)
    assert (await hub.get(path)).json == []
    clock.advance(1)
    assert [one["id"] for one in (await hub.get(path)).json][:1] == [str(event.id)]
