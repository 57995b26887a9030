from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.entities import Issue, IssueComment, Repo
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.world import World
from tests.unit.simulator.github.conftest import Hub, Start, an_insider

LATER = "2026-11-21T12:01:40Z"


@pytest.fixture
async def hub(small: World, start: Start, clock: SimClock) -> Hub:
    hub = await start(small)
    clock.advance(100)
    return hub


@pytest.fixture
def web(small: World) -> Repo:
    return small.repo("acme/web")


@pytest.fixture
def somebody(small: World) -> User:
    return small.user(an_insider(small))


def a_pull(repo: Repo) -> Issue:
    return next(issue for issue in repo.pulls if issue.state == "open")


def an_issue(repo: Repo, *, state: str = "open") -> Issue:
    return next(issue for issue in repo.issues.values() if issue.pull is None and issue.state == state)


async def test_an_opened_issue_is_the_newest_and_counts(hub: Hub, web: Repo, somebody: User) -> None:
    before = (await hub.get("/repos/acme/web")).json["open_issues_count"]
    change = changes.open_issue(hub.world, web, by=somebody, title="Fresh", labels=list(web.labels.values())[:1])
    assert (change.event, change.action, change.at, change.actor) == ("issues", "opened", LATER, somebody)
    newest = (await hub.get("/repos/acme/web/issues")).json[0]
    assert (newest["title"], newest["created_at"], newest["user"]["login"]) == ("Fresh", LATER, somebody.login)
    assert (await hub.get("/repos/acme/web")).json["open_issues_count"] == before + 1


async def test_an_edited_issue_is_found_by_since(hub: Hub, web: Repo) -> None:
    issue = an_issue(web)
    change = changes.edit_issue(hub.world, web, issue, body="Otherwise")
    assert change.before["body"] != "Otherwise"
    found = (await hub.get(f"/repos/acme/web/issues?state=all&since={LATER}")).json
    assert [(each["number"], each["body"]) for each in found] == [(issue.number, "Otherwise")]


async def test_closing_and_reopening_move_state_and_milestone(hub: Hub, web: Repo, somebody: User) -> None:
    issue = an_issue(web)
    milestone = issue.milestone = web.milestones[1]
    web.recount()
    is_open, closed = milestone.open_issues, milestone.closed_issues
    changes.close(hub.world, web, issue, by=somebody)
    assert (milestone.open_issues, milestone.closed_issues) == (is_open - 1, closed + 1)
    body = (await hub.get(f"/repos/acme/web/issues/{issue.number}")).json
    assert (body["state"], body["state_reason"], body["closed_by"]["login"]) == ("closed", "completed", somebody.login)
    changes.reopen(hub.world, web, issue, by=somebody)
    body = (await hub.get(f"/repos/acme/web/issues/{issue.number}")).json
    assert (body["state"], body["state_reason"], body["closed_by"]) == ("open", "reopened", None)
    assert milestone.open_issues == is_open


async def test_a_comment_bumps_its_issue_and_a_deleted_one_does_not(
    hub: Hub, web: Repo, somebody: User, clock: SimClock
) -> None:
    issue = an_issue(web)
    count = len(issue.comments)
    made = changes.comment(hub.world, web, issue, by=somebody, body="Hello").subject
    assert isinstance(made, IssueComment)
    assert (issue.updated_at, len(issue.comments)) == (LATER, count + 1)
    newest = (await hub.pagination("/repos/acme/web/issues/comments"))[-1]
    assert (newest["id"], newest["issue_url"].rsplit("/")[-1]) == (made.id, str(issue.number))
    clock.advance(60)
    changes.edit_comment(hub.world, web, made, body="Goodbye")
    bumped = issue.updated_at
    assert bumped == made.updated_at > LATER
    clock.advance(60)
    changes.delete_comment(hub.world, web, made)
    assert (issue.updated_at, len(issue.comments)) == (bumped, count)
    assert (await hub.get(f"/repos/acme/web/issues/comments/{made.id}")).status == 404


