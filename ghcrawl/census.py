"""What a complete list no longer holds although we do: asked for one by one, and buried where it is gone.

A list says that something is gone only by leaving it out. So once every page of a walk was dealt with, what is stored
is held against what was listed. What is missing may have been made a moment ago or moved elsewhere: only the platform's
own answer makes a tombstone.
"""

from __future__ import annotations

from dataclasses import replace

from ghcrawl.model import Context, Document, Push, Request
from ghcrawl.outcome import Skip
from ghcrawl.platform import Census
from ghcrawl.ports import DocumentFilter, Store


async def take(census: Census, request: Request, store: Store) -> Skip:
    """Requests for whatever is stored and not listed. Raises StoreError."""
    listed = set(census.listed)
    for urn in census.pages:
        page = await store.get(urn)
        if page is None or "resources" not in page.links:
            return Skip(reason="not_counted", detail=f"{urn} is not there")
        listed.update(page.links["resources"].hrefs)
    which = DocumentFilter(types=(census.type,), scope=census.owner if census.below else "", deleted=False)
    missing = [_question(one, census, request) async for one in store.list(which) if _unlisted(one, listed, census)]
    return Skip(reason="counted", follow_ups=tuple(Push(request=one, queue="soon") for one in missing))


def _unlisted(document: Document, listed: set[str], census: Census) -> bool:
    if document.urn in listed:
        return False
    return census.below or any(link.href == census.owner for link in document.links.values())


def _question(document: Document, census: Census, request: Request) -> Request:
    context = Context(
        qualifier=census.owner if census.below else "",
        urn=document.urn,
        scope=request.context.scope,
        private=request.context.private,
    )
    asked = request.child(document.type, document.url, "refresh:self", context)
    return replace(asked, asked_at=request.asked_at)
