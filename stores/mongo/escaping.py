r"""JSON ⇄ what MongoDB can hold. Almost all JSON stays exactly as it is; the rest is escaped, and comes back unchanged.

Everything that is escaped starts with `␛` (U+241B):

    "\ud800"               "␛\ud800"                text with lone surrogates, or that starts with `␛`: the rest of it
                                                     is the text as JSON writes it in ASCII
    {"a.b": 1, "$set": 2}  {"␛a\u002eb": 1, "␛\u0024set": 2}
                                                     names that are empty, hold a dot or NUL, start with `$` or `␛`, or
                                                     have lone surrogates
    {"_id": 1}             {"␛_id": 1}               names that are ours, but only on the outermost level
    10**30                 {"␛int": "1000…"}         whole numbers beyond 64 bits
    [[[[…]]]]              {"␛json": "[[[…]]]"}      levels deeper than 60: MongoDB refuses 180, and other
                                                     servers that speak its protocol break long before

MongoDB 5 and later would take most of these names as they are, but not in an update's path and not in a look-up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from ghcrawl.values.errors import Unstorable
from ghcrawl.values.model import Json
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
    """The object as MongoDB can hold it; nothing of it is shared with `value`.

    outermost: it is the body of a document, beside whose fields ours lie.
    Raises Unstorable, with `urn`, for what is not JSON.
    """
    try:
        stored = {safe_name(name): _to_bson(item, 1) for name, item in value.items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"{urn} cannot be written as JSON: {error}", urn=urn) from error
    if not outermost or OURS.isdisjoint(stored):
        return stored
    return {f"{ESCAPE}{name}" if name in OURS else name: item for name, item in stored.items()}


def from_bson(stored: Mapping[str, Any]) -> dict[str, Json]:
    """The object that `to_bson` made."""
    return {name if name[:1] != ESCAPE else plain_text(name): _from_bson(item) for name, item in stored.items()}


def safe_text(text: str) -> str:
    """`text` as MongoDB can hold it as a value."""
    if text.isascii() or (text[0] != ESCAPE and _SURROGATE.search(text) is None):
        return text
    return f"{ESCAPE}{json.dumps(text)[1:-1]}"


def plain_text(stored: str) -> str:
    """The text that `safe_text` or `safe_name` made."""
    return stored if stored[:1] != ESCAPE else str(json.loads(f'"{stored[1:]}"'))


@lru_cache(maxsize=4096)
def safe_name(name: str) -> str:
    """`name` as MongoDB can hold it as the name of a field, on any level and in any path. Raises TypeError."""
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
    """What lies too deep, and what is a kind of text, number, list or object without being exactly that."""
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
        return int(stored)  # the driver has a class of its own for 64 bits
    if _INTEGER in stored:
        return int(stored[_INTEGER])
    if _DEEP in stored:
        return from_text(stored[_DEEP])
    return from_bson(stored)
