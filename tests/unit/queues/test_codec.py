from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import DecodeError, Unstorable
from ghcrawl.values.requests import Ancestor, Context, DeferredRequest, Failure, Pagination, Payload, Proof, Request
from queues.codec import decode, encode
from tests.support.builders import NOW, a_failure, a_payload, a_request

# Text as a JSON parser may hand it out: any character, lone surrogates too, but no pair of them that is a character.
texts = st.text(st.characters(exclude_categories=()), max_size=8).map(lambda text: json.loads(json.dumps(text)))
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(seconds=-1))])
moments = st.timedeltas(timedelta(0), timedelta(days=2_000_000)).map(
    lambda since: datetime(1971, 1, 1, tzinfo=UTC) + since
)
moments = st.builds(lambda moment, zone: moment.astimezone(zone), moments, zones)
bodies = st.dictionaries(
    texts,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
walks = st.builds(
    Pagination,
    page=st.integers(1),
    first=texts,
    fresh=st.booleans(),
    started_at=st.none() | moments,
    since=texts,
    until=texts,
    newest=texts,
    known=st.booleans(),
    changed=st.booleans(),
    partial=st.booleans(),
    covered=st.booleans(),
)
contexts = st.builds(
    Context,
    qualifier=texts,
    urn=texts,
    scope=texts,
    private=st.booleans(),
    deleted_at=st.none() | moments,
    history=st.lists(st.builds(Ancestor.of, texts), max_size=3).map(tuple),
    pagination=walks,
    only_known=st.booleans(),
    then=st.lists(st.builds(DeferredRequest, type=texts, url=texts, policy=texts), max_size=2).map(tuple),
    covered=st.lists(texts, max_size=2).map(tuple),
    changed_at=texts,
    proof=st.builds(
        Proof, fields=st.dictionaries(texts, texts, max_size=2), as_of=st.dictionaries(texts, texts, max_size=2)
    ),
)
payloads = st.builds(
    Payload,
    body=bodies,
    origin=st.sampled_from(["fetch", "storage", "list", "batch", "webhook", "event"]),
    observed_at=moments,
    digest=texts,
    received_at=st.none() | moments,
    etag=st.none() | texts,
    delivery_id=st.none() | texts,
    validator=st.none() | st.builds(Validator, url=texts, etag=st.none() | texts, last_modified=st.none() | texts),
)
failures = st.builds(Failure, at=moments, cause=texts, message=texts, status=st.none() | st.integers(), worker=texts)
requests = st.builds(
    Request,
    type=texts,
    url=texts,
    policy=texts,
    platform=texts,
    context=contexts,
    payload=st.none() | payloads,
    attempt=st.integers(),
    failures=st.lists(failures, max_size=2).map(tuple),
    asked_at=st.none() | moments,
    root=texts,
)


@given(requests)
def test_every_request_comes_back_as_it_was(request: Request) -> None:
    message = encode(request)
    assert decode(message) == request
    assert encode(decode(message)) == message


@given(requests)
def test_a_message_is_json_in_utf_8_and_says_its_version(request: Request) -> None:
    message = encode(request).decode()
    assert json.loads(message)["v"] == 1


@given(st.binary(max_size=40) | bodies.map(lambda body: json.dumps(body).encode()))
def test_what_is_no_request_is_refused_with_its_bytes(body: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.body == body


def test_moments_come_back_in_utc() -> None:
    there = timezone(timedelta(hours=2))
    request = decode(encode(a_request(asked_at=NOW.astimezone(there))))
    assert request.asked_at == NOW
    assert request.asked_at.tzinfo is UTC


def test_microseconds_are_kept() -> None:
    asked_at = NOW + timedelta(microseconds=1)
    assert decode(encode(a_request(asked_at=asked_at))).asked_at == asked_at


def test_a_big_number_survives() -> None:
    body = {"id": 10**300}
    request = decode(encode(a_request(payload=a_payload(body))))
    assert request.payload is not None
    assert request.payload.body == body


def test_a_common_request_makes_a_short_message() -> None:
    assert len(encode(a_request())) < 200


def test_unknown_fields_are_ignored() -> None:
    message = json.loads(encode(a_request(context=Context(pagination=Pagination(page=2)), payload=a_payload())))
    for place in (message, message["context"], message["context"]["walk"], message["payload"]):
        place["later"] = {"idea": 1}
    assert decode(json.dumps(message).encode()) == a_request(
        context=Context(pagination=Pagination(page=2)), payload=a_payload()
    )


def test_a_newer_version_is_refused_and_says_so() -> None:
    message = json.loads(encode(a_request())) | {"v": 2}
    with pytest.raises(DecodeError, match=r"version 2 .* newer ghcrawl"):
        decode(json.dumps(message).encode())


@pytest.mark.parametrize("version", [None, 0, -1, "1", 1.0, True])
def test_a_message_without_a_proper_version_is_refused(version: Any) -> None:
    message = json.loads(encode(a_request())) | {"v": version}
    with pytest.raises(DecodeError, match="version"):
        decode(json.dumps(message).encode())


@pytest.mark.parametrize(
    ("over", "says"),
    [
        ({"type": None}, "nothing where there should be text"),
        ({"url": 5}, "int where there should be text"),
        ({"context": []}, "list where there should be an object"),
        ({"context": {"history": [1]}}, "int where there should be text"),
        ({"context": {"history": "abc"}}, "str where there should be a list"),
        ({"context": {"then": [{"type": "t"}]}}, "lacks 'url'"),
        ({"context": {"walk": {"page": True}}}, "bool where there should be a whole number"),
        ({"payload": {"body": [], "origin": "list"}}, "list where there should be an object"),
        ({"payload": {"body": {}, "origin": "list", "observed_at": None, "digest": ""}}, "no moment"),
        ({"attempt": "1"}, "str where there should be a whole number"),
        ({"failures": [None]}, "nothing where there should be an object"),
        ({"asked_at": "yesterday"}, "Invalid isoformat"),
        ({"asked_at": "2026-11-21T12:00:00"}, "no time zone"),
        ({"asked_at": "0001-01-01T00:00:00+14:00"}, "out of range"),
    ],
)
def test_a_malformed_message_is_refused_and_says_why(over: dict[str, Any], says: str) -> None:
    message = json.loads(encode(a_request())) | over
    with pytest.raises(DecodeError, match=says):
        decode(json.dumps(message).encode())


@pytest.mark.parametrize("name", ["type", "url", "policy"])
def test_a_message_that_lacks_an_identity_is_refused(name: str) -> None:
    message = json.loads(encode(a_request()))
    del message[name]
    with pytest.raises(DecodeError, match=f"lacks '{name}'"):
        decode(json.dumps(message).encode())


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        decode(b"[" * 100_000)


def test_a_payload_that_is_no_json_is_unstorable() -> None:
    payload = Payload(body={"x": {1, 2}}, origin="list", observed_at=NOW, digest="d")
    with pytest.raises(Unstorable, match="issue@"):
        encode(a_request(payload=payload, failures=(a_failure(),)))
