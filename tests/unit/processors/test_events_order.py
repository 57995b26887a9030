"""However a thing is heard of, and in whatever order: one document, and always the same one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, Pagination, Payload, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from processors.github.webhook import POLICY
from tests.support.backend import PLATFORM, CrawlBackend
from tests.support.builders import API, NOW, a_type
from tests.support.github import kind_of

pytestmark = pytest.mark.slow

REPO = f"{API}/repos/acme/web"
REPOSITORY = {"id": 12, "full_name": "acme/web", "private": False, "events_url": f"{REPO}/events"}
BEGAN = NOW - timedelta(hours=1)
GONE = NOW


class Thing(Struct, frozen=True):
    """type, and the list that it stands in; event and field of its webhooks; fields that all its bodies have."""

    type: str
    listed: str
    event: str
    field: str
    urn: str
    url: str
    body: dict[str, Any]
    feed: str = ""


THINGS = (
    Thing(
        "issue_comment",
        "issue_comments",
        "issue_comment",
        "comment",
        "urn:repo:12:issue:34:issue_comment:56",
        f"{REPO}/issues/comments/56",
        {"id": 56, "issue_url": f"{REPO}/issues/34", "author_association": "NONE"},
        "IssueCommentEvent",
    ),
    Thing(
        "issue",
        "issues",
        "issues",
        "issue",
        "urn:repo:12:issue:34",
        f"{REPO}/issues/34",
        {"id": 7, "number": 34, "state": "open", "comments": 0, "title": "It broke", "closed_by": None},
        "IssuesEvent",
    ),
    Thing(
        "review_comment",
        "review_comments",
        "pull_request_review_comment",
        "comment",
        "urn:repo:12:pull_request:3:review_comment:8",
        f"{REPO}/pulls/comments/8",
        {"id": 8, "pull_request_url": f"{REPO}/pulls/3", "author_association": "NONE", "diff_hunk": "@@"},
        "PullRequestReviewCommentEvent",
    ),
    Thing(
        "commit_comment",
        "commit_comments",
        "commit_comment",
        "comment",
        "urn:repo:12:commit:abc:commit_comment:9",
        f"{REPO}/comments/9",
        {"id": 9, "commit_id": "abc", "author_association": "NONE"},
        "CommitCommentEvent",
    ),
    Thing(
        "milestone",
        "milestones",
        "milestone",
        "milestone",
        "urn:repo:12:milestone:2",
        f"{REPO}/milestones/2",
        {"id": 44, "number": 2, "open_issues": 1, "title": "v1"},
    ),
    Thing(
        "pull_request",
        "pull_requests",
        "pull_request",
        "pull_request",
        "urn:repo:12:pull_request:3",
        f"{REPO}/pulls/3",
        {"id": 1, "number": 3, "additions": 1, "merged": False, "base": {"repo": {"id": 12}}, "head": {}},
    ),
    Thing(
        "release",
        "releases",
        "release",
        "release",
        "urn:repo:12:release:5",
        f"{REPO}/releases/5",
        {"id": 5, "tag_name": "v1", "assets": [], "draft": False},
        "ReleaseEvent",
    ),
)

Sighting = tuple[str, int, int]
"""way, version, and how many seconds after that version came to be."""


def changed(version: int) -> datetime:
    return BEGAN + timedelta(seconds=10 * version)


def body_of(thing: Thing, version: int) -> dict[str, Any]:
    written = changed(version).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**thing.body, "url": thing.url, "body": f"version {version}", "updated_at": written}


def webhook(thing: Thing, version: int, *, action: str = "edited", at: datetime | None = None) -> Request:
    assert PLATFORM.deliveries is not None
    payload = {"action": action, thing.field: body_of(thing, version), "repository": REPOSITORY}
    received = at or changed(version) + timedelta(seconds=2)
    return PLATFORM.deliveries.request(thing.event, f"{action}-{version}", payload, received)


def visited(request: Request, body: Any, observed_at: datetime) -> Save:
    kind = kind_of(request.type)
    fetched = Fetched(body=body, url=request.url, observed_at=observed_at, checked_at=observed_at)
    next_hops = PLATFORM.scenarios.next_hops(parse(request.policy).placed(kind.position).spec)
    outcome = kind.processor(
        Visit(request=request, fetched=fetched, next_hops=next_hops, version=1, processed_at=observed_at)
    )
    assert isinstance(outcome, Save)
    return outcome


def in_feed(thing: Thing, version: int, body: dict[str, Any], observed_at: datetime) -> list[Request]:
    """What comes of finding an event that holds `body` in the repository's feed."""
    event = {
        "id": f"9{version}",
        "type": thing.feed,
        "repo": {"id": 12, "name": "acme/web", "url": REPO},
        "payload": {"action": "created", thing.field: body},
        "created_at": body["updated_at"],
    }
    context = Context(qualifier="urn:repo:12", pagination=Pagination(until="1"))
    poll = Request(platform=LEGACY_PLATFORM, type="events", url=f"{REPO}/events", policy="event:feed", context=context)
    pushes = visited(poll, [event], observed_at).follow_ups
    return [push.request for push in pushes if push.request.type == thing.feed]


