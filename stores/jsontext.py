"""JSON as text that any store can hold and that comes back unchanged."""

from __future__ import annotations

from ghcrawl.values.errors import Unstorable
from ghcrawl.values.jsontext import Json, dumps, loads


def to_text(value: Json, urn: str) -> str:
    """`value` as compact JSON. Lone surrogates, which UTF-8 cannot encode, are written as escapes.

    Raises Unstorable, with `urn`, if `value` is not JSON.
    """
    try:
        return dumps(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"{urn} cannot be written as JSON: {error}", urn=urn) from error


def from_text(text: str) -> Json:
    """The value that `to_text` wrote."""
    return loads(text.encode())
