"""JSON as text that any store can hold and that comes back unchanged."""

from __future__ import annotations

import json
from typing import Final

from ghcrawl.errors import Unstorable
from ghcrawl.model import Json

_plain: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_escaped: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def to_text(value: Json, urn: str) -> str:
    """`value` as compact JSON without lone surrogates, which UTF-8 does not have: they are written as escapes.

    Raises Unstorable, with `urn`, for what is not JSON.
    """
    try:
        text = _plain(value)
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return _escaped(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"{urn} cannot be written as JSON: {error}", urn=urn) from error
    return text


def from_text(text: str) -> Json:
    """The value that `to_text` wrote."""
    return json.loads(text)