def on_page(thing: Thing, body: dict[str, Any], observed_at: datetime) -> list[Request]:
    """What comes of finding `body` on a page of its list."""
    context = Context(qualifier="urn:repo:12")
    page = Request(
        platform=LEGACY_PLATFORM,
        type=thing.listed,
        url=f"{REPO}/x",
        policy=f"default:repo@/{thing.listed}",
        context=context,
    )
    pushes = visited(page, [body], observed_at).follow_ups
    return [push.request for push in pushes if push.request.type == thing.type]


async def by_webhook(backend: CrawlBackend, thing: Thing, version: int, _observed_at: datetime) -> None:
    await backend.settle(webhook(thing, version), later=False)


async def by_feed(backend: CrawlBackend, thing: Thing, version: int, observed_at: datetime) -> None:
    if thing.feed:
        await backend.settle(*in_feed(thing, version, body_of(thing, version), observed_at), later=False)


async def by_list(backend: CrawlBackend, thing: Thing, version: int, observed_at: datetime) -> None:
    if thing.type == "pull_request":  # an element of that list is no whole pull request
        await by_fetch(backend, thing, version, observed_at)
    else:
        await backend.settle(*on_page(thing, body_of(thing, version), observed_at), later=False)


async def by_fetch(backend: CrawlBackend, thing: Thing, version: int, observed_at: datetime) -> None:
    request = Request(
        platform=LEGACY_PLATFORM,
        type=thing.type,
        url=thing.url,
        policy="default",
        context=Context(qualifier="urn:repo:12"),
    )
    await backend.store.save(visited(request, body_of(thing, version), observed_at).document)


WAYS: dict[str, Callable[..., Any]] = {"webhook": by_webhook, "feed": by_feed, "list": by_list, "fetch": by_fetch}
SIGHTINGS = st.lists(
    st.tuples(st.sampled_from(sorted(WAYS)), st.integers(0, 4), st.integers(1, 9)), min_size=2, max_size=8, unique=True
)


async def outcome(thing: Thing, sightings: list[Sighting], *, gone_after: int | None = None) -> tuple[Any, ...]:
    """What the store says of it in the end."""
    backend, newest = CrawlBackend(), max(version for _, version, _ in sightings)
    for number, (way, version, after) in enumerate(sightings):
        if number == gone_after:
            await backend.settle(webhook(thing, newest, action="deleted", at=GONE), later=False)
        await WAYS[way](backend, thing, version, changed(version) + timedelta(seconds=after))
    assert not await backend.letters()
    found = [one async for one in backend.store.list(DocumentFilter(types=(a_type(thing.type),)))]
    assert [one.urn for one in found] == [thing.urn]
    return found[0].body["body"], found[0].url, found[0].deleted_at


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.type)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
async def test_any_order_of_arrival_gives_the_newest(thing: Thing, data: st.DataObject):
    ways = sorted(WAYS if thing.feed else WAYS.keys() - {"feed"})
    sightings = data.draw(SIGHTINGS.map(lambda seen: [one for one in seen if one[0] in ways]).filter(bool))
    shuffled = data.draw(st.permutations(sightings))

    newest = max(version for _, version, _ in sightings)
    assert await outcome(thing, shuffled) == (f"version {newest}", thing.url, None)


@pytest.mark.parametrize("thing", [one for one in THINGS if one.type not in ("commit_comment", "pull_request")])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
async def test_what_is_gone_stays_gone_whatever_comes_late(thing: Thing, data: st.DataObject):
    ways = sorted(WAYS if thing.feed else WAYS.keys() - {"feed"})
    sightings = data.draw(SIGHTINGS.map(lambda seen: [one for one in seen if one[0] in ways]).filter(bool))
    gone_after = data.draw(st.integers(0, len(sightings) - 1))

    *_, deleted_at = await outcome(thing, sightings, gone_after=gone_after)
    assert deleted_at == GONE


def test_a_payload_is_newer_by_what_the_platform_says_and_not_by_when_it_came():
    early, late = webhook(THINGS[0], 1, at=NOW), webhook(THINGS[0], 2, at=NOW - timedelta(minutes=30))

    assert isinstance(early.payload, Payload)
    assert isinstance(late.payload, Payload)
    assert early.payload.observed_at < late.payload.observed_at
    assert early.policy == POLICY
