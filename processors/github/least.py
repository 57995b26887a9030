"""What no entity of GitHub's contains, at any depth: an answer that does is not GitHub's.

`Entity.urn` checks identity; this checks the content. Fields that people and apps fill in freely are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghcrawl.values.errors import Malformed
from ghcrawl.values.model import Json, JsonObject

OBJECTS: Final = frozenset(
    {"user", "owner", "actor", "assignee", "assignees", "uploader", "creator", "closed_by", "merged_by", "sender"}
    | {"milestone", "reactions", "head_commit", "assets", "requested_reviewers", "requested_teams"}
)
"""Contain an object, several, or nothing, at any depth."""
COUNTERS: Final = frozenset(
    {"comments", "review_comments", "commits", "additions", "deletions", "changes", "changed_files", "contributions"}
    | {"open_issues", "closed_issues", "watchers", "forks", "followers", "following", "public_repos", "public_gists"}
)
"""Count something, as does what ends in `_count`."""
_ANYTHING: Final = frozenset({"payload", "client_payload", "inputs", "config", "parameters"})
"""Contain anything that people put in."""
_PLACES: Final = ("url", "href")
_ENDS: Final = frozenset(place[-3:] for place in _PLACES)
_GIVEN: Final = frozenset({"target_url", "details_url", "environment_url", "external_url", "log_url", "mirror_url"})
"""URLs that apps and people give."""
_SCRIPTS: Final = ("javascript:", "data:", "vbscript:", "file:")
"""URLs that are no place on the web."""
_PLAIN: Final = (str, int, float, type(None))
_LONGEST: Final = 40
"""Characters of a wrong URL that are shown."""


def check(type: str, body: JsonObject) -> None:
    """Raises Malformed for a counter below zero, a URL that is a script, or something else where an object belongs."""
    waiting: list[tuple[str, Json]] = [("", body)]
    while waiting:
        above, value = waiting.pop()
        if isinstance(value, (dict, Mapping)):
            for name, inner in value.items():
                if inner is None or (
                    isinstance(inner, str) and name not in OBJECTS and (inner[:4] == "http" or name[-3:] not in _ENDS)
                ):
                    continue  # as are most fields
                if fault := _fault(name, inner):
                    raise Malformed(f"{type}.{above}{name} is {fault}")
                if not isinstance(inner, _PLAIN) and name not in _ANYTHING:
                    waiting.append((f"{above}{name}.", inner))
        elif isinstance(value, list):
            waiting.extend((above, item) for item in value if not isinstance(item, _PLAIN))


def _fault(name: str, value: Json) -> str:
    """What is wrong with the field; empty where nothing is."""
    if isinstance(value, str):
        if name in OBJECTS:
            return f"no object: {value[:_LONGEST]!r}"
        is_place = not value.startswith("http") and name.endswith(_PLACES) and name not in _GIVEN
        return f"no URL: {value[:_LONGEST]}" if is_place and value.lstrip().lower().startswith(_SCRIPTS) else ""
    if isinstance(value, int):
        if name in OBJECTS:
            return f"no object: {value}"
        return f"below zero: {value}" if value < 0 and (name in COUNTERS or name.endswith("_count")) else ""
    if isinstance(value, list) and name in OBJECTS:
        odd = next((item for item in value if item is not None and not isinstance(item, Mapping)), None)
        return "" if odd is None else f"a list with something in it that is no object: {str(odd)[:_LONGEST]!r}"
    return ""
