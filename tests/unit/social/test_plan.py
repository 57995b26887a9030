"""What a request URI asks for: one source is listed, all others are conditions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Unsupported, is_streamed, notes, plans
from ghcrawl.social.request_uri import Source


@pytest.mark.parametrize(
    ("sources", "driver", "conditions"),
    [
        ("query=x,user=a", "user=a", ["query=x"]),
        ("query=x,related=a", "related=a", ["query=x"]),
        ("location=berlin,query=x", "query=x", ["location=berlin"]),
        ("user=a,user=b", "user=a", ["user=b"]),
        ("related=b,user=a", "user=a", ["related=b"]),
    ],
)
def test_the_most_selective_source_is_listed_and_the_others_are_conditions(
    sources: str, driver: str, conditions: list[str]
) -> None:
    (plan,) = plans(parse(f"b:q/post/{sources}"))
    assert (str(plan.driver), [str(each) for each in plan.conditions]) == (driver, conditions)


def test_each_resource_is_a_plan_of_its_own() -> None:
    assert [plan.resource for plan in plans(parse("b:q/relations,post/user=a"))] == ["post", "relations"]


def test_13_a_user_and_those_related_to_the_same_user_is_the_union() -> None:
    found = plans(parse("p:q/relations/user=foo,relations=foo"))
    assert [(str(plan.driver), plan.conditions) for plan in found] == [("user=foo", ()), ("related=foo", ())]


@pytest.mark.parametrize("sources", ["user=foo,related=bar", "user=foo,related=foo,query=x"])
def test_13_any_other_union_is_two_requests(sources: str) -> None:
    (plan,) = plans(parse(f"p:q/relations/{sources}"))
    assert (str(plan.driver), plan.conditions[0].kind) == ("user=foo", "related")


def test_14_relations_of_a_location_are_not_defined() -> None:
    with pytest.raises(Unsupported, match="relations of a location"):
        plans(parse("b:q/post,relations/location=berlin"))
    assert plans(parse("b:q/post/location=berlin"))


def noted(what: str, *, words: bool = True) -> list[str]:
    """Notes on a request that is about the account a. words: whether that one has what is looked for."""
    return notes(plans(parse(f"b:q/{what}")), lambda source: source.value == "a", lambda _: words)


TWO = "nothing matches: what is asked for would have two authors"


def test_two_users_are_read_and_known_to_be_empty() -> None:
    assert noted("post,profile,relations/user=a,user=b") == [TWO]
    assert noted("post/user=a,related=b") == []


def test_words_that_an_account_does_not_have_are_noted_where_they_are_looked_for_in_the_account() -> None:
    assert noted("post,profile,relations/user=a,query=x") == []
    assert noted("post,profile,relations/user=a,query=x", words=False) == [
        f"{resource} matches nothing: the account does not have the words of query"
        for resource in ("profile", "relations")
    ]
    assert noted("profile/query=x,query=y", words=False) == [], "of a search, no account is known yet"


@pytest.mark.parametrize(
    ("what", "ignored"),
    [
        ("post/user=a?before=2026-02-01,cursor=c,limit=3,since=2026-01-01", []),
        ("profile/user=a?before=2026-02-01,since=2026-01-01", ["since for profile", "before for profile"]),
        ("post,profile,relations/user=a?since=2026-01-01", ["since for profile and relations"]),
        ("post,profile,relations/user=a?limit=3", ["limit for relations"]),
        ("post,profile/query=x?cursor=c", ["cursor for profile"]),
        ("post/related=a?cursor=c", ["cursor for post"]),
        ("post/user=a,related=a?cursor=c", []),
    ],
)
def test_parameters_that_a_resource_cannot_have_are_noted_as_ignored(what: str, ignored: list[str]) -> None:
    assert noted(what) == [each.replace(" for", " is ignored for", 1) for each in ignored]


@pytest.mark.parametrize(
    ("what", "note", "streamed"),
    [
        ("post/user=a", [], True),
        ("post/query=x", [], True),
        ("post,profile/user=a", [], True),
        ("profile,relations/user=a", ["stream is ignored: only posts are streamed"], False),
        ("post/related=a", ["stream is ignored: posts of related accounts are not streamed"], False),
        ("post/user=a,related=a", ["the stream leaves out posts of related accounts"], True),
        ("post/user=a,user=b", [TWO], False),
    ],
)
def test_10_a_stream_that_cannot_be_is_ignored_and_noted(what: str, note: list[str], *, streamed: bool) -> None:
    wanted = plans(parse(f"b:q/{what}?stream"))
    assert noted(f"{what}?stream") == note
    assert is_streamed(wanted, lambda source: source.value == "a") is streamed
    assert not is_streamed(plans(parse(f"b:q/{what}")), lambda _: True), "nobody asked for a stream"


def day(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("created", "edited", "admitted"),
    [(1, None, False), (2, None, True), (3, None, True), (4, None, False), (1, 3, True), (4, 3, False), (3, 9, True)],
)
def test_8_since_goes_by_the_last_change_and_before_by_the_first(
    created: int, edited: int | None, admitted: bool
) -> None:
    (plan,) = plans(parse("b:q/post/user=a?since=2026-01-02,before=2026-01-04"))
    assert plan.admits(day(created), day(edited) if edited else None) is admitted


def test_8_a_post_without_a_date_is_not_known_to_lie_outside() -> None:
    (plan,) = plans(parse("b:q/post/user=a?since=2026-01-02,before=2026-01-04"))
    assert plan.admits(None)


def test_every_condition_must_hold() -> None:
    (plan,) = plans(parse("b:q/post/user=a,query=x,query=y"))
    assert plan.matches(lambda _: True)
    assert not plan.matches(lambda source: source != Source("query", "y"))
