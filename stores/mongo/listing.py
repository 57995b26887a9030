"""Translates document filters to MongoDB, and reads several collections as one sorted list."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Sequence
from typing import Any

from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.times import time_text
from stores.mongo.escaping import safe_text


def narrowed(which: DocumentFilter) -> dict[str, Any]:
    """The MongoDB filter for all conditions of `which` but URN and type."""
    fields: dict[str, Any] = {}
    if which.since is not None:
        fields["_metadata.observedAt"] = {"$gte": time_text(which.since)}
    if which.processed_since is not None:
        fields["_metadata.processedAt"] = {"$gte": time_text(which.processed_since)}
    if which.deleted is not None:
        fields["_metadata.deletedAt"] = {"$exists": which.deleted}
    return fields


def spans_of(which: DocumentFilter) -> Sequence[dict[str, Any]]:
    """The ranges of `_id` that a filter admits, in order."""
    scope = which.scope
    spans = [(scope, f"{scope}\0"), (f"{scope}:", f"{scope};")] if scope else [("", "")]
    found = []
    for low, high in spans:
        if high == f"{which.after}\0":
            continue  # an empty range
        start = {"$gt": safe_text(which.after)} if which.after >= low else {"$gte": safe_text(low)}
        found.append({**start, **({"$lt": safe_text(high)} if high else {})})
    return found


async def in_order(readers: Sequence[AsyncIterator[dict[str, Any]]]) -> AsyncIterator[dict[str, Any]]:
    """The rows of all readers, merged by `_id`. Each reader must be sorted by `_id`."""
    firsts = await asyncio.gather(*(anext(reader, None) for reader in readers), return_exceptions=True)
    for failed in firsts:
        if isinstance(failed, BaseException):
            raise failed  # only now: a reader that is still running cannot be closed
    heads = [(row["_id"], number, row) for number, row in enumerate(firsts) if isinstance(row, dict)]
    heapq.heapify(heads)
    while heads:
        _, number, row = heads[0]
        yield row
        following = await anext(readers[number], None)
        if following is None:
            heapq.heappop(heads)
        else:
            heapq.heapreplace(heads, (following["_id"], number, following))
