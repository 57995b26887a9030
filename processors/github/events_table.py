"""What each event tells, as data: what to save from its payload, what to ask for, what is gone.

Rows go by GitHub's names of webhooks; `type_of` makes the names of types of them, which the event feed shares. An event
without a row is kept as a document and tells nothing that is crawled here.

Sources: docs.github.com/webhooks/webhook-events-and-payloads; the 329 payloads of @octokit/webhooks-examples; what the
predecessor did, as far as it did it right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from ghcrawl.values.model import JsonObject
from processors.github.graph import count, mapping, text
from processors.github.webhook import type_of


class Verb(Enum):
    """What to do about a thing that an event tells of."""

    TAKE = "take"
    """Save it from the payload, with no call; ask for it where the payload holds only part of it."""
    ASK = "ask"
    """Ask for it."""
    LATER = "later"
    """Ask for it once a burst of events is over, if we hold it: the event changed something about it in passing."""
    GONE = "gone"
    """It is a tombstone from now on, with all that lies in it."""
    WALK = "walk"
    """Read a list again."""
    SEEK = "seek"
    """Ask for it and for all that is in it."""
    FILL = "fill"
    """Request the things in it that are not stored; stored ones cost no call."""


def always(_payload: JsonObject) -> bool:
    """In any case."""
    return True


class Tells(Struct, frozen=True, kw_only=True):
    """One thing that an event tells of.

    type: of the thing; for WALK, of the list. of: for a list that is neither the repository's nor the organisation's,
    the type of what stands at `at`. at: where in the payload it stands; empty: what the event is about, the
    repository, else the organisation; `ref` is made of the payload's name of a branch or tag. lies_in: where in the
    payload the repository stands that it lies in, if not in the event's own.
    on: the actions that tell it; empty: all. never_on: all but these. when: the payload says so.
    whole: fields without which a payload holds only part of it. dated: it says when it last changed.
    """

    verb: Verb
    type: str
    of: str = ""
    at: tuple[str, ...] = ()
    lies_in: tuple[str, ...] = ()
    on: frozenset[str] = frozenset()
    never_on: frozenset[str] = frozenset()
    when: Callable[[JsonObject], bool] = always
    whole: Callable[[JsonObject], bool] = always
    dated: bool = True

    def applies(self, payload: JsonObject) -> bool:
        """Whether this payload tells it."""
        action = text(payload.get("action"))
        return action not in self.never_on and (not self.on or action in self.on) and self.when(payload)


def has(*fields: str) -> Callable[[JsonObject], bool]:
    """For `whole`: these fields tell the whole thing from the part of it that other events carry."""
    return lambda body: all(field in body for field in fields)


def whole_issue(body: JsonObject) -> bool:
    """No webhook says who closed an issue, so of a closed one it holds only part."""
    return all(name in body for name in ("title", "body", "comments")) and (
        body.get("state") == "open" or "closed_by" in body
    )


def with_comments(payload: JsonObject) -> bool:
    """The issue that was transferred brought comments, each of them under a new name."""
    return count(mapping(mapping(payload.get("changes")).get("new_issue")).get("comments")) > 0


def on_branch(payload: JsonObject) -> bool:
    """The push, creation or deletion was of a branch."""
    return payload.get("ref_type", "branch") == "branch" and not text(payload.get("ref")).startswith("refs/tags/")


def on_tag(payload: JsonObject) -> bool:
    """The same of a tag."""
    return payload.get("ref_type") == "tag" or text(payload.get("ref")).startswith("refs/tags/")


def on_default_branch(payload: JsonObject) -> bool:
    """The push was to the default branch, or to one of which that is not known (the feed does not say)."""
    main, ref = text(mapping(payload.get("repository")).get("default_branch")), text(payload.get("ref"))
    return on_branch(payload) and payload.get("deleted") is not True and (not main or ref == f"refs/heads/{main}")


def on_a_pull(payload: JsonObject) -> bool:
    """The comment was on a pull request, which counts it."""
    return "pull_request" in mapping(payload.get("issue"))


def _on(*actions: str) -> frozenset[str]:
    return frozenset(actions)


REPO: Final = Tells(verb=Verb.ASK, type="repo")
REPO_LATER: Final = Tells(verb=Verb.LATER, type="repo")
ISSUES_LATER: Final = (Tells(verb=Verb.LATER, type="issues"), Tells(verb=Verb.LATER, type="issue_events"))
"""The issue side of pull requests, changes within one second, and changes without a webhook: one call for all."""
PROJECTS_LATER: Final = Tells(verb=Verb.LATER, type="projects", at=("organization",))
"""An item names its project by nothing that a URL could be made of; the list says which of them changed."""
TEAM: Final = Tells(verb=Verb.ASK, type="team", at=("team",))
PULL: Final = ("pull_request",)
ISSUE: Final = Tells(verb=Verb.TAKE, type="issue", at=("issue",), never_on=_on("deleted"), whole=whole_issue)
PULL_LATER: Final = Tells(verb=Verb.LATER, type="pull_request", at=PULL)
APPEARING: Final = _on("created", "publicized", "transferred")
"""After that there may be more of a repository to see than we hold."""
COUNTED: Final = _on("opened", "closed", "reopened", "deleted", "transferred")
"""What moves the repository's number of open issues."""


