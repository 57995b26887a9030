"""What events lead to: saved from the payload, asked for, or gone."""

from __future__ import annotations

import pkgutil
from datetime import timedelta
from typing import Any

import pytest
from githubkit_schemas.v2026_03_10 import webhooks

import ghcrawl.platforms.github
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, Push, Request
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import LEGACY_PLATFORM
from processors.github.events_table import EVENT_RULES, NAMES
from processors.github.webhook import POLICY, delivery_request
from tests.support.backend import CrawlBackend
from tests.support.builders import API, NOW, a_document
from tests.support.github import kind_of

PLATFORM = ghcrawl.platforms.github.platform()
REPO = f"{API}/repos/acme/web"
REPOSITORY = {
    "id": 12,
    "full_name": "acme/web",
    "private": False,
    "default_branch": "main",
    "url": "https://example.test/acme/web",
    "events_url": f"{REPO}/events",
    "updated_at": "2026-11-20T10:00:00Z",
}
ORGANIZATION = {"id": 9, "login": "acme", "url": f"{API}/orgs/acme"}
ANN: dict[str, Any] = {"id": 5, "login": "ann", "url": f"{API}/users/ann", "type": "User"}
ISSUE: dict[str, Any] = {
    "url": f"{REPO}/issues/34",
    "id": 7,
    "number": 34,
    "title": "It broke",
    "body": None,
    "state": "open",
    "comments": 0,
    "user": ANN,
    "updated_at": "2026-11-20T10:00:05Z",
}
COMMENT = {
    "url": f"{REPO}/issues/comments/56",
    "issue_url": f"{REPO}/issues/34",
    "id": 56,
    "body": "Me too.",
    "user": ANN,
    "author_association": "NONE",
    "updated_at": "2026-11-20T10:00:06Z",
}


def saved(name: str, payload: dict[str, Any]) -> Save:
    body = {"repository": REPOSITORY, "organization": ORGANIZATION, "sender": ANN, **payload}
    return processed(delivery_request(name, "d-1", body, NOW))


def processed(request: Request) -> Save:
    kind = kind_of(request.type)
    assert request.payload is not None
    payload = request.payload
    visit = Visit(
        request=request,
        fetched=Fetched(
            body=payload.body,
            url=request.url,
            observed_at=payload.observed_at,
            checked_at=NOW,
            origin=payload.origin,
        ),
        next_hops=PLATFORM.scenarios.next_hops(parse(request.policy).placed(kind.position).spec),
        version=kind.version,
        processed_at=NOW,
    )
    outcome = kind.processor(visit)
    assert isinstance(outcome, Save)
    return outcome


def the(save: Save, type: str) -> Push:
    found = [push for push in save.follow_ups if push.request.type == type]
    assert len(found) == 1, [push.request.name for push in save.follow_ups]
    return found[0]


def kinds_of(save: Save) -> set[str]:
    return {push.request.type for push in save.follow_ups}


def test_every_event_of_the_webhook_schemas_has_a_kind():
    schemas = {module.name for module in pkgutil.iter_modules(webhooks.__path__) if not module.name.startswith("_")}

    assert schemas - NAMES == set()
    assert set(EVENT_RULES) - set(PLATFORM.kinds) == set()


def test_an_opened_issue_is_saved_from_the_payload_and_its_author_looked_up_where_unknown():
    save = saved("issues", {"action": "opened", "issue": ISSUE})
    issue = the(save, "issue")

    assert save.document.urn == "urn:repo:12:IssuesEvent:d-1"
    assert save.document.links["issue"].href == "urn:repo:12:issue:34"
    assert issue.queue == "event"
    assert issue.request.payload is not None
    assert issue.request.payload.body == ISSUE
    document = processed(issue.request)
    assert document.document.urn == "urn:repo:12:issue:34"
    assert [(push.request.type, push.request.policy) for push in document.follow_ups] == [("user", f"{POLICY}:self")]


