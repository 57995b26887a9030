"""Rules for each event: what to save from its payload, what to fetch, what was deleted.

Rows go by GitHub's names of webhooks; `type_of` makes the names of types of them, which the event feed shares. An event
without a row is kept as a document; nothing that is crawled follows from it.

Sources: docs.github.com/webhooks/webhook-events-and-payloads; the 329 payloads of @octokit/webhooks-examples; what the
predecessor did, as far as it did it right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Final

from msgspec import Struct

from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, count, mapping, text
from processors.github.webhook import type_of


class Action(Enum):
    """The action for a thing in an event."""

    SAVE = "save"
    """Save it from the payload, with no call; ask for it where the payload holds only part of it."""
    FETCH = "fetch"
    """Ask for it."""
    FETCH_LATER = "fetch_later"
    """Ask for it once a burst of events is over, if we hold it: the event changed something about it in passing."""
    DELETE = "delete"
    """It is a tombstone from now on, with all that lies in it."""
    READ_LIST = "read_list"
    """Read a list again."""
    FETCH_ALL = "fetch_all"
    """Ask for it and for all that is in it."""
    FETCH_MISSING = "fetch_missing"
    """Request the things in it that are not stored; stored ones cost no call."""


def always(_payload: JsonObject) -> bool:
    """In any case."""
    return True


class EventRule(Struct, frozen=True):
    """The rule for one thing in an event.

    type: of the thing; for READ_LIST, of the list. of: for a list that is neither the repository's nor the
    organisation's, the type of what stands at `at`. at: where in the payload it stands; empty: what the event is
    about, the repository, else the organisation; `ref` is made of the payload's name of a branch or tag. lies_in: where
    in the payload the repository stands that it lies in, if not in the event's own.
    on: the actions to which it applies; empty: all. never_on: all but these. when: a condition on the payload.
    whole: fields without which a payload holds only part of it. dated: it says when it last changed.
    """

    action: Action
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
        """Whether it holds for this payload."""
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
    return count(at(payload, "changes", "new_issue", "comments")) > 0


def on_branch(payload: JsonObject) -> bool:
    """The push, creation or deletion was of a branch."""
    return payload.get("ref_type", "branch") == "branch" and not text(payload.get("ref")).startswith("refs/tags/")


def on_tag(payload: JsonObject) -> bool:
    """The same of a tag."""
    return payload.get("ref_type") == "tag" or text(payload.get("ref")).startswith("refs/tags/")


def on_default_branch(payload: JsonObject) -> bool:
    """The push was to the default branch, or to one of which that is not known (the feed does not say)."""
    main, ref = text(at(payload, "repository", "default_branch")), text(payload.get("ref"))
    return on_branch(payload) and payload.get("deleted") is not True and (not main or ref == f"refs/heads/{main}")


def on_a_pull(payload: JsonObject) -> bool:
    """The comment was on a pull request, which counts it."""
    return "pull_request" in mapping(payload.get("issue"))


def _on(*actions: str) -> frozenset[str]:
    return frozenset(actions)


_save = partial(EventRule, Action.SAVE)
_delete = partial(EventRule, Action.DELETE)
_fetch = partial(EventRule, Action.FETCH)
_fetch_missing = partial(EventRule, Action.FETCH_MISSING)
_fetch_all = partial(EventRule, Action.FETCH_ALL)
_fetch_later = partial(EventRule, Action.FETCH_LATER)
_read_list = partial(EventRule, Action.READ_LIST)
_ISSUE: Final = ("issue",)
_ORG: Final = ("organization",)
_REF: Final = ("ref",)
_MILESTONE: Final = ("title", "open_issues")
_DEPLOYMENT: Final = ("task", "statuses_url")
_NEW_ISSUE: Final = ("changes", "new_issue")
_NEW_REPO: Final = ("changes", "new_repository")
_BRANCH_AND_TAG: Final = (_fetch("branch", at=_REF, when=on_branch), _fetch("tag", at=_REF, when=on_tag))
REPO: Final = _fetch("repo")
REPO_LATER: Final = _fetch_later("repo")
ISSUES_LATER: Final = (
    _fetch_later("issues"),
    _fetch_later("issue_events"),
)
"""The issue side of pull requests, changes within one second, and changes without a webhook: one call for all."""
PROJECTS_LATER: Final = _fetch_later("projects", at=_ORG)
"""An item names its project by nothing that a URL could be made of; the list says which of them changed."""
TEAM: Final = _fetch("team", at=("team",))
PULL: Final = ("pull_request",)
ISSUE: Final = _save("issue", at=_ISSUE, never_on=_on("deleted"), whole=whole_issue)
PULL_LATER: Final = _fetch_later("pull_request", at=PULL)
APPEARING: Final = _on("created", "publicized", "transferred")
"""After that there may be more of a repository to see than we hold."""
COUNTED: Final = _on("opened", "closed", "reopened", "deleted", "transferred")
"""Actions that change the repository's number of open issues."""


