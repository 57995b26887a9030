"""Follows a link of a document, of any kind, to the documents behind it.

A `resource` names documents. A `collection` or `relation` names pages; what is on them is in their `resources` link.
A list that is read for a whole repository at once (the comments of all issues) has no pages of its own for each
issue: there, the elements are found by their `siblings` link, which names the collection that they belong to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from ghcrawl.cli.crawl_backend import CrawlBackend
from ghcrawl.cli.kinds import entity_types
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.documents import Document, Link
from ghcrawl.wiring import PLATFORMS

SIBLINGS, RESOURCES = "siblings", "resources"
_ENTITIES: Final = frozenset(entity_types(PLATFORMS))


async def behind(backend: CrawlBackend, link: Link) -> AsyncIterator[Document]:
    """The documents that `link` leads to, each once. What is not in the file is left out. Raises StoreError."""
    seen: set[str] = set()
    if link.type == "resource":
        async for document in _named(backend, link.hrefs or (link.href or "",), seen):
            yield document
        return
    href = link.href or ""
    pages = [one async for one in backend.documents.list(DocumentFilter(scope=href))]
    for page in pages:
        async for document in _named(backend, page.links.get(RESOURCES, Link(type="resource")).hrefs, seen):
            yield document
    async for document in backend.documents.list(DocumentFilter(scope=href.rpartition(":")[0])):
        if _siblings(document) == href and document.urn not in seen and _is_entity(document):
            seen.add(document.urn)
            yield document


async def below(backend: CrawlBackend, document: Document) -> Sequence[str]:
    """The URNs under which everything lies that belongs to `document`: its own, and those of what it owns elsewhere.

    An organisation's repositories have URNs of their own; they say to which collection they belong.
    """
    scopes = [document.urn]
    for name, link in document.links.items():
        if link.type != "collection" or name == SIBLINGS:
            continue
        pages = [one async for one in backend.documents.list(DocumentFilter(scope=link.href or ""))]
        hrefs = [href for page in pages for href in page.links.get(RESOURCES, Link(type="resource")).hrefs]
        elsewhere = [href for href in dict.fromkeys(hrefs) if not href.startswith(f"{document.urn}:")]
        found = [one async for one in _named(backend, elsewhere, set(scopes))]
        scopes += [one.urn for one in found if _siblings(one) == link.href]
    return scopes


async def _named(backend: CrawlBackend, urns: Iterable[str], seen: set[str]) -> AsyncIterator[Document]:
    for urn in urns:
        if urn in seen:
            continue
        seen.add(urn)
        document = await backend.documents.get(urn)
        if document is not None:
            yield document


def _siblings(document: Document) -> str:
    """The collection that it says it belongs to."""
    link = document.links.get(SIBLINGS)
    return link.href or "" if link is not None else ""


def _is_entity(document: Document) -> bool:
    """Neither a page of a list nor a cursor, of any platform."""
    return document.type_name in _ENTITIES