def test_whoever_uploaded_a_file_of_a_release_that_an_event_tells_of_is_looked_up_where_unknown():
    asset = {"id": 8, "url": f"{REPO}/releases/assets/8", "uploader": ANN}
    release = {"id": 7, "url": f"{REPO}/releases/7", "tag_name": "v1", "assets": [asset], "body": None, "draft": False}
    save = saved("release", {"action": "published", "release": release})
    (carried,) = processed(the(save, "release").request).follow_ups

    assert processed(carried.request).document.urn == "urn:repo:12:release_asset:8"
    (push,) = processed(carried.request).follow_ups
    assert (push.request.url, push.request.policy) == (ANN["url"], f"{POLICY}:self")


def test_a_closed_issue_is_asked_for_because_no_payload_says_who_closed_it():
    save = saved("issues", {"action": "closed", "issue": {**ISSUE, "state": "closed"}})
    issue = the(save, "issue")

    assert issue.request.payload is None
    assert issue.request.policy == "event:self"
    assert issue.request.asked_at == NOW
    assert issue.not_before is None


def test_what_is_deleted_becomes_a_tombstone_and_its_issue_is_asked_for_since_nothing_bumped_it():
    save = saved("issue_comment", {"action": "deleted", "issue": ISSUE, "comment": COMMENT})

    comment = the(save, "issue_comment")
    assert comment.request.context.deleted_at == NOW
    assert the(save, "issue").request.payload is None


def test_a_transferred_issue_is_gone_here_and_is_saved_there():
    new = {**ISSUE, "number": 3, "url": f"{API}/repos/acme/app/issues/3"}
    there = {"id": 13, "full_name": "acme/app", "events_url": f"{API}/repos/acme/app/events"}
    changes = {"new_issue": new, "new_repository": there}
    save = saved("issues", {"action": "transferred", "issue": ISSUE, "changes": changes})

    issues = [push.request for push in save.follow_ups if push.request.type == "issue"]
    assert [(one.context.qualifier, one.context.deleted_at) for one in issues] == [
        ("urn:repo:12", NOW),
        ("urn:repo:13", None),
    ]
    assert issues[1].context.scope == "acme/app"


def test_a_push_reads_the_branch_and_what_is_new_on_the_default_branch():
    save = saved("push", {"ref": "refs/heads/main", "after": "0" * 40, "commits": []})

    assert the(save, "branch").request.url == f"{REPO}/branches/main"
    assert the(save, "commits").request.policy == "event:event@/commits"
    elsewhere = saved("push", {"ref": "refs/heads/topic/a", "commits": []})
    assert the(elsewhere, "branch").request.url == f"{REPO}/branches/topic/a"
    assert "commits" not in kinds_of(elsewhere)


def test_a_repository_that_was_deleted_is_gone_and_a_renamed_one_is_asked_for_by_its_new_name():
    gone = saved("repository", {"action": "deleted"})
    renamed = saved("repository", {"action": "renamed"})

    assert the(gone, "repo").request.context.deleted_at == NOW
    assert the(renamed, "repo").request.url == REPO
    assert the(renamed, "repo").request.payload is None


def test_a_repository_made_private_is_asked_for_by_whoever_may_see_it():
    save = saved("repository", {"action": "privatized", "repository": {**REPOSITORY, "private": True}})

    assert the(save, "repo").request.context.private


def test_a_repository_that_appears_is_looked_at_with_all_that_is_in_it():
    assert the(saved("repository", {"action": "publicized"}), "repo").request.policy == "event:repo"


def test_repositories_that_an_app_may_see_from_now_on_are_filled_in_without_asking_for_what_we_hold():
    account = {"url": f"{API}/users/acme", "login": "acme", "id": 9}
    added = [{"id": 13, "full_name": "acme/app", "private": True}]
    payload = {"action": "added", "repositories_added": added, "installation": {"account": account}}
    asked = the(saved("installation_repositories", payload), "repo").request

    assert (asked.url, asked.policy) == (f"{API}/repos/acme/app", f"{POLICY}:repo")


