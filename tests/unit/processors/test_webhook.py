"""What a webhook delivery becomes before anything is made of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ghcrawl.platforms.github
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.visitor_map import NextHops
from processors.github.names import last_number
from processors.github.webhook import delivery_request, read_moment, type_of
from queues.codec import decode, encode
from tests.support.builders import API, NOW, at
from tests.support.json_values import JSON, TEXT

REPOSITORY = {
    "id": 12,
    "full_name": "acme/web",
    "private": True,
    "events_url": f"{API}/repos/acme/web/events",
    "updated_at": "2026-11-20T10:00:00Z",
    "pushed_at": 1_700_000_000,
}
FIELDS = st.sampled_from(
    ["action", "repository", "organization", "sender", "installation", "issue", "id", "updated_at"]
)


def deliver(name: str, body: dict[str, Any], delivery: str = "d-1", *, seconds: float = 0):
    platform = ghcrawl.platforms.github.platform()
    assert platform.deliveries is not None
    return platform, platform.deliveries.request(name, delivery, body, at(seconds))


def test_a_delivery_is_a_request_of_the_events_type_below_its_repository():
    _, request = deliver("issues", {"action": "opened", "repository": REPOSITORY, "sender": {"login": "ann"}})

    assert type_of("issues") == "IssuesEvent"
    assert request.context.qualifier == "urn:repo:12"
    assert request.context.scope == "acme/web"
    assert request.context.private
    assert request.url == f"{API}/repos/acme/web/events#d-1"
    assert request.asked_at == NOW
    assert request.payload is not None
    assert request.payload.delivery_id == "d-1"
    assert request.payload.origin == "webhook"


def test_the_key_is_one_for_each_delivery_and_the_same_when_it_is_delivered_again():
    body = {"action": "created", "repository": REPOSITORY}
    _, first = deliver("star", body)
    _, again = deliver("star", body, seconds=3600)
    _, other = deliver("star", body, "d-2")

    assert first.key == again.key
    assert first.key != other.key


def test_it_was_true_when_its_own_things_say_and_not_when_it_arrived():
    _, dated = deliver("issues", {"issue": {"updated_at": "2026-11-20T10:00:05Z"}, "repository": REPOSITORY})
    _, undated = deliver("membership", {"organization": {"id": 9}})

    assert dated.payload is not None
    assert undated.payload is not None
    assert dated.payload.observed_at == datetime(2026, 11, 20, 10, 0, 5, 999_000, tzinfo=UTC)
    assert undated.payload.observed_at == NOW


@pytest.mark.parametrize("name", ["brand_new_thing", "No Such Event", "", "__class__", "../x"])
def test_an_event_that_nobody_knows_is_kept_as_a_document(name: str):
    platform, request = deliver(name, {"what": ["ever"], "organization": {"id": 9, "login": "acme"}})

    assert request.type == "event"
    assert request.payload is not None
    saved = platform.kinds["event"].processor(
        Visit(
            request=request,
            fetched=Fetched(body=request.payload.body, url=request.url, observed_at=NOW, checked_at=NOW),
            next_hops=NextHops(),
            version=1,
            processed_at=NOW,
        )
    )
    assert isinstance(saved, Save)
    assert saved.document.urn == "urn:org:9:event:d-1"
    assert saved.document.body["payload"]["what"] == ["ever"]


@given(TEXT, st.dictionaries(FIELDS, JSON, max_size=6))
def test_any_json_object_gives_a_request_that_survives_the_queue(name: str, body: dict[str, Any]):
    request = delivery_request(name, "d-1", body, NOW)

    assert decode(encode(request)).key == request.key


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+05:00", "1969-12-31T23:59:59Z", "2026-01-01T00:00:00", -(10**18)]
)
def test_what_is_no_moment_of_a_platform_says_nothing_of_when(moment: Any):
    assert read_moment(moment) is None


def test_a_number_that_nobody_could_have_given_names_nothing():
    assert last_number(f"{API}/repos/acme/web/issues/{'9' * 5000}") is None
    assert last_number(f"{API}/repos/acme/web/issues/34/") == 34


def test_a_moment_that_cannot_be_does_not_say_when_it_was_true():
    body = {"repository": REPOSITORY, "issue": {"id": 1, "updated_at": "9999-12-31T23:59:59Z"}}
    _, request = deliver("issues", body)

    assert request.payload is not None
    assert request.payload.observed_at < NOW