async def test_a_deleted_issue_is_410_and_in_no_list(hub: Hub, web: Repo) -> None:
    issue = next(issue for issue in web.issues.values() if issue.comments and not issue.pull)
    changes.delete_issue(hub.world, web, issue)
    assert (await hub.get(f"/repos/acme/web/issues/{issue.number}")).status == 410
    assert issue.number not in {each["number"] for each in await hub.pagination("/repos/acme/web/issues?state=all")}
    comments = {each["id"] for each in await hub.pagination("/repos/acme/web/issues/comments")}
    assert not comments & {comment.id for comment in issue.comments}


async def test_a_renamed_label_is_renamed_on_issues_that_say_nothing_changed(hub: Hub, web: Repo) -> None:
    issue = next(issue for issue in web.issues.values() if issue.labels)
    updated, label = issue.updated_at, issue.labels[0]
    changes.edit_label(hub.world, web, label, name="renamed/label")
    body = (await hub.get(f"/repos/acme/web/issues/{issue.number}")).json
    assert "renamed/label" in {each["name"] for each in body["labels"]}
    assert body["updated_at"] == updated
    assert (await hub.get("/repos/acme/web/labels/renamed%2Flabel")).json["id"] == label.id
    changes.delete_label(hub.world, web, label)
    assert label not in issue.labels
    changes.label_issue(hub.world, web, issue, [])
    changes.add_label(hub.world, web, "new")
    assert "new" in {each["name"] for each in await hub.pagination("/repos/acme/web/labels")}


async def test_assignees_and_milestones_are_seen(hub: Hub, web: Repo, somebody: User) -> None:
    issue = an_issue(web)
    changes.assign(hub.world, web, issue, [somebody])
    changes.add_milestone(hub.world, web, by=somebody, title="Next")
    body = (await hub.get(f"/repos/acme/web/issues/{issue.number}")).json
    assert body["assignee"]["login"] == somebody.login
    assert "Next" in {each["title"] for each in await hub.pagination("/repos/acme/web/milestones")}


async def test_a_push_is_the_head_and_bumps_the_repository(hub: Hub, web: Repo, somebody: User) -> None:
    count = len(web.history(web.head))
    change = changes.push(hub.world, web, by=somebody, count=3)
    listed = await hub.pagination("/repos/acme/web/commits")
    assert len(listed) == count + 3
    assert listed[0]["sha"] == getattr(change.subject, "sha", "")
    assert [each["parents"][0]["sha"] for each in listed[:3]] == [each["sha"] for each in listed[1:4]]
    assert (await hub.get("/repos/acme/web")).json["pushed_at"] == LATER


async def test_a_force_push_takes_commits_out_of_the_list_but_not_out_of_the_world(
    hub: Hub, web: Repo, somebody: User
) -> None:
    lost = web.head
    assert lost
    change = changes.push(hub.world, web, by=somebody, count=1, drop=1)
    assert change.before == {"sha": lost.sha, "ref": f"refs/heads/{web.default_branch}", "forced": True}
    assert lost.sha not in {each["sha"] for each in await hub.pagination("/repos/acme/web/commits")}
    assert (await hub.get(f"/repos/acme/web/commits/{lost.sha}")).status == 200


async def test_a_pull_request_is_opened_pushed_to_reviewed_and_merged(
    hub: Hub, web: Repo, somebody: User, clock: SimClock
) -> None:
    opened = changes.open_pull(hub.world, web, by=somebody, commits=2).subject
    assert isinstance(opened, Issue)
    assert opened.pull
    path = f"/repos/acme/web/pulls/{opened.number}"
    changes.push(hub.world, web, by=somebody, branch=opened.pull.head_ref)
    assert (await hub.get(path)).json["commits"] == 3
    clock.advance(10)
    changes.review(hub.world, web, opened, by=somebody, remarks=("a", "b"))
    body = (await hub.get(path)).json
    assert (body["review_comments"], body["merged"], body["updated_at"]) == (2, False, hub.world.now())
    remark = opened.pull.comments[0]
    changes.edit_review_comment(hub.world, web, remark, body="c")
    changes.delete_review_comment(hub.world, web, opened.pull.comments[1])
    assert [each["body"] for each in (await hub.get(f"{path}/comments")).json] == ["c"]
    assert [each["id"] for each in (await hub.get(f"{path}/reviews")).json] == [opened.pull.reviews[0].id]
    asked = (await hub.get(f"{path}/requested_reviewers")).json
    assert asked == {"users": (await hub.get(path)).json["requested_reviewers"], "teams": []}
    changes.merge(hub.world, web, opened, by=somebody)
    body = (await hub.get(path)).json
    assert (body["merged"], body["state"], body["merged_by"]["login"]) == (True, "closed", somebody.login)
    shas = {each["sha"] for each in await hub.pagination("/repos/acme/web/commits")}
    assert {body["merge_commit_sha"], *(commit.sha for commit in opened.pull.commits)} <= shas