def test_who_leaves_an_organisation_has_its_members_read_again():
    save = saved("organization", {"action": "member_removed", "membership": {"user": ANN}})

    members = the(save, "members").request
    assert members.context.qualifier == "urn:org:9"
    assert members.url == f"{API}/orgs/acme/members?per_page=100"
    assert members.context.pagination.first == members.url


def test_membership_of_a_team_reads_its_pages_again_and_nobody_on_them():
    team = {"id": 7, "url": f"{API}/organizations/9/team/7", "name": "core"}
    save = saved("membership", {"action": "added", "team": team, "member": ANN})

    asked = the(save, "team").request
    assert asked.policy == "event:roster"
    steps = PLATFORM.scenarios.next_hops(asked.policy).links
    assert {name: step.thing for name, step in steps.items()} == {"members": None, "repos": None}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_any_event_without_anything_in_it_is_a_document_and_leads_nowhere(name: str):
    request = delivery_request(name, "d-1", {"action": "deleted"}, NOW)

    assert not processed(request).follow_ups


async def test_the_same_delivery_is_told_once():
    backend = CrawlBackend()
    body = {"action": "closed", "issue": {**ISSUE, "state": "closed"}, "repository": REPOSITORY, "sender": ANN}
    request = backend.delivery("issues", "d-1", body)
    await backend.settle(request)
    asked = backend.calls()
    backend.clock.advance(3600)
    await backend.settle(backend.delivery("issues", "d-1", body))

    assert f"issue@{REPO}/issues/34" in asked
    assert backend.calls() == asked


async def test_a_payload_that_waited_answers_nothing_that_was_asked_meanwhile():
    backend = CrawlBackend()
    backend.fetcher.bodies = {ISSUE["url"]: ISSUE, ANN["url"]: ANN}
    body = {"action": "opened", "issue": ISSUE, "repository": REPOSITORY, "sender": ANN}
    request = backend.delivery("issues", "d-1", body)
    backend.clock.advance(60)
    meanwhile = Request(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=ISSUE["url"],
        policy="event:self",
        context=Context(qualifier="urn:repo:12"),
        asked_at=backend.clock.now(),
    )
    backend.clock.advance(60)
    await backend.settle(request, later=False)
    await backend.settle(meanwhile, later=False)

    assert f"issue@{ISSUE['url']}" in backend.calls()


async def test_a_payload_that_was_long_under_way_answers_nothing_that_was_asked_before_it_came():
    """It tells of a moment before the one that somebody else has told of already."""
    backend, url = CrawlBackend(), f"{REPO}/pulls/3"
    pull = {"url": url, "number": 3, "additions": 1, "merged": False, "base": {}, "head": {}, "body": "pushed"}
    now = {**pull, "body": "somebody remarked on it", "updated_at": iso(NOW + timedelta(seconds=1))}
    backend.fetcher.bodies[url] = now
    remark = {"action": "created", "pull_request": {"url": url, "number": 3}, "repository": REPOSITORY}
    await backend.store.save(a_document(type="repo", url=REPO, urn="urn:repo:12"))
    backend.clock.advance(2)
    await backend.settle(backend.delivery("pull_request_review_comment", "d-2", remark), later=False)
    backend.clock.advance(2)
    late = {"action": "synchronize", "pull_request": {**pull, "updated_at": iso(NOW)}, "repository": REPOSITORY}
    await backend.settle(backend.delivery("pull_request", "d-1", late))

    document = await backend.store.get("urn:repo:12:pull_request:3")
    assert document is not None
    assert document.body == now


@pytest.mark.slow
async def test_a_deleted_repository_takes_everything_in_it_along_however_much_that_is():
    backend = CrawlBackend()
    for number in range(450):
        urn = f"urn:repo:12:issue:{number}"
        await backend.store.save(a_document(urn=urn, url=f"{REPO}/issues/{number}"))
    await backend.settle(backend.delivery("repository", "d-1", {"action": "deleted", "repository": REPOSITORY}))

    alive = [urn for urn, one in (await backend.documents()).items() if one.deleted_at is None]
    assert alive == ["urn:repo:12:RepositoryEvent:d-1"]


