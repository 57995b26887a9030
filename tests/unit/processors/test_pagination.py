"""Where a walk goes when its last page was read, and how changes are read on."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.platforms.kind import List
from ghcrawl.values.documents import Validator
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Save, Skip
from ghcrawl.values.requests import Ancestor, Pagination, Push
from tests.support.builders import API, NOW, a_document, at
from tests.support.github import REPO, a_commit, a_user, a_visit, an_issue, continuation_of, kind_of

PAGE_2 = f"{API}/repositories/12/x?page=2"
ISSUES = f"{REPO}/issues?state=all&sort=created&direction=asc&per_page=100"
CHANGES = f"{REPO}/issues?state=all&sort=updated&direction=asc&since=2026-01-01T00:00:00Z&per_page=100"
COMMITS = f"{REPO}/commits?per_page=100"
VALIDATOR = Validator(url=ISSUES, etag='"1"')
MEMBERS = f"{API}/orgs/acme/members?per_page=100"
EVENTS = f"{REPO}/issues/events?per_page=100"


def pages(type: str, items: list[Any], *, of: str = "urn:repo:12", **over: Any) -> Save | Skip:
    return kind_of(type).processor(a_visit(type, items, qualifier=of, **over))


def next_pages(type: str, items: list[Any], **over: Any) -> list[Push]:
    """What the page asks for of its own list."""
    over.setdefault("validator", VALIDATOR)
    follow_ups = pages(type, items, **over).follow_ups
    return [push for push in follow_ups if push.request.type == type and push.request.payload is None]


def last_of(first: str, page: int = 2, **pagination: Any) -> dict[str, Any]:
    return {"url": PAGE_2, "pagination": Pagination(first=first, page=page, started_at=NOW, **pagination)}


@pytest.mark.parametrize(
    ("type", "items", "first", "of"),
    [
        ("issues", [an_issue(1)], ISSUES, "urn:repo:12"),
        ("labels", [{"id": 1}], f"{REPO}/labels?per_page=100", "urn:repo:12"),
        ("commits", [a_commit()], COMMITS, "urn:repo:12"),
        ("members", [a_user()], MEMBERS, "urn:org:9"),
    ],
)
def test_after_the_last_of_several_pages_the_first_is_asked_for_again_as_of_now(
    type: str, items: list[Any], first: str, of: str
):
    (push,) = next_pages(type, items, of=of, **last_of(first))
    request = push.request

    assert request.url == first
    assert request.asked_at == NOW
    assert request.context.pagination.page == 1
    assert not request.context.pagination.fresh
    kind = kind_of(type)
    continuation = kind.continuation if isinstance(kind, List) else None
    assert continuation is None or continuation.resume(request, None) == request


@pytest.mark.parametrize(
    "over",
    [
        {"url": ISSUES, "pagination": Pagination(first=ISSUES)},
        last_of(ISSUES) | {"history": (Ancestor("repo", REPO), Ancestor("issues", PAGE_2))},
        last_of(ISSUES) | {"url": f"{PAGE_2}&after=Y3Vyc29y"},
        last_of(ISSUES) | {"policy": "always"},
        last_of(ISSUES) | {"policy": "reprocess"},
        last_of(""),
        last_of(CHANGES, since="2026-01-01T00:00:00Z"),
        last_of(ISSUES) | {"validator": None},
    ],
    ids=["one page", "again already", "by cursor", "always", "our copies", "typed", "changes", "without an ETag"],
)
def test_a_list_is_looked_at_once_more_only_where_something_may_have_moved_and_it_costs_nothing(over: dict[str, Any]):
    assert next_pages("issues", [an_issue(1)], **over) == []


def test_a_relation_of_many_pages_is_not_looked_at_again():
    assert len(next_pages("members", [a_user()], of="urn:org:9", **last_of(MEMBERS, 10))) == 1
    assert next_pages("members", [a_user()], of="urn:org:9", **last_of(MEMBERS, 11)) == []


def an_event(number: int) -> dict[str, Any]:
    return {"id": number, "issue": {"url": f"{REPO}/issues/34"}, "url": f"{REPO}/issues/events/{number}"}


@pytest.mark.parametrize(("numbers", "goes_on"), [((9, 8, 7), True), ((12, 9, 8), False), ((8, 7, 6), True)])
def test_what_grew_at_its_head_meanwhile_is_read_no_further_when_it_is_looked_at_again(
    numbers: tuple[int, ...], goes_on: bool
):
    pagination = Pagination(newest="urn:repo:12:issue:34:issue_event:9")
    again = {"pagination": pagination, "history": (Ancestor("issue_events", PAGE_2),), "link": {"next": PAGE_2}}

    assert bool(next_pages("issue_events", [an_event(n) for n in numbers], url=EVENTS, **again)) is goes_on


@pytest.mark.parametrize(("until", "goes_on"), [("b", False), ("a", True)])
def test_a_head_that_did_not_change_ends_a_walk_only_if_one_was_completed_from_it(until: str, goes_on: bool):
    pagination = Pagination(first=COMMITS, until=f"urn:repo:12:commit:{until * 40}")
    refs = [{"urn": f"urn:repo:12:commit:{sha * 40}", "url": f"{REPO}/commits/{sha * 40}"} for sha in "ba"]
    asked = next_pages("commits", refs, pagination=pagination, url=COMMITS, origin="storage", link={"next": PAGE_2})

    assert [push.request.url for push in asked] == [f"{REPO}/compare/{'a' * 40}...{'b' * 40}?per_page=100"] * goes_on


@pytest.mark.parametrize(("until", "goes_on"), [(7, False), (6, True)])
def test_a_list_that_grows_at_its_head_is_read_on_behind_an_unchanged_page_up_to_what_is_known(
    until: int, goes_on: bool
):
    urns = [f"urn:repo:12:issue:34:issue_event:{number}" for number in (9, 8, 7)]
    pagination = Pagination(first=EVENTS, until=f"urn:repo:12:issue:34:issue_event:{until}")
    refs = [{"urn": urn, "url": f"{REPO}/issues/events/{urn[-1]}"} for urn in urns]
    asked = next_pages("issue_events", refs, pagination=pagination, url=EVENTS, origin="storage", link={"next": PAGE_2})

    assert [push.request.url for push in asked] == [PAGE_2] * goes_on


def test_a_history_that_was_rewritten_while_it_was_read_is_read_again_afresh():
    pagination = Pagination(first=COMMITS, until="urn:repo:12:commit:gone")
    over = {"pagination": pagination, "history": (Ancestor("commits", PAGE_2),), "url": COMMITS}
    (push,) = next_pages("commits", [a_commit()], **over)

    assert push.request.url == COMMITS
    assert (push.request.context.pagination.fresh, push.request.context.pagination.until) == (True, "")


def test_a_merge_while_history_was_read_is_asked_for_by_itself():
    merge = a_commit(parents=[{"sha": "b" * 40}, {"sha": "c" * 40}])
    pagination = Pagination(first=COMMITS, until=f"urn:repo:12:commit:{'b' * 40}")
    over = {"pagination": pagination, "history": (Ancestor("commits", PAGE_2),), "url": COMMITS}
    (push,) = next_pages("commits", [merge, a_commit("b" * 40)], **over)

    assert push.request.url == f"{REPO}/compare/{'b' * 40}...{'a' * 40}?per_page=100"


def test_changes_are_read_on_from_the_last_one_instead_of_a_page_number():
    pagination = Pagination(first=CHANGES, since="2026-01-01T00:00:00Z")
    moved = [an_issue(1), an_issue(2, updated_at="2026-02-03T00:00:00Z")]
    (push,) = next_pages("issues", moved, url=CHANGES, pagination=pagination, link={"next": PAGE_2})
    at_once = [an_issue(number, updated_at="2026-01-01T00:00:00Z") for number in (1, 2)]
    (by_number,) = next_pages("issues", at_once, url=CHANGES, pagination=pagination, link={"next": PAGE_2})

    assert push.request.url == CHANGES.replace("2026-01-01", "2026-02-03")
    assert push.request.context.pagination == replace(
        pagination, page=2, started_at=NOW, newest="2026-02-03T00:00:00Z", changed=True
    )
    assert by_number.request.url == PAGE_2


def test_what_stands_on_an_unchanged_page_of_references_is_not_visited_when_it_is_looked_at_again():
    reference = {"urn": "urn:repo:12", "url": REPO}
    over = {
        "url": f"{API}/orgs/acme/repos",
        "origin": "storage",
        "pagination": Pagination(first=f"{API}/orgs/acme/repos"),
    }
    first = pages("repos", [reference], of="urn:org:9", **over).follow_ups
    again = pages(
        "repos", [reference], of="urn:org:9", **over, history=(Ancestor("repos", "x"),), observed_at=at(1)
    ).follow_ups

    assert [push.request.url for push in first] == [REPO]
    assert again == ()


@pytest.mark.parametrize(("remembered", "asked", "continues"), [("", "", True), ("", "everything", False)])
def test_a_walk_of_another_scenario_is_no_walk_to_continue(remembered: str, asked: str, continues: bool):
    body = {"collection": "urn:repo:12:issues", "since": "2026-01-01T00:00:00Z", "newest": "x", "scenario": remembered}
    policy = f"refresh:{asked}/repo@/issues" if asked else "refresh:repo@/issues"
    visit = a_visit(
        "issues", [], url=ISSUES, qualifier="urn:repo:12", pagination=Pagination(first=ISSUES), policy=policy
    )
    resume = continuation_of("issues").resume
    assert resume is not None
    request = resume(visit.request, a_document(type="cursor", body=body))

    assert request is not None
    assert ("since=" in request.url) is continues
