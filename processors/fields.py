"""Typed fields of other people's JSON.

A field that is missing, null or of another type is the same as absent; only what gives a thing its name is demanded
(`Malformed`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.values.jsontext import Json, JsonObject


def mapping(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, (dict, Mapping)) else {}


def sequence(value: Json) -> list[Json]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: Json) -> list[JsonObject]:
    """The objects in `value`, if it is an array."""
    return [each for each in value if isinstance(each, (dict, Mapping))] if isinstance(value, list) else []


def text(value: Json) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def number(value: Json) -> int | None:
    """`value` if it is an integer."""
    return value if type(value) is int else None  # `True` is none


def count(value: Json) -> int:
    """A counter: a missing one counts as something, so that what lies behind it is looked at."""
    found = number(value)
    return 1 if found is None else found


def at(body: JsonObject, *path: str) -> Json:
    """The value below `body` at the end of `path`; None where any step is missing."""
    value: Json = body
    for name in path:
        if not isinstance(value, (dict, Mapping)):
            return None
        value = value.get(name)
    return value