def _taken(type: str, *at: str, gone: str = "deleted", dated: bool = True, whole: tuple[str, ...]) -> tuple[Tells, ...]:
    """It is saved from the payload, until it is deleted."""
    return (
        Tells(verb=Verb.TAKE, type=type, at=at, never_on=_on(gone), whole=has(*whole), dated=dated),
        Tells(verb=Verb.GONE, type=type, at=at, on=_on(gone)),
    )


_ROWS: Final[Mapping[str, tuple[Tells, ...]]] = {
    "check_run": _taken("check_run", "check_run", whole=("status", "check_suite", "output")),
    "check_suite": _taken("check_suite", "check_suite", whole=("status", "check_runs_url")),
    "commit_comment": _taken("commit_comment", "comment", whole=("body", "commit_id", "author_association")),
    "create": (
        Tells(verb=Verb.FILL, type="repo", when=lambda payload: payload.get("ref_type") == "repository"),
        Tells(verb=Verb.ASK, type="branch", at=("ref",), when=on_branch),
        Tells(verb=Verb.ASK, type="tag", at=("ref",), when=on_tag),
        REPO_LATER,
    ),
    "delete": (
        Tells(verb=Verb.ASK, type="branch", at=("ref",), when=on_branch),
        Tells(verb=Verb.ASK, type="tag", at=("ref",), when=on_tag),
        REPO_LATER,
    ),
    "dependabot_alert": _taken("dependabot_alert", "alert", whole=("number", "state", "security_advisory")),
    "deployment": _taken("deployment", "deployment", whole=("task", "statuses_url")),
    "deployment_status": (
        *_taken("deployment_status", "deployment_status", whole=("state", "deployment_url")),
        *_taken("deployment", "deployment", whole=("task", "statuses_url")),
    ),
    "discussion": _taken("discussion", "discussion", whole=("title", "body", "comments")),
    "discussion_comment": (
        Tells(verb=Verb.TAKE, type="discussion", at=("discussion",), whole=has("title", "body", "comments")),
    ),
    "fork": (REPO_LATER,),
    "installation_repositories": (
        Tells(verb=Verb.FILL, type="repo", at=("repositories_added",)),
        Tells(verb=Verb.ASK, type="repo", at=("repositories_removed",)),
    ),
    "installation": (
        Tells(verb=Verb.FILL, type="repo", at=("repositories",), on=_on("created", "unsuspend")),
        Tells(verb=Verb.ASK, type="repo", at=("repositories",), on=_on("deleted", "suspend")),
    ),
    "issue_comment": (
        *_taken("issue_comment", "comment", whole=("body", "issue_url", "author_association")),
        ISSUE,
        Tells(verb=Verb.ASK, type="issue", at=("issue",), on=_on("deleted")),
        Tells(verb=Verb.LATER, type="pull_request", at=("issue",), when=on_a_pull),
    ),
    "issues": (
        Tells(
            verb=Verb.TAKE,
            type="issue",
            at=("issue",),
            never_on=_on("deleted", "transferred"),
            whole=whole_issue,
        ),
        Tells(verb=Verb.GONE, type="issue", at=("issue",), on=_on("deleted", "transferred")),
        Tells(
            verb=Verb.TAKE,
            type="issue",
            at=("changes", "new_issue"),
            lies_in=("changes", "new_repository"),
            on=_on("transferred"),
            whole=whole_issue,
        ),
        Tells(
            verb=Verb.WALK,
            type="issue_comments",
            of="issue",
            at=("changes", "new_issue"),
            lies_in=("changes", "new_repository"),
            on=_on("transferred"),
            when=with_comments,
        ),
        Tells(verb=Verb.TAKE, type="milestone", at=("issue", "milestone"), whole=has("title", "open_issues")),
        Tells(verb=Verb.LATER, type="milestone", at=("issue", "milestone"), on=_on("deleted", "transferred")),
        Tells(verb=Verb.TAKE, type="milestone", at=("milestone",), whole=has("title", "open_issues")),
        Tells(verb=Verb.LATER, type="repo", on=COUNTED),
        Tells(verb=Verb.LATER, type="repo", at=("changes", "new_repository"), on=_on("transferred")),
        *ISSUES_LATER,
    ),
    "label": _taken("label", "label", whole=("name", "color"), dated=False),
    "member": (Tells(verb=Verb.WALK, type="collaborators"),),
    "membership": (TEAM,),
    "milestone": _taken("milestone", "milestone", whole=("title", "open_issues")),
    "organization": (
        Tells(verb=Verb.ASK, type="org", at=("organization",), never_on=_on("deleted")),
        Tells(verb=Verb.GONE, type="org", at=("organization",), on=_on("deleted")),
        Tells(verb=Verb.WALK, type="members", at=("organization",), on=_on("member_added", "member_removed")),
        Tells(verb=Verb.WALK, type="teams", at=("organization",), on=_on("member_removed")),
        Tells(verb=Verb.WALK, type="repos", at=("organization",), on=_on("renamed")),
    ),
    "projects_v2": (
        Tells(verb=Verb.WALK, type="projects", at=("organization",), never_on=_on("deleted")),
        Tells(verb=Verb.GONE, type="project", at=("projects_v2",), on=_on("deleted")),
    ),
    "projects_v2_item": (PROJECTS_LATER,),
    "projects_v2_status_update": (PROJECTS_LATER,),
    "public": (REPO,),
    "pull_request": (
        Tells(verb=Verb.TAKE, type="pull_request", at=PULL, whole=has("additions", "merged", "base", "head")),
        Tells(verb=Verb.TAKE, type="milestone", at=("pull_request", "milestone"), whole=has("title", "open_issues")),
        Tells(verb=Verb.LATER, type="repo", on=COUNTED),
        *ISSUES_LATER,
    ),
    "pull_request_review": (
        Tells(
            verb=Verb.TAKE,
            type="review",
            at=("review",),
            whole=has("state", "submitted_at", "pull_request_url", "author_association"),
        ),
        PULL_LATER,
        *ISSUES_LATER,
    ),
    "pull_request_review_comment": (
        *_taken("review_comment", "comment", whole=("body", "diff_hunk", "author_association")),
        PULL_LATER,
        *ISSUES_LATER,
    ),
    "pull_request_review_thread": (PULL_LATER,),
    "push": (
        Tells(verb=Verb.ASK, type="branch", at=("ref",), when=on_branch),
        Tells(verb=Verb.ASK, type="tag", at=("ref",), when=on_tag),
        Tells(verb=Verb.WALK, type="commits", when=on_default_branch),
        REPO_LATER,
    ),
    "release": _taken("release", "release", whole=("tag_name", "assets", "body", "draft")),
    "repository": (
        Tells(verb=Verb.ASK, type="repo", never_on=APPEARING | _on("deleted")),
        Tells(verb=Verb.SEEK, type="repo", on=APPEARING),
        Tells(verb=Verb.GONE, type="repo", on=_on("deleted")),
        Tells(verb=Verb.LATER, type="org", at=("organization",)),
    ),
    "repository_advisory": _taken("security_advisory", "repository_advisory", whole=("ghsa_id", "summary")),
    "repository_import": (REPO,),
    "star": (REPO_LATER, Tells(verb=Verb.LATER, type="stargazers")),
    "status": (Tells(verb=Verb.WALK, type="statuses", of="commit", at=("commit",)),),
    "team": (
        Tells(verb=Verb.ASK, type="team", at=("team",), never_on=_on("deleted")),
        Tells(verb=Verb.GONE, type="team", at=("team",), on=_on("deleted")),
        Tells(verb=Verb.WALK, type="teams", at=("organization",), on=_on("created", "deleted", "edited")),
    ),
    "team_add": (TEAM,),
    "watch": (REPO_LATER, Tells(verb=Verb.LATER, type="stargazers")),
    "workflow_run": _taken("workflow_run", "workflow_run", whole=("run_number", "jobs_url")),
}