async def test_branches_come_and_go(hub: Hub, web: Repo) -> None:
    changes.create_branch(hub.world, web, "topic/new#1")
    assert (await hub.get("/repos/acme/web/branches/topic/new%231")).status == 200
    changes.delete_branch(hub.world, web, "topic/new#1")
    assert (await hub.get("/repos/acme/web/branches/topic/new%231")).status == 404
    with pytest.raises(ValueError, match="acme/empty is empty"):
        changes.create_branch(hub.world, hub.world.repo("acme/empty"), "x")


async def test_an_empty_repository_can_be_pushed_to(hub: Hub, somebody: User) -> None:
    empty = hub.world.repo("acme/empty")
    with pytest.raises(ValueError, match="is empty"):
        changes.open_pull(hub.world, empty, by=somebody)
    with pytest.raises(ValueError, match="is empty"):
        changes.publish_release(hub.world, empty, by=somebody, tag="v1")
    changes.push(hub.world, empty, by=somebody)
    assert len(await hub.pagination("/repos/acme/empty/commits")) == 1


async def test_comments_on_commits_are_counted_and_bump_nothing(hub: Hub, web: Repo, somebody: User) -> None:
    head = web.head
    assert head
    changes.comment_commit(hub.world, web, head, by=somebody)
    assert len((await hub.get(f"/repos/acme/web/commits/{head.sha}/comments")).json) == 1
    assert (await hub.get(f"/repos/acme/web/commits/{head.sha}")).json["commit"]["comment_count"] == 1


async def test_a_renamed_repository_keeps_its_number_and_is_found_under_both_names(hub: Hub, web: Repo) -> None:
    changes.rename_repo(hub.world, web, "site")
    assert (await hub.get("/repos/acme/site")).json["id"] == web.id
    old = await hub.get("/repos/acme/web/labels")
    assert (old.status, old.headers["Location"]) == (301, f"{hub.server.url}/repositories/{web.id}/labels")
    changes.create_repo(hub.world, hub.world.org("acme"), "web")
    taken = await hub.get("/repos/acme/web")
    assert (taken.status, taken.json["id"] == web.id) == (200, False)
    changes.rename_repo(hub.world, web, "page")
    assert (await hub.get("/repos/acme/site")).status == 301
    changes.delete_repo(hub.world, hub.world.repo("acme/web"))
    assert (await hub.get("/repos/acme/web")).status == 404


async def test_a_transferred_repository_has_another_owner_and_no_teams(hub: Hub, web: Repo) -> None:
    assert hub.world.teams_with(web)
    changes.transfer_repo(hub.world, web, hub.world.org("globex"))
    assert (await hub.get("/repos/acme/web")).status == 301
    assert (await hub.get("/repos/globex/web")).json["owner"]["login"] == "globex"
    assert web.id not in {repo["id"] for repo in await hub.pagination("/orgs/acme/repos")}
    assert not any(web.id in team.repos for team in hub.world.org("acme").teams.values())


async def test_a_deleted_repository_is_404_by_name_and_number(hub: Hub, web: Repo) -> None:
    changes.delete_repo(hub.world, web)
    assert (await hub.get("/repos/acme/web")).status == 404
    assert (await hub.get(f"/repositories/{web.id}/issues")).status == 404
    fork = next(repo for repo in hub.world.repos.values() if repo.parent)
    parent = fork.parent
    assert parent
    changes.delete_repo(hub.world, parent)
    assert "parent" not in (await hub.get(f"/repositories/{fork.id}")).json


async def test_a_repository_made_private_is_gone_for_others(hub: Hub, web: Repo) -> None:
    changes.set_private(hub.world, web)
    assert (await hub.get("/repos/acme/web", token=None)).status == 404
    assert (await hub.get("/repos/acme/web")).json["visibility"] == "private"
    changes.set_private(hub.world, web, private=False)
    changes.archive_repo(hub.world, web)
    assert (await hub.get("/repos/acme/web", token=None)).json["archived"]


