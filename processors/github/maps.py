"""What a crawl of GitHub follows, by scenario. Data: a settings file may replace any of it.

`self` is the thing and nothing beyond it; a name is the map of that name; `pages` are pages without their elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghcrawl.visitor_map import Node

_PEOPLE: Final[Mapping[str, Node]] = {"user": "self"}

DEFAULT: Final[Mapping[str, Node]] = {
    "org": {"repos": "repo", "members": "self", "teams": "team"},
    "user": {"repos": "repo"},
    "team": {"organization": "self", "members": "self", "repos": "self"},
    "repo": {
        "owner": "self",
        "organization": "self",
        "issues": "issue",
        "pull_requests": "pull_request",
        "issue_comments": "issue_comment",
        "review_comments": "review_comment",
        "commits": "commit",
        "commit_comments": "commit_comment",
        "labels": "label",
        "milestones": "milestone",
        "releases": "release",
        "branches": "branch",
        "tags": "tag",
        "contributors": "self",
    },
    "issue": {
        **_PEOPLE,
        "assignee": "self",
        "assignees": "self",
        "closed_by": "self",
        "pull_request": "pull_request",
        "issue_comments": "issue_comment",
    },
    "issue_comment": _PEOPLE,
    "pull_request": {
        **_PEOPLE,
        "merged_by": "self",
        "assignee": "self",
        "assignees": "self",
        "requested_reviewers": "self",
        "reviews": "review",
        "review_comments": "review_comment",
    },
    "review": _PEOPLE,
    "review_comment": _PEOPLE,
    "commit": {"author": "self", "committer": "self", "commit_comments": "commit_comment"},
    "commit_comment": _PEOPLE,
    "label": {},
    "milestone": {"creator": "self"},
    "release": {"author": "self"},
    "branch": {},
    "tag": {},
    "event": {},
}

SCENARIOS: Final[Mapping[str, Mapping[str, Node]]] = {
    "default": DEFAULT,
    "initialize": DEFAULT,
    "self": {name: {} for name in DEFAULT},
    "relationOnly": {
        **{name: {} for name in DEFAULT},
        "org": {"members": "pages", "teams": "pages"},
        "team": {"members": "pages", "repos": "pages"},
        "repo": {"contributors": "pages"},
    },
}