_UNTOLD: Final = frozenset(
    {
        "branch_protection_configuration",
        "branch_protection_rule",
        "code_scanning_alert",
        "custom_property",
        "custom_property_promotion",
        "custom_property_values",
        "deploy_key",
        "deployment_protection_rule",
        "deployment_review",
        "exemption_request_push_ruleset",
        "exemption_request_secret_scanning",
        "github_app_authorization",
        "gollum",
        "installation_target",
        "issue_dependencies",
        "issue_relates_to",
        "marketplace_purchase",
        "merge_group",
        "meta",
        "org_block",
        "package",
        "page_build",
        "personal_access_token_request",
        "ping",
        "project",
        "project_card",
        "project_column",
        "registry_package",
        "repository_dispatch",
        "repository_ruleset",
        "repository_vulnerability_alert",
        "secret_scanning_alert",
        "secret_scanning_alert_location",
        "secret_scanning_scan",
        "security_advisory",
        "security_and_analysis",
        "sponsorship",
        "sub_issues",
        "workflow_dispatch",
        "workflow_job",
    }
)
"""Events that are kept and tell of nothing that is crawled here."""

NAMES: Final = frozenset({*_ROWS, *_UNTOLD})
"""Every event of GitHub's webhook schemas, and the ones that it has dropped."""
TOLD: Final[Mapping[str, tuple[Tells, ...]]] = {type_of(name): _ROWS.get(name, ()) for name in sorted(NAMES)}
"""By type: what an event tells."""
