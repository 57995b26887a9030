"""What a request URI asks for: one source is listed, all others are conditions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Unsupported, contradicts, plans
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


def test_14_relations_of_a_location_are_not_defined() -> None:
    with pytest.raises(Unsupported, match="relations of a location"):
        plans(parse("b:q/post,relations/location=berlin"))
    assert plans(parse("b:q/post/location=berlin"))


def test_two_users_are_read_and_known_to_be_empty() -> None:
    assert contradicts(parse("b:q/post/user=a,user=b"))
    assert not contradicts(parse("b:q/post/user=a,related=b"))


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


def test_every_condition_must_hold() -> None:
    (plan,) = plans(parse("b:q/post/user=a,query=x,query=y"))
    assert plan.matches(lambda _: True)
    assert not plan.matches(lambda source: source != Source("query", "y"))
