"""What no entity of GitHub's contains, at any depth: an answer that does is not GitHub's.

`Entity.urn` checks identity; this checks the content. Fields that people and apps fill in freely are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from ghcrawl.values.errors import Malformed
from ghcrawl.values.jsontext import Json, JsonObject

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
_GIVEN: Final = frozenset({"target_url", "details_url", "environment_url", "external_url", "log_url", "mirror_url"})
"""URLs that apps and people give."""
_SCRIPTS: Final = ("javascript:", "data:", "vbscript:", "file:")
"""URLs that are no place on the web."""
_LONGEST: Final = 40
"""Characters of a wrong value that are shown."""
_NAMES: Final = 4096
"""Names of fields whose rule is kept; GitHub has fewer."""


def check(type: str, body: JsonObject) -> None:
    """Raises Malformed for a counter below zero, a URL that is a script, or something else where an object belongs."""
    waiting: list[tuple[str, Json]] = [("", body)]
    while waiting:
        above, value = waiting.pop()
        if isinstance(value, list):
            waiting.extend((above, item) for item in value if isinstance(item, (dict, list)))
            continue
        for name, inner in value.items():
            rule = _rule(name)
            if rule is not None and (fault := rule(inner)):
                raise Malformed(f"{type}.{above}{name} is {fault}")
            if (inner.__class__ is dict or inner.__class__ is list) and name not in _ANYTHING:
                waiting.append((f"{above}{name}.", inner))


@lru_cache(_NAMES)
def _rule(name: str) -> Callable[[Json], str] | None:
    """What a field of this name must keep to: says what is wrong with its value. None: anything goes, as in most."""
    if name in OBJECTS:
        return _no_object
    if name in COUNTERS or name.endswith("_count"):
        return _below_zero
    return _no_place if name.endswith(_PLACES) and name not in _GIVEN else None


def _no_object(value: Json) -> str:
    if isinstance(value, list):
        odd = next((item for item in value if item is not None and not isinstance(item, Mapping)), None)
        return "" if odd is None else f"a list with something in it that is no object: {str(odd)[:_LONGEST]!r}"
    if isinstance(value, str):
        return f"no object: {value[:_LONGEST]!r}"
    return f"no object: {value}" if isinstance(value, int) else ""


def _below_zero(value: Json) -> str:
    return f"below zero: {value}" if isinstance(value, int) and value < 0 else ""


def _no_place(value: Json) -> str:
    if not isinstance(value, str) or value.startswith("http"):
        return ""
    return f"no URL: {value[:_LONGEST]}" if value.lstrip().lower().startswith(_SCRIPTS) else ""
