"""A pattern of the URLs of a blog's posts, learned from those in its feed.

The shape of the BlogForever crawler's `buildUrlFilter`: per path segment digits, anything, or what all have in common.
Two things are learned beside it: segments that are the same in all URLs, and a common extension.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

MIN_LITERALS: Final = 3
"""A segment that is the same in this many URLs belongs to the pattern; in fewer that may be chance."""
LEAST_ALIKE: Final = 0.6
"""A feed may name a few pages that are no usual posts; this share of its URLs must be alike."""


def learn(urls: Sequence[str]) -> str:
    """A regular expression that matches all of `urls` whole, but for odd ones; empty: they have no shape in common."""
    split = _alike([urlsplit(url) for url in urls])
    if not split:
        return ""
    paths = [parts.path.split("/")[1:] for parts in split]
    segments = [_segment([path[index] for path in paths], len(split)) for index in range(len(paths[0]))]
    query = _query([parts.query for parts in split])
    if not _says_something(segments, query):
        return ""
    return rf"https?://{re.escape(split[0].netloc)}/{'/'.join(segments)}{query}"


def _alike(split: Sequence[SplitResult]) -> Sequence[SplitResult]:
    """Those on one host with as many segments; none where too few are."""
    groups: dict[tuple[str, int, bool], list[SplitResult]] = {}
    for parts in split:
        groups.setdefault((parts.netloc, parts.path.count("/"), bool(parts.query)), []).append(parts)
    most = max(groups.values(), key=len, default=[])
    return most if len(most) >= LEAST_ALIKE * len(split) else ()


def _segment(values: Sequence[str], count: int) -> str:
    if set(values) == {""}:
        return ""
    if all(value.isdecimal() for value in values):
        return r"\d+"
    if len(set(values)) == 1 and count >= MIN_LITERALS:
        return re.escape(values[0])
    endings = {value.rpartition(".")[2] if "." in value else "" for value in values}
    ending = endings.pop() if len(endings) == 1 else ""
    if ending and len(ending) <= 5 and ending.isalnum():
        return rf"[^/?#]+\.{re.escape(ending)}"
    return r"[^/?#.]+" if not any("." in value for value in values) else r"[^/?#]+"


def _query(queries: Sequence[str]) -> str:
    """Query parameters with an id, as `?p=12`."""
    if not any(queries):
        return ""
    names = {tuple(part.partition("=")[0] for part in query.split("&")) for query in queries}
    if len(names) != 1:
        return ""
    return r"\?" + "&".join(f"{re.escape(name)}=[^&#]*" for name in names.pop())


def _says_something(segments: Sequence[str], query: str) -> bool:
    return any(segments) or bool(query)
