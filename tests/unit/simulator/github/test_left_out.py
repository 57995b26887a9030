"""What each form of a thing leaves out, as GitHub's published schemas have it, and as the simulator does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ghcrawl.simulator.github.entities import Issue, Repo
from ghcrawl.simulator.github.live import payloads, visible
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.shapes import (
    accounts,
    automation,
    belongings,
    commits,
    issues,
    left_behind,
    protection,
    pulls,
    records,
    releases,
    repos,
)
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


def _comment(repo: Repo) -> Any:
    return next(iter(repo.issue_comments.values()))


def _review(repo: Repo) -> tuple[Any, Any]:
    return next((issue, review) for issue in repo.pulls if issue.pull for review in issue.pull.reviews)


def _remark(repo: Repo) -> Any:
    return next(iter(repo.review_comments.values()))


def _on_commit(repo: Repo) -> Any:
    return next(iter(repo.commit_comments.values()))


def _gist(world: World) -> tuple[Any, str]:
    author = next(each for each in world.accounts.values() if accounts.gists_of(each))
    return author, accounts.gists_of(author)[0]


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
    "issue_comment": ("IssueComment", lambda w, r, v: issues.issue_comment(SITE, r, _comment(r))),
    "review": ("PullRequestReview", lambda w, r, v: pulls.review(SITE, r, *_review(r))),
    "review_comment": ("PullRequestReviewComment", lambda w, r, v: pulls.review_comment(SITE, r, _remark(r))),
    "commit_comment": ("CommitComment", lambda w, r, v: commits.commit_comment(SITE, r, _on_commit(r))),
    "release": ("Release", lambda w, r, v: releases.release(SITE, r, next(iter(r.releases.values())))),
    "label": ("Label", lambda w, r, v: issues.label(SITE, r, next(iter(r.labels.values())))),
    "milestone": ("Milestone", lambda w, r, v: issues.milestone(SITE, r, next(iter(r.milestones.values())))),
    "tag": ("GitRef", lambda w, r, v: commits.git_ref(SITE, r, next(iter(r.tags.values())), kind="tags")),
    "ruleset": ("RepositoryRuleset", lambda w, r, v: protection.ruleset(SITE, r)),
    "gist": ("GistSimple", lambda w, r, v: belongings.gist(SITE, *_gist(w))),
    "code_scanning_alert": (
        "CodeScanningAlert",
        lambda w, r, v: protection.code_scanning_alert(SITE, r, next(iter(r.records.alerts.values()))),
    ),
    "workflow_job": ("Job", lambda w, r, v: left_behind.job(SITE, r, next(iter(r.records.workflow_runs.values())))),
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
    ("issue", "list"): ("", lambda w, r, v: issues.listed_issue(SITE, r, _issue(r))),
    ("issue", "event"): ("WebhooksIssue", lambda w, r, v: payloads.hook_issue(SITE, r, _issue(r))),
    ("org", "webhook"): ("OrganizationSimpleWebhooks", lambda w, r, v: accounts.simple_org(SITE, w.org("acme"))),
    ("team", "webhook"): ("WebhooksTeam1", lambda w, r, v: accounts.simple_team(SITE, _team(w))),
    ("pull_request", "webhook"): ("PullRequestWebhook", lambda w, r, v: payloads.hook_pull(SITE, w, r, r.pulls[0])),
    ("pull_request", "event"): (
        "PullRequestMinimal",
        lambda w, r, v: visible.least(payloads.hook_pull(SITE, w, r, r.pulls[0])),
    ),
    ("issue_comment", "webhook"): ("WebhooksIssueComment", OWN["issue_comment"][1]),
    ("review", "webhook"): ("WebhooksReview", OWN["review"][1]),
    ("review_comment", "webhook"): ("WebhooksReviewComment", OWN["review_comment"][1]),
    ("commit_comment", "webhook"): (
        "WebhookCommitCommentCreatedPropComment",
        OWN["commit_comment"][1],
    ),
    ("release", "webhook"): ("WebhooksRelease", OWN["release"][1]),
    ("label", "webhook"): ("WebhooksLabel", OWN["label"][1]),
    ("milestone", "webhook"): ("WebhooksMilestone", OWN["milestone"][1]),
    ("tag", "list"): ("Tag", lambda w, r, v: commits.tag(SITE, r, next(iter(r.tags.values())))),
    ("ruleset", "list"): ("", lambda w, r, v: protection.listed_ruleset(SITE, r)),
    ("gist", "list"): ("BaseGist", lambda w, r, v: belongings.listed_gist(SITE, *_gist(w))),
    ("code_scanning_alert", "list"): (
        "CodeScanningAlertItems",
        lambda w, r, v: protection.code_scanning_alert(SITE, r, next(iter(r.records.alerts.values()))),
    ),
    ("workflow_job", "list"): ("Job", OWN["workflow_job"][1]),
    ("check_suite", "list"): ("", lambda w, r, v: automation.check_suite(SITE, w, r, _suite(r))),
}
"""(type, form) → the schema of that form, where GitHub publishes one of its own, and the simulator's shape of it."""
MORE_IN_EMBEDDED = {"organization", "template_repository", "master_branch"}
"""A repository in a webhook: schema and examples differ in these."""


