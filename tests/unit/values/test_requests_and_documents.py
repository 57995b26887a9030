"""Values: keys, digests, documents as JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import digest
from ghcrawl.values.requests import MAX_FAILURES, MAX_HISTORY, Ancestor, Context, DeferredRequest, Pagination, Proof
from ghcrawl.values.times import credible, iso, moment
from tests.support.builders import NOW, a_document, a_failure, a_payload, a_request, at
from tests.support.json_values import JSON, TEXT


def test_requests_that_differ_in_anything_that_matters_have_different_keys():
    base = a_request()
    others = [
        replace(base, type="repo"),
        replace(base, url=base.url + "0"),
        replace(base, policy="default:repo"),
        replace(base, platform="other"),
        replace(base, payload=a_payload({"id": 1})),
        replace(base, payload=a_payload({"id": 2})),
        replace(base, context=Context(only_known=True)),
        replace(base, context=Context(pagination=Pagination(fresh=True))),
        replace(base, context=Context(deleted_at=NOW)),
        replace(base, context=Context(covered=("user",))),
        replace(base, context=Context(changed_at="2026-01-01T00:00:00Z")),
        replace(base, context=Context(proof=Proof(fields={"additions": "ab"}))),
        replace(base, context=Context(then=(DeferredRequest(type="issue", url="u", policy="default"),))),
    ]

    assert len({base.key, *(other.key for other in others)}) == len(others) + 1


def test_attempts_history_and_payload_times_do_not_make_another_request():
    base = a_request(payload=a_payload())
    later = replace(
        base, payload=a_payload(observed_at=at(5)), attempt=2, context=Context(history=(Ancestor("org", "x"),))
    )

    assert later.key == base.key


def test_histories_and_failures_are_bounded():
    request = a_request()
    for number in range(30):
        request = request.child("issue", f"u{number}", "default:issue", Context(history=request.context.history))
        request = request.failed(a_failure(message=str(number)))
        request = replace(request, failures=request.failures)
    many = a_request()
    for number in range(30):
        many = many.failed(a_failure(message=str(number)))

    assert len(request.context.history) <= MAX_HISTORY
    assert len(many.failures) == MAX_FAILURES
    assert many.failures[-1].message == "29"
    assert many.attempt == 30


def test_a_child_belongs_to_the_crawl_of_its_parent():
    parent = a_request(root="org@acme", platform="elsewhere")
    child = parent.child("user", "u", "default:self", Context())

    assert (child.platform, child.root, child.asked_at) == ("elsewhere", "org@acme", parent.asked_at)
    assert child.context.history == (Ancestor(parent.type, parent.url),)


def test_a_child_about_a_document_knows_it_by_its_name_and_is_shown_what_its_parent_is():
    around = Context(qualifier="urn:repo:12", urn="urn:x", scope="acme/web", private=True, only_known=True)
    parent = a_request(context=around, payload=a_payload())
    document = a_document(3, type="label")
    child = parent.about(document, "refresh:self")
    told = parent.about(document, "default", url="https://elsewhere", qualifier="urn:repo:12", deleted_at=at(5))

    shared = Context(urn=document.urn, scope="acme/web", private=True, history=(Ancestor(parent.type, parent.url),))
    assert child == parent.child("label", document.url, "refresh:self", shared)
    assert told.url == "https://elsewhere"
    assert told.context == replace(shared, qualifier="urn:repo:12", deleted_at=at(5))


@given(JSON)
def test_a_digest_is_of_the_content_and_not_of_its_order(value: object):
    def turned(item: object) -> object:
        if isinstance(item, dict):
            return {name: turned(item[name]) for name in reversed(list(item))}
        return [turned(one) for one in item] if isinstance(item, list) else item

    assert digest(value) == digest(turned(value))


@given(body=st.dictionaries(TEXT.filter(lambda name: name != "_metadata"), JSON, max_size=5))
def test_a_document_survives_its_own_json(body: dict[str, object]):
    document = a_document(
        body=body,
        links={"self": Link(type="resource", href="u"), "labels": Link(type="resource", hrefs=("a", "b"))},
        validator=Validator(url="u", etag='"e"', last_modified="then", accept="json", api_version="1", principal="p"),
        aliases=("https://old",),
        visits={"default:issue": NOW},
        deleted_at=at(3),
        deleted_reason="404",
        changed_at="2026-01-01T00:00:00Z",
        link_header={"next": "n"},
        root="org@acme",
        origin="list",
    )

    assert Document.from_json(document.to_json()) == document


def test_the_later_change_is_truer_and_then_the_later_look():
    old = a_document(changed_at="2026-01-01T00:00:00Z", observed_at=at(100))
    new = a_document(changed_at="2026-01-02T00:00:00Z", observed_at=at(0))
    seen_again = a_document(changed_at="2026-01-02T00:00:00Z", observed_at=at(1))

    assert old.precedence < new.precedence < seen_again.precedence


def test_moments_sort_as_text():
    assert iso(at(0.001)) < iso(at(0.01)) < iso(at(1)) < iso(at(10))
    assert moment(iso(at(0.123))) == at(0.123)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z"),
        ("2026-11-21T11:00:00.123Z", "2026-11-21T11:00:00Z"),
        ("2026-11-21T09:00:00-02:00", "2026-11-21T11:00:00Z"),
        ("2026-11-22T11:00:00Z", "2026-11-22T11:00:00Z"),
        ("2026-11-23T11:00:00Z", ""),
        ("9999-12-31T23:59:59Z", ""),
        ("9999-12-31T23:59:59-14:00", ""),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00+05:00", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_a_date_is_read_and_one_that_cannot_be_is_none(said: str, found: str):
    assert credible(said, NOW) == found
