"""Where events lead, as visitor maps. Data, like the rest of the scenarios.

`event` has a step for each type of thing that an event can tell of; `people` is where whatever was saved from a payload
stands: nothing behind it is asked for but accounts that we hold nothing of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghcrawl.visitor_map import Node

_PEOPLE: Final = (
    "actor",
    "assignee",
    "assignees",
    "author",
    "closed_by",
    "committer",
    "creator",
    "dismissed_by",
    "merged_by",
    "publisher",
    "requested_reviewers",
    "triggering_actor",
    "user",
)
_TAKEN: Final = (
    "check_run",
    "check_suite",
    "commit_comment",
    "dependabot_alert",
    "deployment",
    "deployment_status",
    "discussion",
    "issue",
    "issue_comment",
    "label",
    "milestone",
    "pull_request",
    "release",
    "review",
    "review_comment",
    "security_advisory",
    "workflow_run",
)

EVENT_MAPS: Final[Mapping[str, Mapping[str, Node]]] = {
    "event": {
        **dict.fromkeys(_TAKEN, "people"),
        **dict.fromkeys(("repo", "org", "branch", "tag", "repos", "sender", "issues", "issue_events"), "self"),
        "commits": "people",
        **dict.fromkeys(("members", "collaborators", "stargazers"), "pages"),
        **dict.fromkeys(("team", "teams"), "roster"),
    },
    "feed": {},
    "roster": {"members": "pages", "repos": "pages"},
    "people": {**dict.fromkeys(_PEOPLE, "self"), "assets": "people"},
}
