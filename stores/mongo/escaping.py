r"""Converts JSON to values that MongoDB can store, and back unchanged.

Almost all JSON is stored as it is; the rest is escaped. An escaped text or name starts with `␛` (U+241B):

    "\ud800"               "␛\ud800"                text that has lone surrogates or starts with `␛`: what follows is
                                                     the text in JSON's ASCII form
    {"a.b": 1, "$set": 2}  {"␛a\u002eb": 1, "␛\u0024set": 2}
                                                     names that are empty, hold a dot or NUL, start with `$` or `␛`, or
                                                     have lone surrogates
    {"_id": 1}             {"␛_id": 1}               names of our own fields, on the outermost level only
    10**30                 {"␛int": "1000…"}         integers beyond 64 bits
    [[[[…]]]]              {"␛json": "[[[…]]]"}      levels deeper than 60: MongoDB refuses 180, and other
                                                     servers that speak its protocol fail long before

MongoDB 5 and later accepts most of these names, but not in the path of an update or a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from ghcrawl.values.errors import Unstorable
from ghcrawl.values.jsontext import Json
from stores.jsontext import from_text, to_text

ESCAPE: Final = "␛"
MAX_DEPTH: Final = 60
OURS: Final = frozenset({"_id", "_metadata"})

_INTEGER: Final = f"{ESCAPE}int"
_DEEP: Final = f"{ESCAPE}json"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NO_NAME: Final = re.compile("[.\0]|^$|^[$]")
_AS_THEY_ARE: Final = frozenset({type(None), bool})


def to_bson(value: Mapping[str, Json], urn: str, *, outermost: bool = False) -> dict[str, Any]:
    """`value` escaped for MongoDB, as a copy.

    outermost: `value` is the body of a document, whose fields are stored beside our own.
    Raises Unstorable, with `urn`, if `value` is not JSON.
    """
    try:
        stored = {safe_name(name): _to_bson(item, 1) for name, item in value.items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"{urn} cannot be written as JSON: {error}", urn=urn) from error
    if not outermost or OURS.isdisjoint(stored):
        return stored
    return {f"{ESCAPE}{name}" if name in OURS else name: item for name, item in stored.items()}


def from_bson(stored: Mapping[str, Any]) -> dict[str, Json]:
    """The inverse of `to_bson`."""
    return {name if name[:1] != ESCAPE else plain_text(name): _from_bson(item) for name, item in stored.items()}


def safe_text(text: str) -> str:
    """`text` escaped as a value."""
    if text.isascii() or (text[0] != ESCAPE and _SURROGATE.search(text) is None):
        return text
    return f"{ESCAPE}{json.dumps(text)[1:-1]}"


def plain_text(stored: str) -> str:
    """The inverse of `safe_text` and `safe_name`."""
    return stored if stored[:1] != ESCAPE else str(json.loads(f'"{stored[1:]}"'))


@lru_cache(maxsize=4096)
def safe_name(name: str) -> str:
    """`name` escaped as a field's name, on any level and in any path. Raises TypeError if it is no text."""
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no name")
    safe = safe_text(name)
    if safe[:1] == ESCAPE or _NO_NAME.search(safe):
        return ESCAPE + json.dumps(name)[1:-1].replace(".", "\\u002e").replace("$", "\\u0024")
    return safe


def _to_bson(value: Json, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else safe_text(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is int:
        return value if -(2**63) <= value < 2**63 else {_INTEGER: str(value)}
    if kind is float and isfinite(value):
        return value
    if kind is dict and depth < MAX_DEPTH:
        return {safe_name(name): _to_bson(item, depth + 1) for name, item in value.items()}
    if kind is list and depth < MAX_DEPTH:
        return [_to_bson(item, depth + 1) for item in value]
    return _odd_to_bson(value, depth)


def _odd_to_bson(value: Json, depth: int) -> Any:
    """Values nested too deeply, and those of subclasses of the JSON types."""
    if isinstance(value, str):
        return safe_text(value[:])
    if isinstance(value, int):
        return _to_bson(int(value), depth)
    if isinstance(value, float):
        if isfinite(value):
            return float(value)
        raise ValueError(f"{value} is not JSON")
    if not isinstance(value, Mapping | list | tuple):
        raise TypeError(f"{type(value).__name__} is not JSON")
    if depth >= MAX_DEPTH:
        return {_DEEP: to_text(value, "what lies deepest")}
    return _to_bson(dict(value) if isinstance(value, Mapping) else list(value), depth)


def _from_bson(stored: Any) -> Json:
    kind = type(stored)
    if kind is str:
        return stored if stored[:1] != ESCAPE else plain_text(stored)
    if kind in _AS_THEY_ARE or kind is float:
        return stored
    if kind is list:
        return [_from_bson(item) for item in stored]
    if isinstance(stored, int):
        return int(stored)  # the driver returns 64-bit integers in a class of its own
    if _INTEGER in stored:
        return int(stored[_INTEGER])
    if _DEEP in stored:
        return from_text(stored[_DEEP])
    return from_bson(stored)
