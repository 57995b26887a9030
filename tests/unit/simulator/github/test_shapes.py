"""Bodies are held against the official schemas, and against what was recorded of lists."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.oracle import MORE_TYPES, TYPES, expected
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.principals import ANYBODY, Viewer
from ghcrawl.simulator.github.shapes import accounts, belongings, commits, issues, pulls, releases, repos
from ghcrawl.simulator.github.shapes.site import Site, in_version
from ghcrawl.simulator.github.world import World

SITE = Site("http://127.0.0.1:1")

SINGLES = {
    "org": "OrganizationFull",
    "user": "PublicUser",
    "repo": "FullRepository",
    "team": "TeamFull",
    "issue": "Issue",
    "issue_comment": "IssueComment",
    "pull_request": "PullRequest",
    "review": "PullRequestReview",
    "review_comment": "PullRequestReviewComment",
    "commit": "Commit",
    "commit_comment": "CommitComment",
    "label": "Label",
    "milestone": "Milestone",
    "release": "Release",
    "branch": "BranchWithProtection",
    "release_asset": "ReleaseAsset",
    "issue_event": "IssueEvent",
    "topics": "Topic",
    "reaction": "Reaction",
    "status": "Status",
    "check_suite": "CheckSuite",
    "check_run": "CheckRun",
    "deployment": "Deployment",
    "deployment_status": "DeploymentStatus",
    "workflow": "Workflow",
    "workflow_run": "WorkflowRun",
    "artifact": "Artifact",
    "environment": "Environment",
    "ruleset": "RepositoryRuleset",
    "code_scanning_alert": "CodeScanningAlert",
    "secret_scanning_alert": "SecretScanningAlert",
    "workflow_job": "Job",
    "branch_protection": "BranchProtection",
    "tag_object": "GitTag",
    "package": "Package",
    "gist": "GistSimple",
    "sbom": "DependencyGraphSpdxSbom",
    "project": "ProjectsV2",
    "project_item": "ProjectsV2ItemWithContent",
    "security_advisory": "RepositoryAdvisory",
    "dependabot_alert": "DependabotAlert",
    "discussion": "Discussion",
    "languages": "Language",
    "license": "LicenseContent",
    "readme": "ContentFile",
    "codeowners": "ContentFile",
    "community_profile": "CommunityProfile",
    "views": "ViewTraffic",
    "clones": "CloneTraffic",
    "paths": "ContentTraffic",
    "referrers": "ReferrerTraffic",
    "contributor_statistics": "ContributorActivity",
    "commit_activity": "CommitActivity",
    "participation": "ParticipationStats",
}
UNSCHEMED = {"code_frequency", "punch_card"}
"""Arrays of arrays of numbers; no model says more of them."""
LISTED = {
    "issue": "Issue",
    "pull_request": "PullRequestSimple",
    "commit": "Commit",
    "branch": "ShortBranch",
    "tag": "Tag",
    "check_suite": "CheckSuite",
    "ruleset": "RepositoryRuleset",
    "gist": "BaseGist",
}
INSIDERS_ONLY = {"team", "project", "project_item", "views", "clones", "paths", "referrers"} | {
    "dependabot_alert",
    "code_scanning_alert",
    "secret_scanning_alert",
    "branch_protection",
    "package",
}

# What the element of a list lacks of the single resource: spec and recordings, as researched for every endpoint.
MERGE_SETTINGS = {
    "allow_rebase_merge",
    "allow_squash_merge",
    "allow_auto_merge",
    "allow_merge_commit",
    "allow_update_branch",
    "use_squash_pr_title_as_default",
    "squash_merge_commit_title",
    "squash_merge_commit_message",
    "merge_commit_title",
    "merge_commit_message",
}
REPO_LACKS = MERGE_SETTINGS | {
    "organization",
    "parent",
    "source",
    "network_count",
    "subscribers_count",
    "temp_clone_token",
}
PULL_LACKS = {
    "merged",
    "mergeable",
    "rebaseable",
    "mergeable_state",
    "merged_by",
    "comments",
    "review_comments",
    "maintainer_can_modify",
    "commits",
    "additions",
    "deletions",
    "changed_files",
}
USER_LACKS = {
    "name",
    "company",
    "blog",
    "location",
    "email",
    "hireable",
    "bio",
    "twitter_username",
    "public_repos",
    "public_gists",
    "followers",
    "following",
    "created_at",
    "updated_at",
}


@pytest.fixture
def insider(settled: World) -> Viewer:
    """Somebody who may administer: the first member owns the organisation."""
    acme = settled.org("acme")
    return Viewer(user=next(iter(acme.members)), kind="user", insider_of=frozenset({acme.id}))


def _author_of_gists(world: World) -> User:
    owners = (each for each in world.accounts.values() if isinstance(each, User) and world.repos_of(each))
    return next(each for each in owners if accounts.gists_of(each))


@pytest.fixture
def world(settled: World) -> World:
    return settled


@pytest.fixture(scope="module")
def models() -> Any:
    """The official schemas; importing them warns of names that shadow pydantic's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("githubkit_schemas.v2022_11_28.models")


