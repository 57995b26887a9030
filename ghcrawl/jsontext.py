"""JSON as bytes, fast where it can be and whole where it must be.

orjson reads and writes all but the odd case; the odd cases (integers beyond 64 bits, lone surrogates, which are legal
JSON) go to the standard library, so that whatever a platform sends comes back as it was.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final, NoReturn

import orjson

_DIGITS_ALIKE: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER: Final = b"0" * 19
"""orjson reads integers beyond 64 bits as floats, and says nothing. Looked for in this way it costs next to nothing."""


def dumps(value: Any, *, sort_keys: bool = False) -> bytes:
    """`value` as compact JSON. Raises ValueError or TypeError for what is not JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except TypeError:
        text = json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
        return text.encode("ascii")


def loads(data: bytes) -> Any:
    """The value that `data` writes. Raises ValueError for what is not JSON, and for numbers such as 1e999."""
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
