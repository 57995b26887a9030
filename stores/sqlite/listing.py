"""The queries behind a filter of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from ghcrawl.embedded.file import storable
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import time_text

FEW_TYPES: Final = 4
"""A filter with up to this many types reads the index of types once for each; with more, it scans all documents."""
_LIST: Final = "SELECT * FROM whole_documents WHERE {} ORDER BY urn LIMIT ?"
_AFTER_ALL: Final = b"\xff"
"""Greater than every URN: bytes come after text, and this byte after all of UTF-8."""
Condition: TypeAlias = tuple[str, tuple[Any, ...]]


def listing(which: DocumentFilter, start: str, high: str | bytes) -> Sequence[Condition]:
    """The queries for the next documents from `start` on, each with its parameters except the limit."""
    span = ("urn >= ? AND urn < ?", (storable(start), high))
    if not which.types or len(set(which.types)) > FEW_TYPES:
        return [_query([span, *conditions(which)])]
    rest = [span, *conditions(replace(which, types=(), platforms=()))]
    types = [tuple(map(storable, type)) for type in set(which.types) if which.admits(type)]
    return [_query([("platform = ? AND type = ?", type), *rest]) for type in types]


def _query(conditions: Sequence[Condition]) -> Condition:
    sql, parameters = all_of(conditions)
    return _LIST.format(sql), parameters


def conditions(which: DocumentFilter) -> list[Condition]:
    """The conditions of a filter, except its range of URNs. A unary `+` keeps SQLite from using a column's index."""
    found: list[Condition] = []
    if which.types:
        types = [type for type in set(which.types) if which.admits(type)]
        values = ", ".join(["(?, ?)"] * len(types)) or "(NULL, NULL)"
        found.append(
            (f"(+platform, +type) IN (VALUES {values})", tuple(storable(text) for one in types for text in one))
        )
    elif which.platforms:
        found.append((f"+platform IN ({', '.join('?' * len(which.platforms))})", tuple(map(storable, which.platforms))))
    if which.since is not None:
        found.append(("observed_at >= ?", (time_text(which.since),)))
    if which.processed_since is not None:
        found.append(("+processed_at >= ?", (time_text(which.processed_since),)))
    if which.deleted is not None:
        found.append((f"deleted_at IS {'NOT ' if which.deleted else ''}NULL", ()))
    return found


def within(scope: str) -> list[Condition]:
    """The condition that a URN lies in a scope; none for an empty one."""
    if not scope:
        return []
    (itself, _), (low, high) = spans(scope)
    return [("(urn = ? OR urn >= ? AND urn < ?)", (storable(itself), storable(low), high))]


def all_of(conditions: Sequence[Condition]) -> Condition:
    """The condition that all of these hold."""
    return " AND ".join(sql for sql, _ in conditions), tuple(value for _, values in conditions for value in values)


def spans(scope: str) -> Sequence[tuple[str, str | bytes]]:
    """The ranges of URNs that a scope admits, as start and exclusive end."""
    if not scope:
        return [("", _AFTER_ALL)]
    return [(scope, storable(f"{scope}\0")), (f"{scope}:", storable(f"{scope};"))]
