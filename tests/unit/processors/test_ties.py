"""What happened within one second: told in any order by any way, the platform has the last word, and is asked once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.requests import Context, Payload, Request
from ghcrawl.values.ties import WAIT
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import LEGACY_PLATFORM
from processors.github.webhook import POLICY
from tests.support.backend import PLATFORM, CrawlBackend
from tests.support.builders import NOW, a_type
from tests.unit.processors.test_events_order import REPO, REPOSITORY, THINGS, Thing, in_feed, on_page

pytestmark = pytest.mark.slow

TOLD = {thing.type: thing for thing in THINGS}
KINDS = ("pull_request", "release")
LONG_AGO = NOW - timedelta(seconds=30)

Sighting = tuple[str, int]
"""Way and number of a change; of a list or a single fetch: how many tenths of a second after `LONG_AGO` it was read.

With "wait", time passes instead, and what was asked for is answered.
"""


class Life(Struct, frozen=True):
    """A thing, the tenths of a second after `LONG_AGO` at which it changed, and how far our clock is ahead."""

    thing: Thing
    changes: tuple[int, ...]
    skew_s: int

    def body(self, version: int) -> dict[str, Any]:
        changed = (LONG_AGO + timedelta(seconds=self.changes[version] // 10)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {**self.thing.body, "url": self.thing.url, "body": f"version {version}", "updated_at": changed}

    @property
    def last(self) -> dict[str, Any]:
        return self.body(len(self.changes) - 1)

    def seen(self, sighting: Sighting) -> list[Request]:
        way, number = sighting
        if way == "wait":
            return []
        if way == "webhook":
            return [self.webhook(number)]
        if way == "feed":
            return in_feed(self.thing, number, self.body(number), NOW)
        version = sum(changed <= number for changed in self.changes) - 1
        observed_at = LONG_AGO + timedelta(seconds=number / 10 + self.skew_s)
        if way == "list":
            return on_page(self.thing, self.body(version), observed_at)
        return [self.fetched(version, observed_at)]

    def webhook(self, version: int) -> Request:
        assert PLATFORM.deliveries is not None
        payload = {"action": "edited", self.thing.field: self.body(version), "repository": REPOSITORY}
        return PLATFORM.deliveries.request(self.thing.event, f"d-{version}", payload, NOW)

    def fetched(self, version: int, observed_at: datetime) -> Request:
        payload = Payload.of(self.body(version), origin="fetch", observed_at=observed_at, received_at=NOW)
        context = Context(qualifier="urn:repo:12")
        policy = f"{POLICY}:self"
        return Request(
            platform=LEGACY_PLATFORM,
            type=self.thing.type,
            url=self.thing.url,
            policy=policy,
            context=context,
            payload=payload,
        )


@st.composite
def lives(draw: st.DrawFn, thing: Thing, *, apart: int) -> tuple[Life, Sequence[Sighting]]:
    """Changes at least so many tenths of a second apart; what was told and read of them, the last one too, shuffled."""
    gaps = draw(st.lists(st.integers(apart, apart + 6), min_size=1, max_size=4))
    changes = tuple(sum(gaps[: number + 1]) for number in range(len(gaps)))
    life = Life(thing, changes, draw(st.sampled_from([-2, -1, 0, 1, 2])))
    ways = st.sampled_from(["webhook", "feed"] if thing.feed else ["webhook"])
    told = draw(st.lists(st.tuples(ways, st.integers(0, len(gaps) - 1)), max_size=5))
    listed = thing.type != "pull_request"  # of which a list holds but part
    reads = st.sampled_from(["fetch", "list"] if listed else ["fetch"])
    read = draw(st.lists(st.tuples(reads, st.integers(changes[0], changes[-1] + 40)), max_size=4))
    told_last, read_last = st.just(("webhook", len(gaps) - 1)), st.integers(changes[-1], changes[-1] + 9)
    last = draw(st.one_of(told_last, st.tuples(reads, read_last)))
    waits = draw(st.lists(st.just(("wait", 0)), max_size=1))
    return life, draw(st.permutations([*told, *read, last, *waits]))


async def calls_until_settled(life: Life, sightings: Sequence[Sighting]) -> list[str]:
    """What was asked for until all was settled and answered, and the store said what the world says."""
    backend = CrawlBackend()
    backend.fetcher.bodies[life.thing.url] = life.last
    for sighting in [*sightings, ("wait", 0)]:
        if sighting[0] == "wait":
            backend.clock.advance(WAIT.total_seconds())
        await backend.settle(*life.seen(sighting), later=False)
    assert [one for one in await backend.queue.peek("soon", limit=9) if one.type == life.thing.type] == []
    assert not await backend.letters()
    (document,) = [one async for one in backend.store.list(DocumentFilter(types=(a_type(life.thing.type),)))]
    assert document.body == life.last
    return backend.calls()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=80, deadline=None)
async def test_in_whatever_order_it_is_told_the_store_says_in_the_end_what_the_world_says(kind: str, data: Any):
    life, sightings = data.draw(lives(TOLD[kind], apart=0))

    assert len(await calls_until_settled(life, sightings)) <= 1 + sightings.count(("wait", 0))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
async def test_what_changed_in_different_seconds_costs_no_call(kind: str, data: Any):
    life, sightings = data.draw(lives(TOLD[kind], apart=10))

    assert await calls_until_settled(life, sightings) == []


async def test_a_tie_is_asked_about_once_its_second_is_over_and_only_an_answer_from_then_on_will_do():
    backend, life = CrawlBackend(), Life(TOLD["pull_request"], (300, 301), 0)
    backend.fetcher.bodies[life.thing.url] = life.last
    await backend.settle(life.webhook(1), life.webhook(0), life.webhook(1), later=False)

    assert backend.calls() == []
    (asked,) = [one for one in await backend.queue.peek("soon", limit=9) if one.type == "pull_request"]
    assert (asked.url, asked.policy, asked.asked_at) == (life.thing.url, "refresh:self", NOW + WAIT)
    backend.clock.advance(WAIT.total_seconds())
    await backend.settle(later=False)
    stored = await backend.store.get(life.thing.urn)
    assert stored is not None
    assert (stored.body, iso(stored.observed_at)) == (life.last, iso(NOW + WAIT))
    await backend.settle(life.webhook(0), later=False)
    assert backend.calls() == [f"pull_request@{life.thing.url}"]


async def test_what_no_url_answers_with_alone_is_asked_about_by_nobody():
    backend, reactions = CrawlBackend(), "urn:repo:12:issue:34"
    bodies = ({"id": 5, "content": content, "created_at": iso(NOW)} for content in ("+1", "-1"))
    for body in bodies:
        payload = Payload.of(body, origin="list", observed_at=NOW)
        context = Context(qualifier=reactions)
        request = Request(
            platform=LEGACY_PLATFORM, type="reaction", url=f"{REPO}/reactions/5", context=context, payload=payload
        )
        await backend.settle(request, later=False)

    assert await backend.queue.is_empty()
