"""What each form of a thing leaves out, as GitHub's published schemas have it, and as the simulator does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ghcrawl.simulator.github.entities import Issue, Repo
from ghcrawl.simulator.github.live import payloads
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.shapes import accounts, automation, commits, issues, pulls, records, repos
from ghcrawl.simulator.github.shapes.site import Body, Site
from ghcrawl.simulator.github.world import World
from processors.github.entities import BY_TYPE
from tests.support.official import models

SITE = Site("http://127.0.0.1:1")
Shape = Callable[[World, Repo, Viewer], Body]


def _issue(repo: Repo) -> Issue:
    return next(issue for issue in repo.issues.values() if issue.state == "closed")


def _member(world: World) -> Any:
    return next(iter(world.org("acme").members.values())).user


def _team(world: World) -> Any:
    return next(iter(world.org("acme").teams.values()))


def _event(repo: Repo) -> Any:
    return next(iter(repo.records.issue_events.values()))


def _suite(repo: Repo) -> Any:
    return next(iter(repo.records.check_suites.values()))


OWN: Mapping[str, tuple[str, Shape]] = {
    "org": ("OrganizationFull", lambda w, r, v: accounts.org(SITE, w, w.org("acme"), v)),
    "user": ("PublicUser", lambda w, r, v: accounts.user(SITE, w, _member(w), v)),
    "team": ("TeamFull", lambda w, r, v: accounts.team(SITE, w, _team(w))),
    "repo": ("FullRepository", lambda w, r, v: repos.repo(SITE, w, r, v)),
    "issue": ("Issue", lambda w, r, v: issues.issue(SITE, r, _issue(r))),
    "issue_event": ("IssueEvent", lambda w, r, v: records.issue_event(SITE, r, _event(r))),
    "pull_request": ("PullRequest", lambda w, r, v: pulls.pull(SITE, w, r, r.pulls[0])),
    "commit": ("Commit", lambda w, r, v: commits.commit(SITE, r, next(iter(r.commits.values())))),
    "branch": ("BranchWithProtection", lambda w, r, v: commits.branch(SITE, r, next(iter(r.branches.values())))),
    "check_suite": ("CheckSuite", lambda w, r, v: automation.whole_check_suite(SITE, w, r, _suite(r))),
}
FORMS: Mapping[tuple[str, str], tuple[str, Shape]] = {
    ("org", "list"): ("OrganizationSimple", lambda w, r, v: accounts.simple_org(SITE, w.org("acme"))),
    ("user", "list"): ("SimpleUser", lambda w, r, v: accounts.simple_user(SITE, _member(w))),
    ("team", "list"): ("Team", lambda w, r, v: accounts.listed_team(SITE, _team(w))),
    ("repo", "list"): ("MinimalRepository", lambda w, r, v: repos.org_repo(SITE, w, r, v)),
    ("repo", "webhook"): ("RepositoryWebhooks", lambda w, r, v: payloads.hook_repo(SITE, w, r)),
    ("issue", "webhook"): ("WebhookIssuesOpenedPropIssue", lambda w, r, v: payloads.hook_issue(SITE, r, _issue(r))),
    ("issue_event", "list"): ("", lambda w, r, v: records.bare_event(SITE, r, _event(r))),
    ("pull_request", "list"): ("PullRequestSimple", lambda w, r, v: pulls.listed_pull(SITE, w, r, r.pulls[0])),
    ("commit", "list"): ("", lambda w, r, v: commits.listed_commit(SITE, r, next(iter(r.commits.values())))),
    ("branch", "list"): (
        "ShortBranch",
        lambda w, r, v: commits.listed_branch(SITE, r, next(iter(r.branches.values()))),
    ),
    ("check_suite", "list"): ("", lambda w, r, v: automation.check_suite(SITE, w, r, _suite(r))),
}
"""(type, form) → the schema of that form, where GitHub publishes one of its own, and the simulator's shape of it."""
MORE_IN_EMBEDDED = {"organization", "template_repository", "master_branch"}
"""A repository in a webhook: schema and examples differ in these."""


def fields(name: str) -> set[str]:
    return {info.alias or field for field, info in getattr(models(), name).model_fields.items()}


@pytest.mark.parametrize(("type", "form"), FORMS, ids="-".join)
def test_a_form_leaves_out_what_githubs_schema_of_it_does_and_what_its_kind_knows(
    settled: World, type: str, form: str
) -> None:
    repo = settled.repo("acme/web")
    viewer = Viewer(user=1, kind="user", insider_of=frozenset({settled.org("acme").id}))
    (whole, own), (schema, shape) = OWN[type], FORMS[type, form]
    said, told = set(own(settled, repo, viewer)), set(shape(settled, repo, viewer))
    if schema:
        left_out = fields(whole) - fields(schema)
        assert sorted(told & left_out - MORE_IN_EMBEDDED) == []
    lacks = {path for path in BY_TYPE[type].lacks[form] if "." not in path}  # type: ignore[index]  # a form's name
    assert sorted(lacks & told) == [], "the kind says that this form lacks these"
    assert lacks & said, "and that the thing itself says so"


def test_every_form_that_a_kind_knows_to_leave_something_out_is_looked_at_or_has_no_shape_here() -> None:
    known = {(type, form) for type, entity in BY_TYPE.items() for form in entity.lacks}
    assert known - FORMS.keys() == ELSEWHERE


ELSEWHERE = {
    ("check_suite", "webhook"),
    ("commit", "batch"),
    ("commit", "event"),
    ("commit", "webhook"),
    ("gist", "list"),
    ("issue", "batch"),
    ("issue", "event"),
    ("issue", "list"),
    ("org", "batch"),
    ("org", "own"),
    ("pull_request", "event"),
    ("repo", "own"),
    ("ruleset", "list"),
    ("tag", "list"),
    ("tag", "own"),
    ("team", "webhook"),
    ("user", "own"),
}
"""Own answers that depend on who asks, batches, events, and what the simulator has in one form only."""