async def test_releases_come_with_their_tag_and_files_bump_nothing(hub: Hub, web: Repo, somebody: User) -> None:
    release: Any = changes.publish_release(hub.world, web, by=somebody, tag="v9/final").subject
    path = f"/repos/acme/web/releases/{release.id}"
    first = await hub.get(path)
    assert "v9/final" in {each["name"] for each in await hub.pagination("/repos/acme/web/tags")}
    changes.add_asset(hub.world, web, release, "late.zip")
    again = await hub.get(path)
    assert (len(again.json["assets"]), again.headers["Last-Modified"]) == (1, first.headers["Last-Modified"])
    assert (await hub.get(f"{path}/assets")).json == again.json["assets"]
    assert (await hub.get(again.json["assets"][0]["url"])).status == 200
    changes.delete_release(hub.world, web, release)
    assert (await hub.get(path)).status == 404


async def test_a_star_changes_every_page_that_embeds_the_repository(hub: Hub, web: Repo, somebody: User) -> None:
    pulls, issues = [await hub.get(f"/repos/acme/web/{kind}?state=all") for kind in ("pulls", "issues")]
    changes.star(hub.world, web, by=somebody)
    again = await hub.get("/repos/acme/web/pulls?state=all", If_None_Match=pulls.headers["ETag"])
    assert again.status == 200
    same = await hub.get("/repos/acme/web/issues?state=all", If_None_Match=issues.headers["ETag"])
    assert same.status == 304


async def test_a_renamed_user_is_seen_everywhere_and_no_longer_under_the_old_login(hub: Hub) -> None:
    owner = hub.world.user(next(iter(hub.world.accounts.values())).login)
    old = owner.login
    changes.rename_user(hub.world, owner, "somebody-else")
    assert (await hub.get(f"/users/{old}")).status == 404
    assert (await hub.get("/users/somebody-else")).json["id"] == owner.id
    moved = await hub.get(f"/repos/{old}/dotfiles")
    assert moved.status == 301
    assert (await hub.get(moved.headers["Location"])).json["full_name"] == "somebody-else/dotfiles"


async def test_a_token_stays_its_users_whatever_they_are_called(hub: Hub, somebody: User) -> None:
    changes.rename_user(hub.world, somebody, "somebody-else")
    assert (await hub.get("/user")).json["login"] == "somebody-else"
    assert (await hub.get("/repos/acme/plans")).status == 200


async def test_people_come_and_go(hub: Hub) -> None:
    acme = hub.world.org("acme")
    new: Any = changes.add_user(hub.world, "newcomer").subject
    changes.add_member(hub.world, acme, new)
    team: Any = changes.add_team(hub.world, acme, "Été 2026").subject
    changes.add_to_team(hub.world, team, new)
    changes.edit_user(hub.world, new, name="New Comer")
    assert team.slug == "ete-2026"
    assert [each["login"] for each in await hub.pagination("/orgs/acme/teams/ete-2026/members")] == ["newcomer"]
    assert "newcomer" in {each["login"] for each in await hub.pagination("/orgs/acme/members")}
    changes.remove_member(hub.world, acme, new)
    assert await hub.pagination("/orgs/acme/teams/ete-2026/members") == []
    assert "newcomer" not in {each["login"] for each in await hub.pagination("/orgs/acme/members")}
    parent = next(each for each in acme.teams.values() if any(child.parent is each for child in acme.teams.values()))
    changes.delete_team(hub.world, parent)
    assert all(each["parent"] is None for each in await hub.pagination("/orgs/acme/teams"))


def test_everyday_life_keeps_the_counters_true(small: World, clock: SimClock) -> None:
    rng = Random(5)
    seen = set()
    for _ in range(300):
        clock.advance(30)
        change = changes.random_change(small, small.org("acme"), rng)
        assert change.at == small.now()
        seen.add(f"{change.event}.{change.action}")
    assert len(seen) > 10
    for repo in small.repos.values():
        assert repo.open_issues == sum(issue.state == "open" for issue in repo.issues.values())
        assert list(repo.issue_comments) == sorted(repo.issue_comments)
