"""Feeds: what is new since the last poll, and what to do when GitHub has forgotten what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ghcrawl.platforms.github
from ghcrawl.values.documents import Document
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from processors.github.events_feed import HISTORY, REMEMBERED, cursor_urn, feed_request
from processors.github.events_table import EVENT_RULES
from processors.github.webhook import POLICY
from tests.support.backend import CrawlBackend
from tests.support.builders import API, NOW, at
from tests.support.github import continuation_of, kind_of

PLATFORM = ghcrawl.platforms.github.platform()
FEED = f"{API}/orgs/acme/events?per_page=100"
PREDECESSOR = (
    "CommitComment Create Delete Deployment DeploymentStatus Fork Gollum IssueComment Issues Label Member Membership "
    "Milestone Organization OrgBlock PageBuild Public PullRequest PullRequestReview PullRequestReviewComment Push "
    "Release Repository Star Status Team TeamAdd Watch"
)


def event(number: int, type: str = "WatchEvent", payload: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "id": str(number),
        "type": type,
        "actor": {"id": 5, "login": "ann", "url": f"{API}/users/ann"},
        "repo": {"id": 12, "name": "acme/web", "url": f"{API}/repos/acme/web"},
        "org": {"id": 9, "login": "acme", "url": f"{API}/orgs/acme"},
        "payload": {"action": "started"} if payload is None else payload,
        "public": True,
        "created_at": "2026-11-21T11:00:00Z",
    }


def poll(seconds: float = 0) -> Request:
    """What the deferred request of `feed_request` becomes."""
    request = feed_request("org", f"{API}/orgs/acme")
    assert request is not None
    deferred = request.context.then[0]
    context = Context(qualifier="urn:org:9", scope="acme")
    return Request(
        platform=LEGACY_PLATFORM,
        type=deferred.type,
        url=deferred.url,
        policy=deferred.policy,
        context=context,
        asked_at=at(seconds),
    )


def page(request: Request, events: Sequence[Any], cursor: Document | None = None, *, following: str = "") -> Save:
    kind = kind_of("events")
    if request.context.pagination.page == 1:
        request = continuation_of("events").resume(request, cursor) or request
    visit = Visit(
        request=request,
        fetched=Fetched(
            body=list(events),
            url=request.url,
            observed_at=NOW,
            checked_at=at(1),
            link={"next": following} if following else {},
        ),
        next_hops=PLATFORM.scenarios.next_hops(parse(request.policy).placed(kind.position).spec),
        version=kind.version,
        processed_at=NOW,
    )
    outcome = kind.processor(visit)
    assert isinstance(outcome, Save)
    return outcome


def cursor_of(save: Save) -> Document:
    request = next(push.request for push in save.follow_ups if push.request.type == "cursor")
    assert request.payload is not None
    visit = Visit(
        request=request,
        fetched=Fetched(body=request.payload.body, url=request.url, observed_at=NOW, checked_at=NOW),
        next_hops=PLATFORM.scenarios.next_hops("event:self"),
        version=1,
        processed_at=NOW,
    )
    outcome = kind_of("cursor").processor(visit)
    assert isinstance(outcome, Save)
    return outcome.document


def types(save: Save) -> list[str]:
    return [push.request.type for push in save.follow_ups]


def test_the_predecessors_28_types_of_events_have_a_kind_each():
    assert len(PREDECESSOR.split()) == 28
    assert {f"{name}Event" for name in PREDECESSOR.split()} - set(EVENT_RULES) == set()


def test_what_a_feed_holds_at_the_first_poll_is_history():
    save = page(poll(), [event(2), event(1)])

    requests = [push.request for push in save.follow_ups if push.request.type == "WatchEvent"]
    assert [request.policy for request in requests] == [HISTORY, HISTORY]
    assert save.document.urn == "urn:org:9:events:page:1"
    assert save.document.body["elements"][0]["urn"] == "urn:repo:12:WatchEvent:2"
    assert cursor_of(save).urn == cursor_urn(poll())


def test_what_happened_since_the_first_poll_was_asked_for_is_told_at_once():
    late = event(3) | {"created_at": "2026-11-21T11:59:30Z"}
    save = page(poll(), [late, event(1)])

    told = {push.request.url.partition("#")[2]: push.request.policy for push in save.follow_ups}
    assert (told["3"], told["1"]) == (POLICY, HISTORY)


def test_the_next_poll_tells_only_what_is_new_even_where_it_comes_late_and_in_between():
    cursor = cursor_of(page(poll(), [event(3), event(1)]))
    save = page(poll(60), [event(4), event(3), event(2), event(1)], cursor)

    told = [push.request for push in save.follow_ups if push.request.type == "WatchEvent"]
    assert [request.url.partition("#")[2] for request in told] == ["4", "2"]
    assert {request.policy for request in told} == {POLICY}
    assert {request.asked_at for request in told} == {at(1)}
    assert told[0].context.qualifier == "urn:repo:12"
    assert told[0].context.scope == "acme/web"


def test_pages_are_followed_until_something_known_is_met():
    cursor = cursor_of(page(poll(), [event(1)]))
    first = page(poll(60), [event(5), event(4)], cursor, following=f"{FEED}&page=2")
    onward = next(push.request for push in first.follow_ups if push.request.type == "events")
    second = page(onward, [event(3), event(1)], cursor, following=f"{FEED}&page=3")

    assert "cursor" not in types(first)
    assert onward.context.pagination.page == 2
    assert types(second) == ["WatchEvent", "cursor"]
    assert cursor_of(second).body["newest"].split() == ["5", "4", "3", "1"]


def test_where_nothing_known_is_left_the_owner_is_refreshed():
    cursor = cursor_of(page(poll(), [event(1)]))
    save = page(poll(60), [event(900), event(899)], cursor)

    refresh = [push.request for push in save.follow_ups if push.request.type == "org"]
    assert [(request.url, request.policy, request.asked_at) for request in refresh] == [
        (f"{API}/orgs/acme", "refresh:org", at(1))
    ]


def test_a_feed_that_went_quiet_misses_nothing():
    cursor = cursor_of(page(poll(), [event(1)]))

    assert "org" not in types(page(poll(60), [], cursor))
    assert cursor_of(page(poll(60), [], cursor)).body["newest"] == "1"


def test_the_cursor_remembers_more_than_a_feed_can_hold_and_no_more_than_that():
    cursor = cursor_of(page(poll(), [event(number) for number in range(300)]))
    cursor = cursor_of(page(poll(60), [event(number) for number in range(200, 500)], cursor))

    assert len(cursor.body["newest"].split()) == REMEMBERED


def test_only_organisations_users_and_repositories_have_a_feed():
    for type in ("org", "user", "repo"):
        request = feed_request(type, f"{API}/x/acme")
        assert request is not None
        assert request.context.then[0].url == f"{API}/x/acme/events?per_page=100"
    assert feed_request("issue", f"{API}/repos/acme/web/issues/1") is None


async def test_polling_asks_for_the_thing_once_and_for_its_feed_each_time():
    backend = CrawlBackend()
    backend.fetcher.bodies = {
        f"{API}/orgs/acme": {"id": 9, "login": "acme", "url": f"{API}/orgs/acme", "type": "Organization"},
        FEED: [event(1)],
    }
    assert PLATFORM.feed is not None
    request = PLATFORM.feed.request("org", f"{API}/orgs/acme")
    assert request is not None
    for _ in range(2):
        backend.clock.advance(60)
        polling = Request(
            platform=LEGACY_PLATFORM,
            type=request.type,
            url=request.url,
            policy=request.policy,
            context=request.context,
            asked_at=backend.clock.now(),
        )
        await backend.settle(polling, queue="immediate", later=False)
        backend.fetcher.bodies[FEED] = [event(2), event(1)]

    assert backend.calls() == [f"org@{API}/orgs/acme", f"events@{FEED}", f"events@{FEED}"]
    documents = await backend.documents()
    assert {"urn:repo:12:WatchEvent:1", "urn:repo:12:WatchEvent:2", "urn:org:9:events:cursor"} <= set(documents)
    assert not await backend.letters()


def test_a_push_from_the_feed_reads_the_branch_and_what_is_new():
    desk_event = event(1, "PushEvent", {"ref": "refs/heads/main", "head": "a" * 40, "before": "b" * 40})
    cursor = cursor_of(page(poll(), [event(0)]))
    request = next(
        push.request
        for push in page(poll(60), [desk_event, event(0)], cursor).follow_ups
        if push.request.type == "PushEvent"
    )
    assert request.payload is not None
    kind = kind_of("PushEvent")
    outcome = kind.processor(
        Visit(
            request=request,
            fetched=Fetched(
                body=request.payload.body, url=request.url, observed_at=NOW, checked_at=NOW, origin="event"
            ),
            next_hops=PLATFORM.scenarios.next_hops(parse(request.policy).placed(kind.position).spec),
            version=1,
            processed_at=NOW,
        )
    )
    asked = {push.request.type: push.request for push in outcome.follow_ups}
    assert asked["branch"].url == f"{API}/repos/acme/web/branches/main"
    assert asked["commits"].context.qualifier == "urn:repo:12"
    assert asked["repo"].context.only_known
