"""What a complete list no longer names although we hold it: asked for one by one, and deleted where it is gone.

A list says that something is gone only by leaving it out. So once every page of it was settled, what is stored is
compared with what was listed. What is missing may have been made a moment ago or moved elsewhere: only the platform's
own answer makes a tombstone, or another thing that has its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghcrawl.engine.tombstones import burial
from ghcrawl.platforms.kind import Comparison
from ghcrawl.ports.store import DocumentFilter, Store
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Skip
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import TypeName

AT_ONCE: Final = 1000


async def reconcile(comparison: Comparison, request: Request, store: Store) -> Skip:
    """Requests for each thing that is stored and not listed, a thousand at a time. Raises StoreError."""
    listed = dict(comparison.listed)
    for urn in comparison.pages:
        page = await store.get(urn)
        if page is None or "resources" not in page.links:
            return Skip(reason="not_reconciled", detail=f"{urn} is not stored, or does not say what it lists")
        listed.update(_elements(page))
    owner = comparison.owner if comparison.below else ""
    types = (TypeName(request.platform, comparison.type),)
    names = {url.lower() for url in listed.values()}
    missing: list[Push] = []
    after = request.context.after
    async for one in store.list(DocumentFilter(types=types, scope=owner, deleted=False, after=after)):
        if len(missing) == AT_ONCE:
            rest = replace(request, context=replace(request.context, after=after))
            missing.append(Push(request=rest, queue="soon"))
            break
        after = one.urn
        if _unlisted(one, listed, comparison):
            named = comparison.below and one.url.lower() in names
            missing.append(_burial(one, request) if named else _question(one, comparison, request))
    return Skip(reason="reconciled", follow_ups=tuple(missing))


def _elements(page: Document) -> dict[str, str]:
    """URN → URL of what a page names; no URL where the page keeps the things themselves instead of references.

    An element without a URN says nothing: it may be the very thing that is looked for, under another's URL.
    """
    elements = [one for one in page.body.get("elements", ()) if isinstance(one, Mapping)]
    urls = {one["urn"]: one.get("url", "") for one in elements if one.get("urn")}
    return {urn: urls.get(urn, "") for urn in page.links["resources"].hrefs}


def _unlisted(document: Document, listed: Mapping[str, str], comparison: Comparison) -> bool:
    if document.urn in listed:
        return False
    return comparison.below or any(link.href == comparison.owner for link in document.links.values())


def _burial(document: Document, request: Request) -> Push:
    """Its name is another's by now, which would answer in its place; and the list has it by no other name."""
    found_at = request.payload.observed_at if request.payload else request.asked_at
    assert found_at is not None, "what carries no page says when it was asked for"
    return Push(request=burial(document, request, found_at), queue="event")


def _question(document: Document, comparison: Comparison, request: Request) -> Push:
    owner = comparison.owner if comparison.below else ""
    url = comparison.permanent_url(document)
    return Push(request=request.about(document, "audit:self", url=url, qualifier=owner), queue="soon")
