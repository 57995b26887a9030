"""JSON as bytes, fast where it can be and whole where it must be.

orjson reads and writes all but the odd case; the odd cases (integers beyond 64 bits, lone surrogates, which are legal
JSON) go to the standard library, so that everything that a platform sends comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from math import isfinite
from typing import Any, Final, NoReturn, TypeAlias

import orjson

Json: TypeAlias = Any
"""What a JSON parser returns."""
JsonObject: TypeAlias = Mapping[str, Any]

_DIGITS_ALIKE: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER: Final = b"0" * 19
"""orjson reads integers beyond 64 bits as floats, and says nothing. Looked for in this way it costs next to nothing."""

MAX_DEPTH: Final = 100
"""Levels of objects and arrays that a body from outside may have. Platforms use about ten; recursive readers and
writers (orjson, pydantic, BSON) end between 100 and 255."""
CLIPPED: Final = "… (nested too deep to be shown)"


class TooDeep(ValueError):
    """JSON that is nested deeper than allowed."""


def dumps(value: Any, *, sort_keys: bool = False) -> bytes:
    """`value` as compact JSON. Raises ValueError or TypeError for what is not JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except TypeError:
        text = json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
        return text.encode("ascii")


def loads(data: bytes, *, max_depth: int | None = None) -> Any:
    """The value that `data` writes. Raises ValueError for what is not JSON, and for numbers such as 1e999.

    Raises TooDeep for more than `max_depth` levels of objects and arrays, and for more than can be read at all.
    """
    try:
        value = _loads(data)
    except RecursionError:
        raise _too_deep(max_depth) from None
    if max_depth is not None and data.count(b"{") + data.count(b"[") > max_depth and _is_deeper(value, max_depth):
        raise _too_deep(max_depth)
    return value


def digest(value: Json) -> str:
    """32 hex digits, equal for equal JSON regardless of the order of its keys."""
    return blake2b(dumps(value, sort_keys=True), digest_size=16).hexdigest()


def clip(value: Any, levels: int) -> Any:
    """`value` with a text in place of every object and array below `levels` levels of them. Recurses no deeper."""
    if isinstance(value, dict):
        return {name: clip(one, levels - 1) for name, one in value.items()} if levels else CLIPPED
    if isinstance(value, list | tuple):
        return [clip(one, levels - 1) for one in value] if levels else CLIPPED
    return value


def _too_deep(max_depth: int | None) -> TooDeep:
    return TooDeep(f"nested deeper than {max_depth} levels" if max_depth else "nested too deep to be read")


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether there are objects or arrays below `levels` levels of them. Looks at one level after another."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inner = (each for one in level for each in (one.values() if type(one) is dict else one))
        level = [each for each in inner if type(each) is dict or type(each) is list]
        if not level:
            return False
    return True


def _loads(data: bytes) -> Any:
    if _LONG_INTEGER not in data.translate(_DIGITS_ALIKE):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
    return json.loads(data, parse_constant=_refuse, parse_float=_finite)


def _finite(text: str) -> float:
    value = float(text)
    return value if isfinite(value) else _refuse(text)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that can be kept")
