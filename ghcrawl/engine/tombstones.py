"""What becomes of a thing that is gone, and of all that lay in it: documents stay, marked as deleted.

A tombstone queues the same for what is stored below it, a bounded number at a time and once more until nothing is left,
so that a repository of a million documents needs no more memory than one of a hundred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.platforms.kind import Event, Kind
from ghcrawl.ports.store import DocumentFilter, Store
from ghcrawl.values.model import Document, Push, Request

AT_ONCE: Final = 100
AGAIN_S: Final = 2.0
"""When to look for more that lies below: what was queued before should have been dealt with by then."""
HOLDS: Final = "holds"
"""The link to what lies in a thing though its URN does not say so."""


def tombstone(document: Document, *, deleted_at: datetime, reason: str, processed_at: datetime) -> Document:
    """`document` as it was last seen, gone. Nothing that was observed before is truer."""
    return replace(
        document,
        deleted_at=deleted_at,
        deleted_reason=reason,
        observed_at=max(document.observed_at, deleted_at),
        processed_at=processed_at,
        validator=None,
        visits={},
    )


async def below(
    document: Document,
    request: Request,
    deleted_at: datetime,
    *,
    store: Store,
    kinds: Mapping[str, Kind],
    now: datetime,
) -> tuple[Push, ...]:
    """Requests that bury what is stored below `document`. Raises StoreError.

    request: the one that found it gone. What it queues names its thing by URN: URLs change hands.
    """
    found: list[Document] = []
    more = False
    which = DocumentFilter(platforms=(document.platform,), scope=document.urn, deleted=False)
    async for child in store.list(which):
        if child.urn == document.urn or isinstance(kinds.get(child.type), Event):
            continue
        if more := len(found) == AT_ONCE:
            break
        found.append(child)
    for urn in document.links[HOLDS].hrefs if HOLDS in document.links else ():
        held = await store.get(urn)
        found += [held] if held is not None and held.deleted_at is None else []
    pushes = [Push(request=burial(child, request, deleted_at), queue="event") for child in found]
    if more:
        at = now + timedelta(seconds=AGAIN_S)
        pushes.append(Push(request=burial(document, request, deleted_at), queue="event", not_before=at))
    return tuple(pushes)


def burial(document: Document, request: Request, deleted_at: datetime) -> Request:
    """The request that makes a tombstone of `document`. request: the one that found it gone."""
    burial = request.about(document, request.policy, deleted_at=deleted_at)
    return replace(burial, asked_at=None)  # it is asked again and again until nothing is left