def validated(models: Any, name: str, body: Mapping[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(models, name).model_validate(body)


@pytest.mark.slow
@pytest.mark.parametrize("inside", [True, False], ids=["insider", "anybody"])
def test_every_expected_thing_of_a_world_fits_the_official_schema_of_its_kind(
    world: World, models: Any, insider: Viewer, *, inside: bool
) -> None:
    viewer = insider if inside else ANYBODY
    things = {
        key: thing
        for login in ("acme", _author_of_gists(world).login)
        for key, thing in expected(world, login, base=SITE.base, viewer=viewer, everything=True).items()
    }
    seen = set()
    for thing in things.values():
        seen.add(thing.type)
        if thing.single is not None and thing.type not in UNSCHEMED:
            body = thing.single()
            for each in body["elements"] if set(body) == {"elements"} else [body]:
                validated(models, SINGLES[thing.type], each)
        if thing.listed is not None:
            validated(models, LISTED[thing.type], thing.listed())
    assert len(things) > 300
    assert seen == {*SINGLES, *UNSCHEMED, "tag"} - (INSIDERS_ONLY if not inside else set())
    assert seen == {*TYPES, *MORE_TYPES} - (INSIDERS_ONLY if not inside else set())


def fork(world: World) -> Repo:
    return next(repo for repo in world.repos.values() if repo.parent)


def test_a_listed_repository_fits_its_schema_and_lacks_what_github_leaves_out(
    world: World, models: Any, insider: Viewer
) -> None:
    whole = repos.repo(SITE, world, fork(world), insider)
    validated(models, "MinimalRepository", repos.org_repo(SITE, world, fork(world), insider))
    validated(models, "Repository", repos.embedded_repo(SITE, world, fork(world)))
    validated(models, "TeamRepository", repos.team_repo(SITE, world, fork(world), insider))
    assert set(whole) - set(repos.org_repo(SITE, world, fork(world), insider)) == REPO_LACKS
    own = repos.listed_repo(SITE, world, fork(world), insider)
    assert set(whole) - set(own) == REPO_LACKS | {"custom_properties", "delete_branch_on_merge"}


def test_an_outsider_is_not_told_how_a_repository_is_merged(world: World) -> None:
    assert not set(repos.repo(SITE, world, fork(world), ANYBODY)) & (MERGE_SETTINGS | {"permissions"})


def test_a_listed_pull_request_lacks_exactly_twelve_fields(world: World) -> None:
    repo = world.repo("acme/web")
    pull = repo.pulls[0]
    lacks = set(pulls.pull(SITE, world, repo, pull)) - set(pulls.listed_pull(SITE, world, repo, pull))
    assert lacks == PULL_LACKS


def test_a_listed_commit_lacks_what_it_changed(world: World) -> None:
    repo = world.repo("acme/web")
    assert repo.head
    lacks = set(commits.commit(SITE, repo, repo.head)) - set(commits.listed_commit(SITE, repo, repo.head))
    assert lacks == {"stats", "files"}


def test_a_listed_branch_names_its_commit_and_the_single_holds_it(world: World) -> None:
    repo = world.repo("acme/web")
    ref = next(iter(repo.branches.values()))
    single, listed = commits.branch(SITE, repo, ref), commits.listed_branch(SITE, repo, ref)
    assert set(single) - set(listed) == {"_links"}
    assert set(listed["commit"]) == {"sha", "url"}
    assert set(single["commit"]) >= {"commit", "files", "stats", "parents"}


def test_a_listed_issue_lacks_only_the_pinned_comment(world: World) -> None:
    repo = world.repo("acme/web")
    for issue in repo.issues.values():
        lacks = set(issues.issue(SITE, repo, issue)) - set(issues.listed_issue(SITE, repo, issue))
        assert lacks == {"pinned_comment"}
        assert ("pull_request" in issues.listed_issue(SITE, repo, issue)) is (issue.pull is not None)


def test_a_listed_team_lacks_its_counts_dates_and_organisation(world: World, models: Any) -> None:
    team = next(each for each in world.org("acme").teams.values() if each.parent)
    listed = accounts.listed_team(SITE, team)
    validated(models, "Team", listed)
    validated(models, "Team", accounts.repo_team(SITE, team, world.repo("acme/web").id))
    lacks = set(accounts.team(SITE, world, team)) - set(listed)
    assert lacks == {"members_count", "repos_count", "created_at", "updated_at", "organization"}


def test_a_listed_user_has_no_profile(world: World, models: Any, insider: Viewer) -> None:
    user = list(world.org("acme").members.values())[-1].user
    listed = accounts.simple_user(SITE, user)
    validated(models, "SimpleUser", listed)
    validated(models, "Contributor", accounts.contributor(SITE, user, 3))
    validated(models, "Collaborator", accounts.collaborator(SITE, user, admin=False))
    assert set(accounts.user(SITE, world, user, insider)) - set(listed) == USER_LACKS


def test_the_users_own_profile_fits_the_private_schema(world: World, models: Any) -> None:
    user = next(iter(world.org("acme").members.values())).user
    me = Viewer(user=user.id, kind="user")
    validated(models, "PrivateUser", accounts.user(SITE, world, user, me))


def test_a_listed_organisation_is_only_named(world: World, models: Any) -> None:
    listed = accounts.simple_org(SITE, world.org("acme"))
    validated(models, "OrganizationSimple", listed)
    assert not set(listed) & {"name", "created_at", "html_url", "type", "public_repos"}


def test_a_release_holds_its_files(world: World, models: Any) -> None:
    repo = world.repo("acme/web")
    body = releases.release(SITE, repo, next(iter(repo.releases.values())))
    assert body["assets"]
    for asset in body["assets"]:
        validated(models, "ReleaseAsset", asset)


def test_the_newer_version_has_dropped_fields_wherever_they_stood(world: World) -> None:
    repo = world.repo("acme/web")
    body = pulls.pull(SITE, world, repo, next(pull for pull in repo.pulls if pull.pull and pull.pull.head_repo))
    newer = in_version(body, "2026-03-10")
    assert set(body) - set(newer) == {"assignee", "merge_commit_sha"}
    assert "has_downloads" not in newer["head"]["repo"]
    assert in_version(body, "2022-11-28") is body


def urls(body: object) -> Iterator[str]:
    if isinstance(body, Mapping):
        for key, value in body.items():
            if isinstance(value, str) and (key in ("url", "href") or key.endswith("_url")):
                yield value
            else:
                yield from urls(value)
    elif isinstance(body, list):
        for item in body:
            yield from urls(item)


def test_every_url_in_a_body_points_at_the_simulator(world: World, insider: Viewer) -> None:
    for thing in expected(world, "acme", base=SITE.base, viewer=insider).values():
        for body in thing.bodies():
            strange = [url for url in urls(body) if not url.startswith((SITE.base, "git:", "git@")) and url]
            assert not strange, (thing.urn, strange)


def test_counters_in_bodies_are_true_to_the_world(world: World) -> None:
    repo = world.repo("acme/web")
    for issue in repo.pulls:
        body = pulls.pull(SITE, world, repo, issue)
        assert issue.pull
        assert (body["comments"], body["review_comments"]) == (len(issue.comments), len(issue.pull.comments))
        assert body["commits"] == len(issue.pull.commits)
    commented = next(iter(repo.commit_comments.values())).commit
    assert (
        commits.listed_commit(SITE, repo, commented)["commit"]["comment_count"] == len(repo.comments_on(commented)) > 0
    )
    parent = fork(world).parent
    assert parent
    assert repos.repo(SITE, world, parent, ANYBODY)["forks_count"] == 1
    team = next(iter(world.org("acme").teams.values()))
    body = accounts.team(SITE, world, team)
    assert (body["members_count"], body["repos_count"]) == (len(team.members), len(team.repos))


def test_memberships_and_groups_fit_their_schemas(world: World, models: Any) -> None:
    acme = world.org("acme")
    team, member = next(iter(acme.teams.values())), next(iter(acme.members.values()))
    validated(models, "OrgMembership", belongings.membership(SITE, acme, member))
    roles = {belongings.team_membership(SITE, team, user)["role"] for user in team.members.values()}
    assert roles >= {"maintainer"}
    validated(models, "TeamMembership", belongings.team_membership(SITE, team, next(iter(team.members.values()))))
    assert belongings.external_group(team).keys() == {"group_id", "group_name", "updated_at"}