def fields(name: str) -> set[str]:
    return {info.alias or field for field, info in getattr(models(), name).model_fields.items()}


@pytest.mark.parametrize(("type", "form"), FORMS, ids=str)
def test_a_form_leaves_out_what_githubs_schema_of_it_does_and_what_its_kind_knows(
    settled: World, type: str, form: str
) -> None:
    repo = settled.repo("acme/web")
    viewer = Viewer(user=1, kind="user", insider_of=frozenset({settled.org("acme").id}))
    (whole, own), (schema, shape) = OWN[type], FORMS[type, form]
    said, told = set(own(settled, repo, viewer)), set(shape(settled, repo, viewer))
    left_out = fields(whole) - fields(schema) if schema else set()
    assert sorted(told & left_out - MORE_IN_EMBEDDED) == []
    known = BY_TYPE[type].lacks.get(form, ())  # type: ignore[call-overload]  # a form's name
    lacks = {path for path in known if "." not in path} - SINCE_2025.get((type, form), set())
    assert sorted(lacks & told) == [], "the kind says that this form lacks these"
    assert lacks <= said, "and that the thing itself says so"
    kept_back = said - told - lacks - UNTOLD.get((type, form), set())
    assert sorted(kept_back - left_out) == [], "nothing else is left out"


SINCE_2025 = {("issue", "list"): {"closed_by"}}
"""What the forms of earlier years, and of other servers, lacked."""
MERGING = {
    "allow_auto_merge",
    "allow_merge_commit",
    "allow_rebase_merge",
    "allow_squash_merge",
    "allow_update_branch",
    "delete_branch_on_merge",
    "merge_commit_message",
    "merge_commit_title",
    "squash_merge_commit_message",
    "squash_merge_commit_title",
    "use_squash_pr_title_as_default",
}
UNTOLD: Mapping[tuple[str, str], set[str]] = {
    ("gist", "list"): {"forks"},
    ("issue", "list"): {"pinned_comment"},
    ("issue", "event"): {"pinned_comment"},
    ("issue", "webhook"): {"pinned_comment"},
    ("repo", "list"): {"temp_clone_token"},
    ("repo", "webhook"): {*MERGING, "organization", "permissions", "temp_clone_token"},
    ("team", "webhook"): {"parent"},
    ("user", "list"): {"email"},
}
"""What these forms may say by their schemas, and never did where they were recorded: PyGithub's exchanges, octokit's
fixtures and examples of webhooks."""


def test_every_form_that_a_kind_knows_to_leave_something_out_is_looked_at_or_has_no_shape_here() -> None:
    known = {(type, form) for type, entity in BY_TYPE.items() for form in entity.lacks}
    assert known - FORMS.keys() == ELSEWHERE


ELSEWHERE = {
    ("check_suite", "webhook"),
    ("commit", "batch"),
    ("commit", "event"),
    ("commit", "webhook"),
    ("issue", "batch"),
    ("org", "batch"),
    ("org", "own"),
    ("repo", "own"),
    ("tag", "own"),
    ("user", "own"),
}
"""Own answers that depend on who asks, batches, events, and what the simulator has in one form only."""
