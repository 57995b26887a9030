"""Conditions on an owner's body: whether a list or a part of it may have something to ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from ghcrawl.values.jsontext import JsonObject
from processors.fields import count, mapping


class Condition(Struct, frozen=True):
    """A condition in words, for the documentation, and as a function of the owner's body."""

    words: str
    holds: Callable[[JsonObject], bool]


def counted(name: str) -> Condition:
    """A counter of the owner is not 0; an owner without that counter may have some."""
    return Condition(f"`{name}` > 0", lambda owner: count(owner.get(name)) > 0)


def may(right: str) -> Condition:
    """The token that asked has that right in the repository; where nothing is said of rights, it has none."""
    return Condition(f"the token may {right}", lambda repo: mapping(repo.get("permissions")).get(right) is True)


def is_empty(repo: JsonObject) -> bool:
    """Nothing was pushed yet; a push would have changed the repository."""
    return repo.get("size") == 0


ALWAYS: Final = Condition("", lambda _owner: True)
HAS_FILES: Final = Condition("`size` > 0", lambda repo: not is_empty(repo))
HAS_ISSUES: Final = Condition("`has_issues`", lambda repo: repo.get("has_issues") is not False)
MAY_PUSH: Final = may("push")
OF_INSIDERS: Final = Condition(
    "the token belongs to a member", lambda org: "total_private_repos" in org or "plan" in org
)
"""An organisation tells only its members these."""
