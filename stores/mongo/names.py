"""How things are called in MongoDB: collections, URLs among the `urls` of a document, moments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from ghcrawl.values.errors import Unstorable
from ghcrawl.values.model import LEGACY_PLATFORM, TypeName

CLAIMANTS: Final = 4
"""Documents of one type that may be found under one URL at a time: two generations, two owners of a name."""
MAX_NAME_BYTES: Final = 100
"""Of a collection; MongoDB takes 255 together with the database's."""
_RESERVED: Final = frozenset({"ghcrawl", "system"})
"""Prefixes that no platform's collections may have: ours without documents, and the server's."""


def collection_of(type: TypeName) -> str:
    """The collection for documents of this type: `issue` of the first platform, `mastodon.status` of all others.

    Raises Unstorable for a name that is too long.
    """
    name = _quoted(type.name)
    if type.platform != LEGACY_PLATFORM:
        platform = _quoted(type.platform)
        name = f"{f'%{ord(platform[0]):02X}{platform[1:]}' if platform in _RESERVED else platform}.{name}"
    if len(name) > MAX_NAME_BYTES:
        raise Unstorable(f"{str(type)[:40]!r}… is too long a type for the name of a collection")
    return name


def type_of(collection: str) -> TypeName:
    """The type whose documents lie in this collection."""
    platform, dot, name = collection.rpartition(".")
    return TypeName(_unquoted(platform) if dot else LEGACY_PLATFORM, _unquoted(name))


def _quoted(text: str) -> str:
    """`text` where it has neither dots nor what no collection's name may have."""
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E") or "%"


def _unquoted(name: str) -> str:
    return "" if name == "%" else unquote_to_bytes(name).decode("utf-8", "surrogatepass")


def types_in(urn: str) -> Sequence[TypeName]:
    """The types that the URN names, the likeliest first: every word in it that could be one, and every two of them.

    `urn:team:7:members:page:1` may be a `page`, `members`, a `team`, a `members_page`, or of the type `team_members`.
    The first word is a platform's unless a number follows it, as in every root of the first platform.
    """
    words = urn.split(":")[1:]
    found = [TypeName(LEGACY_PLATFORM, name) for name in _names_in(words)]
    if len(words) > 1 and not words[1].isdigit():
        found = [*(TypeName(words[0], name) for name in _names_in(words[1:])), *found]
    return found


def _names_in(words: Sequence[str]) -> Sequence[str]:
    names = [word for word in words if _may_be_type(word)]
    pairs = [f"{first}_{second}" for first, second in pairwise(names)]
    return list(dict.fromkeys((*reversed(names), *reversed(pairs))))


def _may_be_type(word: str) -> bool:
    return 0 < len(word) <= MAX_NAME_BYTES // 3 and word.isascii() and not word.isdigit()


def places(url: str) -> Sequence[str]:
    """The names under which `url` may be among the `urls` of a document. No URL has a space."""
    return [url, *(f"{url} {number}" for number in range(2, CLAIMANTS + 1))]
