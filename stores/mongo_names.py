"""How things are called in MongoDB: collections, URLs among the `urls` of a document, moments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from ghcrawl.errors import Unstorable

CLAIMANTS: Final = 4
"""Documents of one type that may be found under one URL at a time: two generations, two owners of a name."""
MAX_NAME_BYTES: Final = 100
"""Of a collection; MongoDB takes 255 together with the database's."""


def collection_of(type: str) -> str:
    """The collection for documents of this type: its own name, wherever that is one. Raises Unstorable."""
    name = quote_from_bytes(type.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E") or "%"
    if len(name) > MAX_NAME_BYTES:
        raise Unstorable(f"{type[:40]!r}… is too long a type for the name of a collection")
    return name


def type_of(collection: str) -> str:
    """The type whose documents lie in this collection."""
    return "" if collection == "%" else unquote_to_bytes(collection).decode("utf-8", "surrogatepass")


def types_in(urn: str) -> Sequence[str]:
    """The types that the URN names, the likeliest first: every word in it that could be one, and every two of them.

    `urn:team:7:members:page:1` may be a `page`, `members`, a `team`, a `members_page`, or of the type `team_members`.
    """
    words = [word for word in urn.split(":")[1:] if _may_be_type(word)]
    pairs = [f"{first}_{second}" for first, second in pairwise(words)]
    return list(dict.fromkeys((*reversed(words), *reversed(pairs))))


def _may_be_type(word: str) -> bool:
    return 0 < len(word) <= MAX_NAME_BYTES // 3 and word.isascii() and not word.isdigit()


def places(url: str) -> Sequence[str]:
    """The names under which `url` may be among the `urls` of a document. No URL has a space."""
    return [url, *(f"{url} {number}" for number in range(2, CLAIMANTS + 1))]


def time_text(moment: datetime) -> str:
    """UTC with microseconds: fixed width, so that it sorts."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(timespec="microseconds")[:-6] + "Z"
