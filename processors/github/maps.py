"""What a crawl of GitHub follows, by scenario. Data: a settings file may replace any of it.

`self` is the thing and nothing beyond it; a name is the map of that name; `pages` are pages without their elements.
What only `everything` follows stands in the other scenarios behind `?`: one can still ask for it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ghcrawl.visitor_map import NONE, ON_REQUEST, PAGES, SELF, Node
from processors.github.events_maps import PEOPLE_LINKS, event_maps
from processors.github.parts import PARTS

_PEOPLE: Final[Mapping[str, Node]] = {"user": "self"}
_CHECKED: Final[Mapping[str, Node]] = {"statuses": "status", "check_suites": "check_suite", "check_runs": "check_run"}

EVERYTHING: Final[Mapping[str, Mapping[str, Node]]] = {
    "org": {
        "repos": "repo",
        "members": "self",
        "teams": "team",
        "outside_collaborators": "self",
        "projects": "project",
    },
    "user": {"repos": "repo", "orgs": PAGES},
    "team": {"organization": "self", "members": "self", "repos": "self"},
    "repo": {
        "owner": "self",
        "organization": "self",
        "issues": "issue",
        "pull_requests": "pull_request",
        "issue_comments": "issue_comment",
        "issue_events": "issue_event",
        "review_comments": "review_comment",
        "commits": "commit",
        "commit_comments": "commit_comment",
        "labels": "label",
        "milestones": "milestone",
        "releases": "release",
        "branches": "branch",
        "tags": "tag",
        "contributors": "self",
        "teams": PAGES,
        "collaborators": "self",
        "stargazers": PAGES,
        "subscribers": PAGES,
        "forks": PAGES,
        "discussions": "discussion",
        "deployments": "deployment",
        "workflows": "workflow",
        "workflow_runs": "workflow_run",
        "security_advisories": "security_advisory",
        "dependabot_alerts": "dependabot_alert",
        **{part.type: SELF for part in PARTS},
    },
    "issue": {
        **_PEOPLE,
        "assignee": "self",
        "assignees": "self",
        "closed_by": "self",
        "pull_request": "pull_request",
        "issue_comments": "issue_comment",
        "events": "?issue_event",  # the repository lists them all
        "timeline": "?pages",  # a call for each issue; the repository lists events, comments and reviews
        "reactions": "reaction",
    },
    "issue_comment": {**_PEOPLE, "reactions": "reaction"},
    "issue_event": {"actor": "self", "assignee": "self", "requested_reviewer": "self"},
    "pull_request": {
        **_PEOPLE,
        "merged_by": "self",
        "assignee": "self",
        "assignees": "self",
        "requested_reviewers": "self",
        "reviews": "review",
        "review_comments": "review_comment",
        "commits": "commit",
        **_CHECKED,
    },
    "review": _PEOPLE,
    "review_comment": {**_PEOPLE, "reactions": "reaction"},
    "commit": {
        "author": "self",
        "committer": "self",
        "commit_comments": "commit_comment",
        **{link: f"{ON_REQUEST}{target}" for link, target in _CHECKED.items()},  # of every commit: far too many
    },
    "commit_comment": {**_PEOPLE, "reactions": "reaction"},
    "reaction": _PEOPLE,
    "discussion": _PEOPLE,
    "label": {},
    "milestone": {"creator": "self"},
    "release": {"author": "self", "assets": "release_asset", "reactions": "reaction"},
    "release_asset": {"uploader": "self"},
    "branch": _CHECKED,
    "tag": {},
    "status": {"creator": "self"},
    "check_suite": {"check_runs": "check_run"},
    "check_run": {},
    "deployment": {"creator": "self", "statuses": "deployment_status"},
    "deployment_status": {"creator": "self"},
    "workflow": {"runs": "?workflow_run"},  # the repository lists them all
    "workflow_run": {"actor": "self", "triggering_actor": "self"},
    "project": {"creator": "self", "items": "project_item"},
    "project_item": {"creator": "self"},
    "security_advisory": {"author": "self", "publisher": "self"},
    "dependabot_alert": {"dismissed_by": "self"},
    **{part.type: {} for part in PARTS},
}

_ABOUT: Final = {
    "org": ("repos", "members", "teams"),
    "user": ("repos",),
    "team": ("organization", "members", "repos"),
    "repo": ("owner", "organization", "topics", "teams", "collaborators", "contributors"),
}
_ISSUES: Final = {
    "repo": ("issues", "pull_requests", "issue_comments", "issue_events", "review_comments", "labels", "milestones"),
    "issue": ("pull_request", "issue_comments"),
    "pull_request": ("reviews", "review_comments"),
}
_CODE: Final = {
    "repo": ("commits", "commit_comments", "branches", "tags", "releases"),
    "commit": ("commit_comments",),
    "release": ("assets",),
}
_FILES: Final = ("languages", "license", "readme", "codeowners")


def narrowed(*choices: Mapping[str, Iterable[str]], people: bool = True) -> Mapping[str, Mapping[str, Node]]:
    """`EVERYTHING` with only these links followed, and with `people` those to persons."""
    chosen = {(name, link) for choice in choices for name, links in choice.items() for link in links}
    return {
        name: {
            link: target if (name, link) in chosen or (people and link in PEOPLE_LINKS) else _on_request(target)
            for link, target in links.items()
        }
        for name, links in EVERYTHING.items()
    }


def _on_request(target: Node) -> Node:
    return ON_REQUEST + target.removeprefix(ON_REQUEST) if isinstance(target, str) else NONE


def _relation(name: str, link: str, target: Node) -> Node:
    """What relationOnly makes of a link: what has relations of its own is gone through, the others are pages."""
    if link in _ROOTS.get(name, ()) or (name, link) == ("org", "teams"):
        return target
    return PAGES if link in _RELATIONS.get(name, ()) else _on_request(target)


DEFAULT: Final = narrowed(_ABOUT, _ISSUES, _CODE)
_ROOTS: Final = {"org": ("repos",), "user": ("repos",)}
_RELATIONS: Final = {
    "org": ("members", "teams", "outside_collaborators"),
    "team": ("members", "repos"),
    "repo": ("teams", "collaborators", "contributors", "subscribers", "stargazers", "forks"),
}
_CRAWLS: Final[Mapping[str, Mapping[str, Mapping[str, Node]]]] = {
    "default": DEFAULT,
    "initialize": DEFAULT,
    "everything": EVERYTHING,
    "metadata": narrowed(_ABOUT, {"repo": ("labels", "milestones", "community_profile", *_FILES)}),
    "issues": narrowed(_ROOTS, _ISSUES),
    "code": narrowed(_ROOTS, _CODE, {"repo": ("contributors", *_FILES)}),
    "self": narrowed(people=False),
    "relationOnly": {
        name: {link: _relation(name, link, target) for link, target in links.items()}
        for name, links in EVERYTHING.items()
    },
}
SCENARIOS: Final[Mapping[str, Mapping[str, Node]]] = {
    name: {**maps, **event_maps(maps)} for name, maps in _CRAWLS.items()
}
