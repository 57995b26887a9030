"""Where events lead, as visitor maps. Data, like the rest of the scenarios.

`event` has a step for each type of thing that an event can tell of; `people` is where whatever was saved from a payload
stands: nothing behind it is asked for but accounts that we hold nothing of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghcrawl.visitor_map import NONE, Node, followed

PEOPLE_LINKS: Final = (
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
    "requested_reviewer",
    "requested_reviewers",
    "triggering_actor",
    "uploader",
    "user",
)
"""The links to persons, whatever has them."""
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

_EVENT_MAPS: Final[Mapping[str, Mapping[str, Node]]] = {
    "event": {
        **dict.fromkeys(_TAKEN, "people"),
        **dict.fromkeys(("repo", "org", "branch", "tag", "repos", "sender", "issues", "issue_events"), "self"),
        "commits": "people",
        **dict.fromkeys(("members", "collaborators", "stargazers"), "pages"),
        "issue_comments": "people",
        **dict.fromkeys(("team", "teams"), "roster"),
    },
    "feed": {},
    "roster": {"members": "pages", "repos": "pages"},
    "people": {**dict.fromkeys(PEOPLE_LINKS, "self"), "assets": "people"},
}

_COSTLY: Final[Mapping[str, tuple[str, str, Node]]] = {
    "statuses": ("pull_request", "statuses", "people"),
    "projects": ("org", "projects", "project"),
    "project": ("org", "projects", "self"),
}
"""What takes a call or more for each event: asked for in the scenarios that follow this link of this map, too."""


def event_maps(maps: Mapping[str, Mapping[str, Node]]) -> Mapping[str, Mapping[str, Node]]:
    """The maps of events in the scenario that has those `maps`."""
    costly = {
        name: target for name, (of, link, target) in _COSTLY.items() if followed(maps.get(of, {}).get(link, NONE))
    }
    return {**_EVENT_MAPS, "event": {**_EVENT_MAPS["event"], **costly}}
