"""`/api/v1/documents`: by URN, by URL, by type, in pages."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Asked, Moment, Nothing, Routes, Shape, Word
from ghcrawl.admin.search import search
from ghcrawl.admin.shapes import DocumentCountsShape, DocumentsShape, StoreCountsShape
from ghcrawl.admin.site import Site
from ghcrawl.ports.store import DocumentFilter, store_id
from ghcrawl.values.documents import Document

AT_ONCE: Final = 500
Text = Annotated[str, Field(max_length=600)]
Words = Annotated[tuple[Word, ...], Field(max_length=200)]


class Listing(Shape):
    """A filter of documents. An omitted field matches all.

    type, platform: any of these, a type as `issue` or `mastodon/status`. scope: URN of an ancestor. since: observed
    at or after this time. processed_since: written at or after this time. deleted: true: only tombstones; false:
    none. lists: false: no list pages and cursors, unless `type` names them. q: a name (`acme/docs`), a URN, a URL, or
    words of a title, for which 2 s are searched. url: current or former URL; excludes all other fields. after: the
    last URN of the previous page.
    """

    type: Words = ()
    platform: Words = ()
    scope: Text = ""
    since: Moment | None = None
    processed_since: Moment | None = None
    deleted: bool | None = None
    lists: bool = True
    q: Annotated[str, Field(max_length=600)] = ""
    url: Annotated[str, Field(max_length=4000)] = ""
    limit: Annotated[int, Field(ge=1, le=AT_ONCE)] = 50
    after: Text = ""


ROUTES: Final = Routes("documents")


@ROUTES.add(
    "GET", "/api/v1/documents", "listDocuments", "List documents, ordered by URN; each is its JSON with _metadata"
)
async def _list(asked: Asked[Listing, None]) -> DocumentsShape:
    query = asked.query
    if query.url:
        if query.model_fields_set != {"url"}:
            raise Problem(
                422,
                "url cannot be combined with other parameters",
                errors=[("url", "cannot be combined with other parameters")],
            )
        known = await asked.site.store.find(query.url)
        return DocumentsShape(documents=[one.to_json() for one in known], next=None)
    types = asked.site.types(query.type, query.platform)
    which = DocumentFilter(
        types=types if types or query.lists else asked.site.mounts.entities,
        platforms=query.platform,
        scope=query.scope,
        since=query.since,
        processed_since=query.processed_since,
        deleted=query.deleted,
        after=query.after,
    )
    if query.q.strip():
        known_as = await search(asked.site, query.q, which, query.limit)
        documents = [one.to_json() for one in known_as.documents]
        return DocumentsShape(documents=documents, next=None, complete=known_as.complete)
    found = await _page(asked.site, which, query.limit)
    behind = found[-1].urn if len(found) == query.limit else None
    return DocumentsShape(documents=[one.to_json() for one in found], next=behind)


async def _page(site: Site, which: DocumentFilter, limit: int) -> list[Document]:
    found: list[Document] = []
    async for document in site.store.list(which):
        found.append(document)
        if len(found) == limit:
            break
    return found


@ROUTES.add("GET", "/api/v1/documents/{urn}", "showDocument", "Get one document: its JSON with _metadata")
async def _show(asked: Asked[Nothing, None]) -> dict[str, Any]:
    urn = asked.path["urn"]
    document = await asked.site.store.get(urn)
    if document is None:
        raise Problem(404, f"document {urn[:200]} not found")
    return document.to_json()


@ROUTES.add("GET", "/api/v1/document-counts", "countDocuments", "Count documents by type, without tombstones")
async def _count(asked: Asked[Nothing, None]) -> StoreCountsShape:
    store = asked.site.store
    counts = DocumentCountsShape.of(await store.counts(), asked.site.mounts.entities)
    return StoreCountsShape(**counts.model_dump(), store=await store_id(store))
