"""What the URLs of a blog's posts have in common, learned from those that its feed names.

The shape of the BlogForever crawler's `buildUrlFilter`: per path segment digits, anything, or what all have in common.
Two things are learned beside it: segments that are the same in all URLs, and a common extension.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

MIN_LITERALS = 3
"""A segment that is the same in this many URLs belongs to the pattern; in fewer that may be chance."""


def learn(urls: Sequence[str]) -> str:
    """A regular expression that matches all of `urls` whole; empty where they have no shape in common."""
    split = [urlsplit(url) for url in urls]
    hosts = {parts.netloc for parts in split}
    paths = [parts.path.split("/")[1:] for parts in split]
    if (
        not urls
        or len(hosts) != 1
        or len({len(path) for path in paths}) != 1
        or len({p.query == "" for p in split}) != 1
    ):
        return ""
    segments = [_segment([path[index] for path in paths], len(urls)) for index in range(len(paths[0]))]
    query = _query([parts.query for parts in split])
    if not _says_something(segments, query):
        return ""
    return rf"https?://{re.escape(hosts.pop())}/{'/'.join(segments)}{query}"


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
    """`?p=12` and the like."""
    if not any(queries):
        return ""
    names = {tuple(part.partition("=")[0] for part in query.split("&")) for query in queries}
    if len(names) != 1:
        return ""
    return r"\?" + "&".join(f"{re.escape(name)}=[^&#]*" for name in names.pop())


def _says_something(segments: Sequence[str], query: str) -> bool:
    return any(segments) or bool(query)