def _taken(
    type: str, *at: str, gone: str = "deleted", dated: bool = True, whole: tuple[str, ...]
) -> tuple[EventRule, ...]:
    """It is saved from the payload, until it is deleted."""
    return (
        _save(type, at=at, never_on=_on(gone), whole=has(*whole), dated=dated),
        _delete(type, at=at, on=_on(gone)),
    )


_ROWS: Final[Mapping[str, tuple[EventRule, ...]]] = {
    "check_run": _taken("check_run", "check_run", whole=("status", "check_suite", "output")),
    "check_suite": _taken("check_suite", "check_suite", whole=("status", "check_runs_url")),
    "commit_comment": _taken("commit_comment", "comment", whole=("body", "commit_id", "author_association")),
    "create": (
        _fetch_missing("repo", when=lambda payload: payload.get("ref_type") == "repository"),
        *_BRANCH_AND_TAG,
        REPO_LATER,
    ),
    "delete": (
        *_BRANCH_AND_TAG,
        REPO_LATER,
    ),
    "dependabot_alert": _taken("dependabot_alert", "alert", whole=("number", "state", "security_advisory")),
    "deployment": _taken("deployment", "deployment", whole=_DEPLOYMENT),
    "deployment_status": (
        *_taken("deployment_status", "deployment_status", whole=("state", "deployment_url")),
        *_taken("deployment", "deployment", whole=_DEPLOYMENT),
    ),
    "discussion": _taken("discussion", "discussion", whole=("title", "body", "comments")),
    "discussion_comment": (_save("discussion", at=("discussion",), whole=has("title", "body", "comments")),),
    "fork": (REPO_LATER,),
    "installation_repositories": (
        _fetch_missing("repo", at=("repositories_added",)),
        _fetch("repo", at=("repositories_removed",)),
    ),
    "installation": (
        _fetch_missing("repo", at=("repositories",), on=_on("created", "unsuspend")),
        _fetch("repo", at=("repositories",), on=_on("deleted", "suspend")),
    ),
    "issue_comment": (
        *_taken("issue_comment", "comment", whole=("body", "issue_url", "author_association")),
        ISSUE,
        _fetch("issue", at=_ISSUE, on=_on("deleted")),
        _fetch_later("pull_request", at=_ISSUE, when=on_a_pull),
    ),
    "issues": (
        _save("issue", at=_ISSUE, never_on=_on("deleted", "transferred"), whole=whole_issue),
        _delete("issue", at=_ISSUE, on=_on("deleted", "transferred")),
        _save("issue", at=_NEW_ISSUE, lies_in=_NEW_REPO, on=_on("transferred"), whole=whole_issue),
        _read_list(
            "issue_comments", of="issue", at=_NEW_ISSUE, lies_in=_NEW_REPO, on=_on("transferred"), when=with_comments
        ),
        _save("milestone", at=("issue", "milestone"), whole=has(*_MILESTONE)),
        _fetch_later("milestone", at=("issue", "milestone"), on=_on("deleted", "transferred")),
        _save("milestone", at=("milestone",), whole=has(*_MILESTONE)),
        _fetch_later("repo", on=COUNTED),
        _fetch_later("repo", at=_NEW_REPO, on=_on("transferred")),
        *ISSUES_LATER,
    ),
    "label": _taken("label", "label", whole=("name", "color"), dated=False),
    "member": (_read_list("collaborators"),),
    "membership": (TEAM,),
    "milestone": _taken("milestone", "milestone", whole=_MILESTONE),
    "organization": (
        _fetch("org", at=_ORG, never_on=_on("deleted")),
        _delete("org", at=_ORG, on=_on("deleted")),
        _read_list("members", at=_ORG, on=_on("member_added", "member_removed")),
        _read_list("teams", at=_ORG, on=_on("member_removed")),
        _read_list("repos", at=_ORG, on=_on("renamed")),
    ),
    "projects_v2": (
        _read_list("projects", at=_ORG, never_on=_on("deleted")),
        _delete("project", at=("projects_v2",), on=_on("deleted")),
    ),
    "projects_v2_item": (PROJECTS_LATER,),
    "projects_v2_status_update": (PROJECTS_LATER,),
    "public": (REPO,),
    "pull_request": (
        _save("pull_request", at=PULL, whole=has("additions", "merged", "base", "head")),
        _save("milestone", at=("pull_request", "milestone"), whole=has(*_MILESTONE)),
        _fetch_later("repo", on=COUNTED),
        *ISSUES_LATER,
    ),
    "pull_request_review": (
        _save("review", at=("review",), whole=has("state", "submitted_at", "pull_request_url", "author_association")),
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
        *_BRANCH_AND_TAG,
        _read_list("commits", when=on_default_branch),
        REPO_LATER,
    ),
    "release": _taken("release", "release", whole=("tag_name", "assets", "body", "draft")),
    "repository": (
        _fetch("repo", never_on=APPEARING | _on("deleted")),
        _fetch_all("repo", on=APPEARING),
        _delete("repo", on=_on("deleted")),
        _fetch_later("org", at=_ORG),
    ),
    "repository_advisory": _taken("security_advisory", "repository_advisory", whole=("ghsa_id", "summary")),
    "repository_import": (REPO,),
    "star": (REPO_LATER, _fetch_later("stargazers")),
    "status": (_read_list("statuses", of="commit", at=("commit",)),),
    "team": (
        _fetch("team", at=("team",), never_on=_on("deleted")),
        _delete("team", at=("team",), on=_on("deleted")),
        _read_list("teams", at=_ORG, on=_on("created", "deleted", "edited")),
    ),
    "team_add": (TEAM,),
    "watch": (REPO_LATER, _fetch_later("stargazers")),
    "workflow_run": _taken("workflow_run", "workflow_run", whole=("run_number", "jobs_url")),
}

