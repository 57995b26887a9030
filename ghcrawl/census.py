"""What a complete list no longer holds although we do: asked for one by one, and buried where it is gone.

A list says that something is gone only by leaving it out. So once every page of a walk was dealt with, what is stored
is held against what was listed. What is missing may have been made a moment ago or moved elsewhere: only the platform's
own answer makes a tombstone, or another thing that has its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.model import Document, Push, Request
from ghcrawl.outcome import Skip
from ghcrawl.platform import Census
from ghcrawl.ports import DocumentFilter, Store
from ghcrawl.tombstones import burial


async def take(census: Census, request: Request, store: Store) -> Skip:
    """Requests for whatever is stored and not listed. Raises StoreError."""
    listed = dict(census.listed)
    for urn in census.pages:
        page = await store.get(urn)
        if page is None or "resources" not in page.links:
            return Skip(reason="not_counted", detail=f"{urn} is not there, or says nothing of what it lists")
        listed.update(_elements(page))
    which = DocumentFilter(types=(census.type,), scope=census.owner if census.below else "", deleted=False)
    names = {url.lower() for url in listed.values()}
    missing = [
        _burial(one, request) if census.below and one.url.lower() in names else _question(one, census, request)
        async for one in store.list(which)
        if _unlisted(one, listed, census)
    ]
    return Skip(reason="counted", follow_ups=tuple(missing))


def _elements(page: Document) -> dict[str, str]:
    """URN → URL of what a page names; no URL where the page keeps the things themselves instead of references.

    What has no URN says nothing: it may be the very thing that is looked for, under its own URL and nobody else's.
    """
    elements = [one for one in page.body.get("elements", ()) if isinstance(one, Mapping)]
    urls = {one["urn"]: one.get("url", "") for one in elements if one.get("urn")}
    return {urn: urls.get(urn, "") for urn in page.links["resources"].hrefs}


def _unlisted(document: Document, listed: Mapping[str, str], census: Census) -> bool:
    if document.urn in listed:
        return False
    return census.below or any(link.href == census.owner for link in document.links.values())


def _burial(document: Document, request: Request) -> Push:
    """Its name is another's by now, who would answer in its place; and it is not in the list by any other name."""
    found_at = request.payload.observed_at if request.payload else request.asked_at
    assert found_at is not None, "what carries no page says when it was asked for"
    return Push(request=burial(document, request, found_at), queue="event")


def _question(document: Document, census: Census, request: Request) -> Push:
    owner = census.owner if census.below else ""
    asked = request.about(document, "refresh:self", url=census.lasting(document), qualifier=owner)
    return Push(request=asked, queue="soon")