SHA = "a" * 40
STATUS = {
    "id": 1,
    "sha": SHA,
    "state": "success",
    "context": "ci",
    "commit": {"sha": SHA, "url": f"{REPO}/commits/{SHA}"},
}


def in_scenario(name: str, payload: dict[str, Any], scenario: str) -> dict[str, str]:
    """URL → policy of what the event asks for in that scenario."""
    body = {"repository": REPOSITORY, "organization": ORGANIZATION, "sender": ANN, **payload}
    request = delivery_request(name, "d-1", body, NOW)
    outcome = processed(replace(request, policy=f"{request.policy}:{scenario}/"))
    return {push.request.url: push.request.policy for push in outcome.follow_ups if push.request.payload is None}


def test_a_status_asks_for_those_of_its_commit_where_a_crawl_would():
    url = f"{REPO}/commits/{SHA}/statuses?per_page=100"

    assert in_scenario("status", STATUS, "everything") == {url: "event:everything/event@/statuses"}
    assert in_scenario("status", STATUS, "default") == {}
    (push,) = [each for each in _pushes("status", STATUS, "everything") if each.request.url == url]
    assert push.request.context.qualifier == f"urn:repo:12:commit:{SHA}"
    assert push.not_before is not None  # several machines speak of one commit


def _pushes(name: str, payload: dict[str, Any], scenario: str) -> tuple[Push, ...]:
    body = {"repository": REPOSITORY, "organization": ORGANIZATION, "sender": ANN, **payload}
    request = delivery_request(name, "d-1", body, NOW)
    return processed(replace(request, policy=f"{request.policy}:{scenario}/")).follow_ups


def test_a_project_is_read_again_or_buried_where_a_crawl_reads_projects():
    project = {"projects_v2": {"id": 5, "number": 3, "title": "Plans"}}
    url = f"{API}/orgs/acme/projectsV2?per_page=100"

    assert in_scenario("projects_v2", {"action": "edited", **project}, "everything") == {
        url: "event:everything/event@/projects"
    }
    assert in_scenario("projects_v2_item", {"action": "created"}, "everything").keys() == {url}
    assert in_scenario("projects_v2", {"action": "edited", **project}, "default") == {}
    (burial,) = _pushes("projects_v2", {"action": "deleted", **project}, "everything")
    assert burial.request.context.urn == "urn:org:9:project:3"
    assert burial.request.context.deleted_at is not None


def test_a_comment_in_a_discussion_brings_the_discussion_that_counts_it():
    talk = {"id": 8, "number": 6, "title": "Why?", "body": "", "comments": 1}
    (push, *_) = saved("discussion_comment", {"action": "created", "discussion": talk}).follow_ups

    assert push.request.payload is not None
    assert (push.request.type, push.request.url) == ("discussion", f"{REPO}/discussions/6")
    assert push.request.payload.body["comments"] == 1


def test_the_comments_that_an_issue_took_along_are_asked_for_under_their_new_names():
    there = {**REPOSITORY, "id": 13, "full_name": "acme/api", "events_url": f"{API}/repos/acme/api/events"}
    new = {**ISSUE, "url": f"{API}/repos/acme/api/issues/2", "number": 2}
    comments = f"{API}/repos/acme/api/issues/2/comments?per_page=100"
    for count, wanted in ((1, True), (0, False)):
        moved = {"new_issue": {**new, "comments": count}, "new_repository": there}
        pushes = saved("issues", {"action": "transferred", "issue": ISSUE, "changes": moved}).follow_ups
        asked = {push.request.url: push.request.context.qualifier for push in pushes if push.request.payload is None}
        assert (comments in asked) is wanted
        assert asked.get(comments, "urn:repo:13:issue:2") == "urn:repo:13:issue:2"
