"""Where events lead, as visitor maps. Data, like the rest of the scenarios.

`event` has a step for each type of thing that an event can tell of; `people` is the position of things that were
saved from a payload: behind them only accounts that are not stored are requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ghcrawl.values.visitor_map import NONE, Node, followed
from processors.github.events_table import EVENT_RULES, Action

_TAKEN: Final = sorted({rule.type for each in EVENT_RULES.values() for rule in each if rule.action is Action.SAVE})
"""What events carry whole."""

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
}

_COSTLY: Final[Mapping[str, tuple[str, str, Node]]] = {
    "statuses": ("pull_request", "statuses", "people"),
    "projects": ("org", "projects", "project"),
    "project": ("org", "projects", "self"),
}
"""What takes a call or more for each event: asked for in the scenarios that follow this link of this map, too."""


def event_maps(maps: Mapping[str, Mapping[str, Node]], people: Iterable[str]) -> Mapping[str, Mapping[str, Node]]:
    """The maps of events in the scenario that has those `maps`. people: the links to persons, of any type."""
    costly = {
        name: target for name, (of, link, target) in _COSTLY.items() if followed(maps.get(of, {}).get(link, NONE))
    }
    persons: Mapping[str, Node] = {**dict.fromkeys(people, "self"), "assets": "people"}
    return {**_EVENT_MAPS, "event": {**_EVENT_MAPS["event"], **costly}, "people": persons}
