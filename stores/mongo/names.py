"""Names in MongoDB: of collections, and of URLs in the field `urls` of a document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from ghcrawl.values.errors import Unstorable
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName

CLAIMANTS: Final = 4
"""Documents of one type that may claim the same URL: for example two generations, or two owners of a name."""
MAX_NAME_BYTES: Final = 100
"""Length of a collection's name. MongoDB's limit is 255 including the database's name."""
_RESERVED: Final = frozenset({"ghcrawl", "system"})
"""Prefixes that collections of documents may not have: our collections without documents, and the server's."""


def collection_of(type: TypeName) -> str:
    """The collection for documents of this type: `issue` for the legacy platform, `mastodon.status` for any other.

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
    """The type of the documents in this collection."""
    platform, dot, name = collection.rpartition(".")
    return TypeName(_unquoted(platform) if dot else LEGACY_PLATFORM, _unquoted(name))


def _quoted(text: str) -> str:
    """`text` percent-encoded: without dots and without characters that a collection's name may not have."""
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E") or "%"


def _unquoted(name: str) -> str:
    return "" if name == "%" else unquote_to_bytes(name).decode("utf-8", "surrogatepass")


def types_in(urn: str) -> Sequence[TypeName]:
    """The types that a document with this URN may have, the likeliest first: each word of the URN, and each two.

    `urn:team:7:members:page:1` may have the type `page`, `members`, `team`, `members_page` or `team_members`.
    The first word is a platform unless a number follows it, as in every root of the legacy platform.
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
    """The entries that may stand for `url` in the field `urls`: `url`, `url 2` … `url 4`. No URL has a space."""
    return [url, *(f"{url} {number}" for number in range(2, CLAIMANTS + 1))]