# fmt: off
_UNTOLD: Final = frozenset({
    "branch_protection_configuration", "branch_protection_rule", "code_scanning_alert", "custom_property",
    "custom_property_promotion", "custom_property_values", "deploy_key", "deployment_protection_rule",
    "deployment_review", "exemption_request_push_ruleset", "exemption_request_secret_scanning",
    "github_app_authorization", "gollum", "installation_target", "issue_dependencies", "issue_relates_to",
    "marketplace_purchase", "merge_group", "meta", "org_block", "package", "page_build",
    "personal_access_token_request", "ping", "project", "project_card", "project_column", "registry_package",
    "repository_dispatch", "repository_ruleset", "repository_vulnerability_alert", "secret_scanning_alert",
    "secret_scanning_alert_location", "secret_scanning_scan", "security_advisory", "security_and_analysis",
    "sponsorship", "sub_issues", "workflow_dispatch", "workflow_job",
})
# fmt: on
"""Events that are kept and tell of nothing that is crawled here."""

NAMES: Final = frozenset({*_ROWS, *_UNTOLD})
"""Every event of GitHub's webhook schemas, and the ones that it has dropped."""
EVENT_RULES: Final[Mapping[str, tuple[EventRule, ...]]] = {type_of(name): _ROWS.get(name, ()) for name in sorted(NAMES)}
"""The rules of each event, by its type."""
