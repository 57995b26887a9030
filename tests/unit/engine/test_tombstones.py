"""What is gone takes with it what lay in it, a bounded number at a time, and stays gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from ghcrawl.engine import tombstones
from ghcrawl.engine.decision import Decider, Mounted
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import Event, Kind, Thing
from ghcrawl.ports.store import DocumentFilter, Stored
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import (
    Missing,
    Save,
    Skip,
    Visit,
)
from ghcrawl.values.requests import Context, Push, Request
from ghcrawl.values.tuning import Tuning
from ghcrawl.values.type_names import LEGACY_PLATFORM
from ghcrawl.values.visitor_map import Scenarios
from stores.memory import MemoryStore
from tests.support.builders import NOW, a_document, a_payload, a_request, at
from tests.support.clock import FakeClock
from tests.support.github import PLATFORM as GITHUB
from tests.support.github import REPO
from tests.support.platforms import never_opened
from tests.support.scripted import Rig


class GoneFetcher:
    """Answers 404 whatever is asked."""

    async def fetch(self, request: Request, stored: Stored | None) -> Missing:
        return Missing(status=404, detail="Not Found", observed_at=at(50))

    def blocked_until(self) -> None:
        return None

    def credential_digest(self) -> str:
        return ""


def process(visit: Visit) -> Save:
    number = visit.fetched.body["number"]
    return Save(document=a_document(number, body=dict(visit.fetched.body), observed_at=visit.fetched.observed_at))


KINDS: dict[str, Kind] = {
    "issue": Thing(processor=process, position="issue"),
    "comment": Thing(processor=process, position="issue"),
    "happening": Event(processor=process, position="issue"),
}
PLATFORM = Platform(
    name="github",
    kinds=KINDS,
    scenarios=Scenarios({"default": {"issue": {}}}),
    open=never_opened,
    read_spec=lambda spec, api, policy: Request(
        platform=LEGACY_PLATFORM, type="issue", url=f"{api}/{spec}", policy=policy
    ),
)


class Bench:
    def __init__(self) -> None:
        self.store = MemoryStore()
        self.clock = FakeClock(at(60))
        mounted = Mounted(platform=PLATFORM, fetcher=GoneFetcher())
        self.decider = Decider({"github": mounted}, self.store, self.clock)

    async def keep(self, urn: str, type: str = "comment", **over: Any) -> Document:
        document = a_document(urn=urn, url=f"https://api.example.test/{urn}", type=type, **over)
        await self.store.save(document)
        return document

    async def settle(self, request: Request) -> tuple[str, tuple[Push, ...]]:
        outcome = (await self.decider.decide(request, Tuning())).outcome
        assert isinstance(outcome, Save | Skip)
        if isinstance(outcome, Save):
            await self.store.save(outcome.document)
        return type(outcome).__name__, outcome.follow_ups

    async def drain(self, request: Request) -> int:
        """Everything that follows from it, at once. Returns how many requests that were."""
        waiting, settled = [request], 0
        while waiting:
            _, follow_ups = await self.settle(waiting.pop())
            waiting = [push.request for push in follow_ups if push.not_before is not None] + waiting
            waiting += [push.request for push in follow_ups if push.not_before is None]
            settled += 1
        return settled

    async def alive(self) -> set[str]:
        return {document.urn async for document in self.store.list(DocumentFilter(deleted=False))}


def gone(document: Document, **over: Any) -> Request:
    context = Context(urn=document.urn, deleted_at=at(40))
    return a_request(type=document.type, url=document.url, context=context, **over)


async def test_what_lay_in_it_is_gone_too_but_not_its_neighbours_nor_what_happened():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    await bench.keep("urn:repo:12:issue:3:comment:1")
    await bench.keep("urn:repo:12:issue:3:comment:1:reaction:2")
    await bench.keep("urn:repo:12:issue:3:happening:1", "happening")
    await bench.keep("urn:repo:12:issue:33")
    await bench.drain(gone(issue))

    assert await bench.alive() == {"urn:repo:12:issue:33", "urn:repo:12:issue:3:happening:1"}
    dead = await bench.store.get(issue.urn)
    assert dead is not None
    assert (dead.deleted_at, dead.deleted_reason, dead.body) == (at(40), "event", issue.body)


async def test_a_thing_that_answers_404_takes_what_lay_in_it_with_it():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    await bench.keep("urn:repo:12:issue:3:comment:1")
    await bench.drain(a_request(type="issue", url=issue.url, asked_at=None))

    assert await bench.alive() == set()


async def test_a_great_many_are_buried_a_hundred_at_a_time():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    for number in range(tombstones.AT_ONCE * 2 + 50):
        await bench.keep(f"urn:repo:12:issue:3:comment:{number:04}")
    _, follow_ups = await bench.settle(gone(issue))
    settled = await bench.drain(gone(issue))

    assert len(follow_ups) == tombstones.AT_ONCE + 1
    assert follow_ups[-1].not_before == at(60 + tombstones.AGAIN_S)
    assert await bench.alive() == set()
    assert settled < 1000


class CountingStore(MemoryStore):
    """Counts what it lists."""

    listed = 0

    async def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        async for document in super().list(which):
            self.listed += 1
            yield document


async def test_however_much_lies_below_each_is_looked_at_a_few_times_and_what_happened_never():
    bench = Bench()
    bench.store = store = CountingStore()
    bench.decider = Decider({"github": Mounted(platform=PLATFORM, fetcher=GoneFetcher())}, store, bench.clock)
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    comments = tombstones.AT_ONCE * 5 + 1
    for number in range(comments):
        await bench.keep(f"urn:repo:12:issue:3:comment:{number:04}")
        await bench.keep(f"urn:repo:12:issue:3:happening:{number:04}", "happening")
    await bench.drain(gone(issue))

    assert store.listed <= 3 * comments
    assert await bench.alive() == {f"urn:repo:12:issue:3:happening:{number:04}" for number in range(comments)}


async def test_what_is_saved_behind_a_long_burial_is_found_by_a_last_look():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    for number in range(tombstones.AT_ONCE + 1):
        await bench.keep(f"urn:repo:12:issue:3:comment:{number:04}")
    _, follow_ups = await bench.settle(gone(issue))
    await bench.keep("urn:repo:12:issue:3:comment")
    for push in follow_ups:
        await bench.drain(push.request)

    assert await bench.alive() == set()


async def test_what_was_never_stored_is_a_tombstone_that_no_older_page_can_bring_back():
    bench = Bench()
    payload = a_payload({"number": 3, "title": "x"}, observed_at=at(40))
    await bench.settle(gone(a_document(3), payload=payload))
    late = a_document(3, observed_at=at(39))

    assert await bench.store.save(late) == "stale"
    assert await bench.alive() == set()


async def test_a_tombstone_outlasts_what_was_seen_by_a_clock_that_runs_ahead():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue", observed_at=at(9_000))
    await bench.settle(gone(issue))

    assert await bench.alive() == set()


async def test_saying_it_again_changes_nothing():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    await bench.settle(gone(issue))
    before = await bench.store.get(issue.urn)
    again, follow_ups = await bench.settle(replace(gone(issue), context=Context(urn=issue.urn, deleted_at=NOW)))

    assert (again, follow_ups) == ("Skip", ())
    assert await bench.store.get(issue.urn) == before


async def test_what_it_holds_by_a_link_is_gone_with_it():
    bench = Bench()
    links = {"holds": Link(type="resource", hrefs=("urn:repo:12:comment:1", "urn:repo:12:comment:2"))}
    issue = await bench.keep("urn:repo:12:issue:3", "issue", links=links)
    await bench.keep("urn:repo:12:comment:1")
    await bench.drain(gone(issue))

    assert await bench.alive() == set()


async def test_what_had_another_url_is_found_by_what_it_is_called():
    bench = Bench()
    issue = await bench.keep("urn:repo:12:issue:3", "issue")
    moved = f"{issue.url}/by/another/name"
    await bench.settle(a_request(type="issue", url=moved, asked_at=None))
    assert await bench.alive() == {issue.urn}
    await bench.settle(a_request(type="issue", url=moved, asked_at=None, context=Context(urn=issue.urn)))

    assert await bench.alive() == set()


@pytest.mark.parametrize(
    ("type", "body", "anonymous", "dies"),
    [
        ("repo", {"private": True}, True, False),
        ("repo", {"private": True}, False, True),
        ("repo", {"private": False}, True, True),
        ("release", {"draft": True}, True, False),
        ("release", {"draft": False}, True, True),
        ("pull_request", {"draft": True}, True, True),
        ("repo_teams", {"elements": []}, True, False),
        ("repo_teams", {"elements": []}, False, True),
    ],
)
async def test_what_some_only_are_shown_is_not_gone_because_nobody_is(
    type: str, body: dict[str, Any], anonymous: bool, dies: bool
):
    missing = Missing(status=404, detail="Not Found", observed_at=at(50), anonymous=anonymous)
    rig = Rig(GITHUB, {REPO: missing})
    await rig.store.save(a_document(type=type, url=REPO, urn="urn:repo:12:it", body=body))
    await rig.push(Request(platform=LEGACY_PLATFORM, type=type, url=REPO, policy="refresh"))
    (settled,) = await rig.drain()

    kept = await rig.store.get("urn:repo:12:it")
    assert kept is not None
    assert (kept.deleted_at is not None) is dies
    assert dies or settled.reason == "denied_credential"
