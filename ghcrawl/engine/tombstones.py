"""What becomes of a thing that is gone, and of all that lay in it: documents stay, marked as deleted.

A tombstone queues the same for what is stored below it, a bounded number at a time, so that a repository of a million
documents needs no more memory than one of a hundred, and reads each of them once.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.platforms.kind import Event, Kind
from ghcrawl.ports.store import DocumentFilter, Store
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import TypeName

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
    Each turn goes on where the last one stopped, and events, which stay, are not looked at. What took several turns is
    looked through once more, for what was saved meanwhile.
    """
    start = request.context.after
    types = tuple([TypeName(document.platform, name) for name, kind in kinds.items() if not isinstance(kind, Event)])
    which = DocumentFilter(types=types, scope=document.urn, deleted=False, after=start or document.urn)
    found: list[Document] = []
    more = False
    async for child in store.list(which):
        if more := len(found) == AT_ONCE:
            break
        found.append(child)
    goes_on = found[-1].urn if more else ""
    for urn in document.links[HOLDS].hrefs if HOLDS in document.links and not start else ():
        held = await store.get(urn)
        found += [held] if held is not None and held.deleted_at is None else []
    pushes = [Push(request=burial(child, request, deleted_at), queue="event") for child in found]
    if more or start:
        again = burial(document, request, deleted_at)
        again = replace(again, context=replace(again.context, after=goes_on))
        pushes.append(Push(request=again, queue="event", not_before=now + timedelta(seconds=AGAIN_S)))
    return tuple(pushes)


def burial(document: Document, request: Request, deleted_at: datetime) -> Request:
    """The request that makes a tombstone of `document`. request: the one that found it gone."""
    burial = request.about(document, request.policy, deleted_at=deleted_at)
    return replace(burial, asked_at=None)  # it is asked again and again until nothing is left
