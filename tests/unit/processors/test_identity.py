"""What is no such thing is refused, what is another's is not linked, and what is one is one document."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ghcrawl.platforms.kind import List
from ghcrawl.values.errors import Malformed
from ghcrawl.values.outcome import Skip
from processors.github import ENTITIES
from processors.github.registry import Depths, kinds, listings
from tests.support.builders import API
from tests.support.github import REPO, a_commit, a_user, a_visit, an_issue, asked, carried, process, saved, walking

IN_REPO = "urn:repo:12"
SHA = "a" * 40


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.type)
@pytest.mark.parametrize("body", [{"message": "Server Error"}, [], [{}], "text", 5, None], ids=str)
def test_what_has_nothing_that_names_it_is_refused(entity: Any, body: Any):
    with pytest.raises(Malformed):
        process(entity.type, body, qualifier=IN_REPO)


@pytest.mark.parametrize("type", ["repo", "user", "org", "team", "issue_comment", "label", "milestone"])
def test_a_negative_number_names_nothing(type: str):
    body = {"id": -5, "number": -5, "issue_url": f"{REPO}/issues/34", "url": f"{REPO}/x"}
    with pytest.raises(Malformed, match="-5 as"):
        process(type, body, qualifier=IN_REPO)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "ftp://x/y", "//x/y"])
def test_what_is_no_url_is_refused(url: str):
    with pytest.raises(Malformed, match="this is none"):
        process("issue", an_issue(34, url=url), qualifier=IN_REPO)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"comments": -1}, "issue.comments is below zero: -1"),
        ({"reactions": {"total_count": -2}}, "issue.reactions.total_count is below zero: -2"),
        ({"milestone": {"open_issues": -3}}, "issue.milestone.open_issues is below zero: -3"),
        ({"labels": [{"url": "javascript:alert(1)"}]}, "issue.labels.url is no URL: javascript:alert(1)"),
        ({"user": {"avatar_url": " JavaScript:alert(1)"}}, "issue.user.avatar_url is no URL"),
        ({"pull_request": {"href": "data:text/html,x"}}, "issue.pull_request.href is no URL"),
        ({"user": "ghost"}, "issue.user is no object: 'ghost'"),
        ({"milestone": 5}, "issue.milestone is no object: 5"),
        ({"milestone": {"creator": "ada"}}, "issue.milestone.creator is no object: 'ada'"),
        ({"assignees": [{"id": 1}, None, "ada"]}, "something in it that is no object: 'ada'"),
    ],
    ids=str,
)
def test_what_lies_in_a_thing_is_looked_at_however_deep(wrong: dict[str, Any], says: str):
    with pytest.raises(Malformed, match=re.escape(says)):
        process("issue", an_issue(34, **wrong), qualifier=IN_REPO)
    process("issue", an_issue(34, **wrong), qualifier=IN_REPO, origin="storage")  # it was saved: it stays readable


def test_what_people_and_apps_give_may_be_anything():
    body = {"id": 3, "sha": SHA, "payload": {"comments": -1, "user": "ada", "url": "javascript:x"}}
    assert saved("deployment", body, qualifier=IN_REPO).document.body == body
    run = {"id": 3, "head_sha": SHA, "details_url": "data:text/plain,x", "deletions": 0}
    assert saved("check_run", run, qualifier=IN_REPO).document.body == run


def test_what_is_no_object_in_a_list_says_so_itself_and_its_neighbours_are_none_the_worse():
    outcome = saved("issues", [an_issue(1), 5, None, an_issue(2)], qualifier=IN_REPO, url=f"{REPO}/issues")

    found = carried(outcome)
    assert {body["number"] for body in found.values() if "number" in body} == {1, 2}
    assert [body for body in found.values() if "element" in body] == [{"element": 5}]
    with pytest.raises(Malformed):
        process("issue", {"element": 5}, qualifier=IN_REPO)


def test_an_annotated_tag_is_not_linked_to_a_commit_of_the_name_of_its_own_object():
    tag = {"ref": "refs/tags/v1", "url": f"{REPO}/git/refs/tags/v1"}
    annotated = saved("tag", {**tag, "object": {"type": "tag", "sha": "abc"}}, qualifier=IN_REPO).document
    light = saved("tag", {**tag, "object": {"type": "commit", "sha": "abc"}}, qualifier=IN_REPO).document

    assert "commit" not in annotated.links
    assert light.links["commit"].href == f"{IN_REPO}:commit:abc"


def test_a_commit_of_another_repository_that_an_issue_event_names_is_not_ours():
    event = {"id": 9, "url": f"{REPO}/issues/events/9", "issue": {"url": f"{REPO}/issues/34"}, "commit_id": "abc"}
    strange = {**event, "commit_url": f"{API}/repos/elsewhere/web/commits/abc"}
    own = {**event, "commit_url": f"{API}/repos/ACME/web/commits/abc"}

    assert "commit" not in saved("issue_event", strange, qualifier=IN_REPO).document.links
    assert saved("issue_event", own, qualifier=IN_REPO).document.links["commit"].href == f"{IN_REPO}:commit:abc"
    assert saved("issue_event", event, qualifier=IN_REPO).document.links["commit"].href == f"{IN_REPO}:commit:abc"


def test_an_organisation_that_is_asked_for_as_a_user_is_the_one_document_that_it_is():
    body = {"id": 9, "login": "acme", "type": "Organization", "url": f"{API}/users/acme"}
    outcome = process("user", body, url=f"{API}/users/acme")

    assert isinstance(outcome, Skip)
    assert asked(outcome) == {f"{API}/orgs/acme": "default"}
    assert {push.request.type for push in outcome.follow_ups} == {"org"}
    assert list(carried(outcome).values()) == [body]
    narrow = process("user", body, url=f"{API}/users/acme", policy="default:self")
    assert asked(narrow) == {f"{API}/orgs/acme": "default:self"}


def test_the_organisations_of_whoever_asks_are_another_list():
    element = [{"id": 9, "login": "acme", "url": f"{API}/orgs/acme"}]
    mine = saved("orgs", element, url=f"{API}/user/orgs?per_page=100", qualifier="urn:user:5").document
    theirs = saved("orgs", element, url=f"{API}/users/ada/orgs?per_page=100", qualifier="urn:user:5").document
    numbered = saved("orgs", element, url=f"{API}/user/5/orgs?per_page=100", qualifier="urn:user:5").document

    assert mine.urn == "urn:user:5:orgs:pages:mine:page:1"
    assert theirs.urn == numbered.urn != mine.urn


def test_full_commits_are_asked_for_one_by_one_wherever_they_are_listed():
    rows = listings(Depths(commits="full")).values()
    assert {row.type for row in rows if row.element == "commit"} == {"commits", "pull_request_commits"}
    assert not any(row.complete for row in rows if row.element == "commit")


def test_a_walk_that_took_commits_from_the_list_is_begun_again_once_they_are_wanted_in_full():
    page = [a_commit(SHA)]
    taken = process(
        "commits",
        page,
        qualifier=IN_REPO,
        url=f"{REPO}/commits?per_page=100",
        pagination=walking(first=f"{REPO}/commits?per_page=100"),
    )
    (cursor,) = [push.request for push in taken.follow_ups if push.request.type == "cursor"]
    left = saved("cursor", cursor.payload.body if cursor.payload else {}, qualifier=IN_REPO).document
    from_list, alone = kinds()["commits"], kinds(Depths(commits="full"))["commits"]
    asked_again = a_visit(
        "commits",
        page,
        qualifier=IN_REPO,
        url=f"{REPO}/commits?per_page=100",
        pagination=walking(first=f"{REPO}/commits?per_page=100"),
    ).request
    assert isinstance(from_list, List)
    assert isinstance(alone, List)
    assert from_list.continuation is not None
    assert alone.continuation is not None
    resumed = from_list.continuation.resume(asked_again, left)
    begun = alone.continuation.resume(asked_again, left)

    assert resumed is not None
    assert begun is not None
    assert resumed.context.pagination.until == f"{IN_REPO}:commit:{SHA}"
    assert begun.context.pagination.until == ""


def test_the_files_that_do_not_fit_into_a_commits_own_answer_are_read_page_by_page():
    files = [{"filename": str(number)} for number in range(3)]
    link = {"next": f"{REPO}/commits/{SHA}?page=2"}
    commit = saved("commit", {**a_commit(SHA), "files": files}, qualifier=IN_REPO, link=link)
    (push,) = [push for push in commit.follow_ups if push.request.type == "commit_files"]
    page = saved(
        "commit_files",
        {**a_commit(SHA), "files": files},
        url=push.request.url,
        qualifier=push.request.context.qualifier,
        pagination=push.request.context.pagination,
    ).document

    assert push.request.url == link["next"]
    assert commit.document.links["files"].href == f"{IN_REPO}:commit:{SHA}:files:pages"
    assert page.body == {"elements": files}
    assert page.urn.startswith(f"{IN_REPO}:commit:{SHA}:files:pages:")
    assert page.urn.endswith(":page:2")
    small = saved("commit", {**a_commit(SHA), "files": files}, qualifier=IN_REPO)
    assert "files" not in small.document.links


def test_an_account_of_a_person_stays_one():
    assert saved("user", a_user()).document.type == "user"
