"""Pages of lists: elements, the next page, cursors, generations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from ghcrawl.engine.reconciliation import reconcile
from ghcrawl.platforms.kind import alternative
from ghcrawl.values.documents import Link
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Skip
from ghcrawl.values.requests import Pagination
from processors.github import LISTINGS
from processors.github.listing import asked_at_of
from stores.memory import MemoryStore
from tests.support.builders import API, a_document, a_request, at
from tests.support.github import (
    PLATFORM,
    REPO,
    a_commit,
    a_repo,
    a_user,
    a_visit,
    an_issue,
    asked,
    carried,
    comparison_of,
    continuation_of,
    process,
    saved,
)

ISSUES = f"{REPO}/issues?state=all&sort=created&direction=asc&per_page=100"
COMMITS = f"{REPO}/commits?per_page=100"
MEMBERS = f"{API}/orgs/acme/members?per_page=100"
NEXT = {"next": f"{API}/repositories/12/list?page=2"}


def issues_page(items: list[Any], *, url: str = ISSUES, **over: Any) -> Any:
    over.setdefault("pagination", Pagination(first=url))
    return saved("issues", items, url=url, qualifier="urn:repo:12", **over)


def cursor(outcome: Any) -> dict[str, Any] | None:
    return next((body for url, body in carried(outcome).items() if url.endswith("#cursor")), None)


def test_complete_elements_are_carried_along_and_cost_no_call():
    outcome = issues_page([an_issue(1), an_issue(2)])

    assert carried(outcome)[f"{REPO}/issues/1"] == an_issue(1)
    assert asked(outcome) == {}
    assert all(push.queue == "event" for push in outcome.follow_ups)


def test_a_collection_page_keeps_references():
    document = issues_page([an_issue(1)]).document

    assert document.urn == "urn:repo:12:issues:page:1"
    assert document.body == {"elements": [{"urn": "urn:repo:12:issue:1", "url": f"{REPO}/issues/1"}]}
    assert document.links["resources"].hrefs == ("urn:repo:12:issue:1",)
    assert document.links["repo"].href == "urn:repo:12"


def test_what_a_list_shows_only_in_part_is_asked_for():
    outcome = saved("repos", [a_repo(), a_repo(13, "api", private=True)], qualifier="urn:org:9", scope="acme")
    requests = {push.request.url: push.request.context for push in outcome.follow_ups}

    assert requests[REPO].scope == "acme/web"
    assert requests[f"{API}/repos/acme/api"].private is True
    assert carried(outcome) == {}


def test_the_next_page_is_the_one_that_github_names():
    outcome = issues_page([an_issue(1)], link=NEXT)

    (following,) = [push.request for push in outcome.follow_ups if push.request.type == "issues"]
    assert following.url == NEXT["next"]
    assert following.context.pagination.page == 2
    assert following.context.pagination.newest == "2026-01-02T00:00:00Z"
    assert cursor(outcome) is None


def test_the_cursor_moves_with_the_last_page_to_the_newest_change():
    last = issues_page(
        [an_issue(1)], pagination=Pagination(first=ISSUES, page=2, started_at=at(0), newest="2026-03-01T00:00:00Z")
    )

    assert cursor(last) == {
        "collection": "urn:repo:12:issues",
        "since": "2026-03-01T00:00:00Z",
        "newest": "2026-03-01T00:00:00Z",
        "asked": "2026-11-21T12:00:00.000000Z",
    }


def test_the_cursor_never_passes_the_beginning_of_its_walk():
    changed_while_walking = an_issue(1, updated_at="2026-11-21T12:00:30Z")
    outcome = issues_page([changed_while_walking], pagination=Pagination(first=ISSUES, page=2, started_at=at(0)))

    assert cursor(outcome) == {
        "collection": "urn:repo:12:issues",
        "since": "2026-11-21T11:59:00Z",
        "newest": "2026-11-21T12:00:30Z",
        "asked": "2026-11-21T12:00:00.000000Z",
    }


def test_an_empty_list_is_asked_again_from_when_it_was_seen_empty():
    found = cursor(issues_page([]))
    assert found is not None
    assert found["since"] == "2026-11-21T11:59:00Z"


def resumed(type: str, url: str, asked_at: datetime | None = None, **body: str) -> Any:
    visit = a_visit(type, [], url=url, qualifier="urn:repo:12", pagination=Pagination(first=url))
    request = replace(visit.request, asked_at=asked_at)
    how = continuation_of(type)
    assert how.cursor(request) == f"urn:repo:12:{type}:cursor"
    return how.resume(request, a_document(body=body, urn=how.cursor(request)))


def test_a_walk_continues_from_its_cursor():
    request = resumed("issues", ISSUES, since="2026-03-01T00:00:00Z", newest="2026-03-01T00:00:00Z")

    assert request.url == (
        f"{REPO}/issues?state=all&sort=updated&direction=asc&since=2026-03-01T00:00:00Z&per_page=100"
    )
    assert request.context.pagination.until == "2026-03-01T00:00:00Z"


def test_a_walk_answers_whatever_was_asked_before_it_began():
    began = {"since": "2026-03-01T00:00:00Z", "newest": "", "asked": asked_at_of(replace(a_request(), asked_at=at(10)))}

    assert resumed("issues", ISSUES, at(9), **began) is None
    assert resumed("issues", ISSUES, at(10), **began) is None
    assert resumed("issues", ISSUES, at(11), **began).context.pagination.since == "2026-03-01T00:00:00Z"
    assert resumed("issues", ISSUES, None, **began) is not None, "it wants the platform's own word"


def test_a_continued_walk_that_finds_nothing_newer_leaves_its_cursor_alone():
    request = resumed("issues", ISSUES, since="2026-01-02T00:00:00Z", newest="2026-01-02T00:00:00Z")
    outcome = issues_page([an_issue(1)], url=request.url, pagination=request.context.pagination)

    assert cursor(outcome) is None
    assert outcome.document.urn == "urn:repo:12:issues:updates:page:1"


def test_a_continued_walk_that_finds_something_newer_moves_its_cursor():
    request = resumed("issues", ISSUES, since="2026-01-02T00:00:00Z", newest="2026-01-02T00:00:00Z")
    newer = an_issue(2, updated_at="2026-05-05T00:00:00Z")

    assert cursor(issues_page([an_issue(1), newer], url=request.url, pagination=request.context.pagination)) == {
        "collection": "urn:repo:12:issues",
        "since": "2026-05-05T00:00:00Z",
        "newest": "2026-05-05T00:00:00Z",
        "asked": "2026-11-21T12:00:00.000000Z",
    }


def test_a_list_that_a_person_typed_is_read_as_typed():
    url = f"{REPO}/issues?labels=bug&per_page=100"
    outcome = saved("issues", [an_issue(1)], url=url, qualifier="urn:repo:12")

    assert cursor(outcome) is None


def commits_page(shas: list[str], **over: Any) -> Any:
    over.setdefault("pagination", Pagination(first=COMMITS))
    items = [a_commit(sha) for sha in shas]
    return saved("commits", items, url=COMMITS, qualifier="urn:repo:12", **over)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        (f"{REPO}/issues?state=closed&per_page=100", 1),
        (f"{REPO}/issues?state=all&sort=created&direction=asc&per_page=100&page=3", 1),
        (f"{API}/repositories/12/issues?state=closed&per_page=100&page=2", 2),
    ],
)
def test_an_excerpt_that_a_person_typed_does_not_take_the_place_of_the_list(url: str, page: int):
    outcome = issues_page([an_issue(1)], url=url, pagination=Pagination(page=page), visited=True)

    assert outcome.document.urn.startswith("urn:repo:12:issues:")
    assert outcome.document.urn != f"urn:repo:12:issues:page:{page}"
    assert outcome.document.urn.endswith(f":page:{page}")
    assert not [push for push in outcome.follow_ups if push.request.type in ("cursor", "reconciliation")]
    assert [push.request.type for push in outcome.follow_ups] == ["issue"]


def test_the_pages_of_an_excerpt_belong_together():
    urls = (
        f"{REPO}/issues?state=closed&per_page=100",
        f"{API}/repositories/12/issues?per_page=100&state=closed&page=2",
    )
    urns = [issues_page([], url=url, pagination=Pagination(page=page)).document.urn for page, url in enumerate(urls, 1)]

    assert urns[0].removesuffix("1") == urns[1].removesuffix("2")


def test_the_list_itself_is_the_list_although_a_person_typed_it():
    query = "per_page=100&direction=asc&sort=created&state=all"
    for page, url in enumerate((f"{REPO}/issues?{query}", f"{API}/repositories/12/issues?{query}&page=2"), 1):
        outcome = issues_page([an_issue(1)], url=url, pagination=Pagination(page=page))
        assert outcome.document.urn == f"urn:repo:12:issues:page:{page}"


def test_a_list_that_grows_at_its_head_is_followed_to_the_newest_known_element():
    pagination = Pagination(first=COMMITS, until="urn:repo:12:commit:old")
    outcome = commits_page(["new2", "new1", "old", "older"], pagination=pagination, link=NEXT)

    assert set(carried(outcome)) == {f"{REPO}/commits/new2", f"{REPO}/commits/new1", f"{REPO}/commits#cursor"}
    assert asked(outcome) == {}
    assert cursor(outcome) == {"collection": "urn:repo:12:commits", "since": "", "newest": "urn:repo:12:commit:new2"}


COMPARED = f"{REPO}/compare/old...new?per_page=100"


@pytest.mark.parametrize(
    ("shas", "parents"),
    [(["new"], 1), (["new", "merged", "old"], 2)],
    ids=["more than a page, or a force push", "a merge"],
)
def test_what_may_be_listed_behind_the_newest_known_element_is_asked_for_exactly(shas: list[str], parents: int):
    items = [a_commit(sha, parents=[{"sha": f"p{n}"} for n in range(parents)]) for sha in shas]
    pagination = Pagination(first=COMMITS, until="urn:repo:12:commit:old")
    outcome = saved("commits", items, url=COMMITS, qualifier="urn:repo:12", pagination=pagination, link=NEXT)

    assert asked(outcome) == {COMPARED: "default:repo@/commits"}
    assert cursor(outcome) is None


def test_the_cursor_moves_once_everything_in_between_was_seen():
    pagination = Pagination(
        first=COMMITS, since="old...new", until="urn:repo:12:commit:old", newest="urn:repo:12:commit:new"
    )
    body = {"status": "ahead", "commits": [a_commit("merged"), a_commit("new")]}
    outcome = saved("commits", body, url=COMPARED, qualifier="urn:repo:12", pagination=pagination)

    assert outcome.document.urn == "urn:repo:12:commits:updates:page:1"
    assert f"{REPO}/commits/merged" in carried(outcome)
    assert cursor(outcome) == {"collection": "urn:repo:12:commits", "since": "", "newest": "urn:repo:12:commit:new"}


def test_where_nothing_can_be_compared_any_more_everything_is_read_again():
    pagination = Pagination(
        first=COMMITS, since="gone...new", until="urn:repo:12:commit:gone", newest="urn:repo:12:commit:new"
    )
    kind = PLATFORM.kinds["commits"]
    restart = alternative(
        kind, a_visit("commits", [], url=COMPARED, qualifier="urn:repo:12", pagination=pagination).request
    )

    assert restart is not None
    assert restart.url == COMMITS
    assert restart.context.pagination == Pagination(first=COMMITS, fresh=True)
    assert alternative(kind, a_visit("commits", [], url=COMMITS, pagination=Pagination(first=COMMITS)).request) is None


def test_an_unchanged_head_ends_the_walk():
    stored = {"elements": [{"urn": "urn:repo:12:commit:old", "url": f"{REPO}/commits/old"}]}
    outcome = saved(
        "commits",
        stored,
        url=COMMITS,
        qualifier="urn:repo:12",
        origin="storage",
        link=NEXT,
        pagination=Pagination(first=COMMITS, until="urn:repo:12:commit:old"),
    )

    assert outcome.follow_ups == ()


def test_an_unchanged_head_of_a_walk_that_was_never_completed_is_followed():
    stored = {"elements": [{"urn": "urn:repo:12:commit:old", "url": f"{REPO}/commits/old"}]}
    pagination = Pagination(first=COMMITS)
    outcome = saved(
        "commits", stored, url=COMMITS, qualifier="urn:repo:12", origin="storage", link=NEXT, pagination=pagination
    )

    assert NEXT["next"] in asked(outcome)


def labels(origin: str, number: int, **over: Any) -> Any:
    refs = [{"urn": f"urn:repo:12:label:{n}", "url": f"{REPO}/labels/{n}"} for n in range(number)]
    url = f"{REPO}/labels?per_page=100"
    over.setdefault("pagination", Pagination(first=url))
    return saved("labels", {"elements": refs}, url=url, qualifier="urn:repo:12", origin=origin, **over)


def test_unchanged_complete_elements_are_not_asked_for():
    assert labels("storage", 3).follow_ups == ()


def test_reprocessing_reads_every_element_from_our_own_copies():
    outcome = labels("storage", 3, policy="reprocess")

    assert set(asked(outcome).values()) == {"reprocess:label"}
    assert len(asked(outcome)) == 3


def test_an_unchanged_last_page_that_is_full_is_asked_once_more_unconditionally():
    outcome = labels("storage", 100)

    (again,) = [push.request for push in outcome.follow_ups]
    assert again.context.pagination.fresh
    assert labels("storage", 99).follow_ups == ()


def test_unchanged_references_are_followed_because_their_children_may_have_changed():
    refs = {"elements": [{"urn": "urn:repo:12", "url": REPO}]}
    outcome = saved("repos", refs, url="u", qualifier="urn:org:9", origin="storage", scope="acme")

    assert asked(outcome) == {REPO: "default:repo"}


def members_page(items: Any, **over: Any) -> Any:
    over.setdefault("pagination", Pagination(first=MEMBERS))
    return process("members", items, url=over.pop("url", MEMBERS), qualifier="urn:org:9", **over)


def test_a_relation_page_keeps_its_elements_and_names_its_generation():
    outcome = members_page([a_user(5, "ada"), a_user(6, "bob")])
    document = outcome.document

    assert document.body == {"elements": [a_user(5, "ada"), a_user(6, "bob")]}
    assert document.urn == "urn:org:9:members:pages:20261121T120000000Z:page:1"
    assert document.links["unique"].href == "urn:org:9:members:pages:20261121T120000000Z"
    assert document.links["siblings"].href == "urn:org:9:members:pages"
    assert document.links["origin"].href == "urn:org:9"
    assert document.links["resources"].hrefs == ("urn:user:5", "urn:user:6")
    assert asked(outcome) == {f"{API}/users/ada": "default:self", f"{API}/users/bob": "default:self"}


def test_the_last_page_of_a_generation_removes_the_older_ones():
    assert members_page([a_user()]).supersede == "urn:org:9:members:pages:"
    assert members_page([a_user()], link=NEXT).supersede == ""


def test_an_excerpt_of_a_relation_removes_nothing():
    outcome = members_page([a_user()], url=f"{MEMBERS}&role=admin", pagination=Pagination())

    assert outcome.supersede == ""
    assert not outcome.document.urn.startswith("urn:org:9:members:pages:2")


def test_elements_say_whether_their_list_was_stored_before():
    new = issues_page([an_issue(1)], pagination=Pagination(first=ISSUES))
    known = issues_page([an_issue(1)], pagination=Pagination(first=ISSUES, known=True))

    says = [
        {push.request.context.pagination.known for push in each.follow_ups if push.request.type == "issue"}
        for each in (new, known)
    ]
    assert says == [{False}, {True}]


def test_a_page_that_leaves_things_out_is_no_part_of_a_generation_and_its_walk_counts_nothing():
    relation = members_page([a_user()], partial=True)
    issues = issues_page(
        [an_issue(1)], pagination=Pagination(first=ISSUES, page=2, known=True, changed=True, partial=True)
    )
    whole = issues_page([an_issue(1)], pagination=Pagination(first=ISSUES, page=2, known=True, changed=True))

    assert relation.reason == "partial"
    assert [body for url, body in carried(issues).items() if url.endswith("#reconciliation")] == []
    assert [body for url, body in carried(whole).items() if url.endswith("#reconciliation")] != []


def test_the_pages_of_a_new_generation_are_all_asked_for_afresh():
    first = members_page([a_user()], link=NEXT)
    (following,) = [push.request for push in first.follow_ups if push.request.type == "members"]
    second = members_page([a_user(6, "bob")], url=following.url, pagination=following.context.pagination)

    assert following.context.pagination.fresh
    assert second.document.links["unique"] == first.document.links["unique"]
    assert second.document.urn.endswith(":page:2")


def test_a_generation_that_changed_on_a_later_page_begins_again():
    stored = members_page({"elements": [a_user()]}, origin="storage", link=NEXT)
    (following,) = [push.request for push in stored.follow_ups if push.request.type == "members"]
    changed = members_page([a_user(6, "bob")], url=following.url, pagination=following.context.pagination)

    assert isinstance(changed, Skip)
    (restart,) = changed.follow_ups
    assert restart.request.url == MEMBERS
    assert restart.request.context.pagination.fresh
    assert restart.request.context.pagination.page == 1


def test_an_element_without_a_name_does_not_take_its_neighbours_with_it():
    outcome = issues_page([{"title": "no number", "url": "u"}, an_issue(2)])

    assert set(carried(outcome)) == {"u", f"{REPO}/issues/2", f"{REPO}/issues#cursor"}


def test_an_element_without_a_name_is_not_among_what_was_listed():
    items = [{"title": "no number", "url": f"{REPO}/issues/1"}, an_issue(2)]
    outcome = issues_page(items, pagination=Pagination(first=ISSUES, page=2, known=True, changed=True))
    (request,) = [push.request for push in outcome.follow_ups if push.request.type == "reconciliation"]

    assert comparison_of(request).listed == {"urn:repo:12:issue:2": f"{REPO}/issues/2"}


async def test_what_stands_on_an_earlier_page_of_a_relation_is_not_asked_for():
    teams = [{"id": number, "slug": f"t{number}", "url": f"{API}/teams/{number}"} for number in (1, 2)]
    first, last = (
        saved(
            "teams",
            [team],
            url=f"{API}/orgs/acme/teams?page={page}",
            qualifier="urn:org:9",
            pagination=Pagination(
                page=page, started_at=at(-1), known=True, first=f"{API}/orgs/acme/teams?per_page=100"
            ),
        )
        for page, team in enumerate(teams, 1)
    )
    (request,) = [push.request for push in last.follow_ups if push.request.type == "reconciliation"]
    store = MemoryStore()
    links = {"org": Link(type="resource", href="urn:org:9")}
    for number in (1, 2, 3):
        urn, url = f"urn:team:{number}", f"{API}/teams/{number}"
        await store.save(a_document(type="team", urn=urn, url=url, links=links))
    await store.save(first.document)

    outcome = await reconcile(comparison_of(request), request, store)
    assert [push.request.context.urn for push in outcome.follow_ups] == ["urn:team:3"]


@pytest.mark.parametrize("body", [None, {}, "x", {"message": "no"}, 3])
def test_what_is_no_page_is_refused(body: Any):
    with pytest.raises(Malformed, match="page of issues"):
        issues_page(body)


def test_a_list_of_something_that_has_none_is_refused():
    with pytest.raises(Malformed):
        process("reviews", [], qualifier="urn:org:9")


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda row: f"{row.of}.{row.link}")
def test_every_list_asks_for_full_pages_and_can_be_asked_for_in_any_scenario(listing: Any):
    assert listing.url("https://x/y").endswith("per_page=100")
    assert listing.type in PLATFORM.kinds
    for scenario in PLATFORM.scenarios.names:
        assert PLATFORM.scenarios.next_hops(f"default:{scenario}/{listing.of}@/{listing.link}").links is not None


def test_a_cursor_is_a_document_of_its_collection():
    body = {"collection": "urn:repo:12:issues", "since": "s", "newest": "n"}

    assert saved("cursor", body, qualifier="urn:repo:12").document.urn == "urn:repo:12:issues:cursor"
    with pytest.raises(Malformed):
        process("cursor", {"collection": "urn:repo:13:issues"}, qualifier="urn:repo:12")
