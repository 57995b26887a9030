"""Cursors of lists, and complete lists to compare with the stored documents."""

from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.platforms.kind import Comparison
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Request
from processors import saving
from processors.fields import text
from processors.github.document_graph import Node


def comparison(request: Request) -> Comparison:
    """The complete list that a request from `reconcile` carries."""
    body = request.payload.body if request.payload else {}
    found = saving.comparison(request, type=text(body.get("type")))
    return replace(found, below=body.get("below") is True, permanent_url=_by_id)


def _by_id(document: Document) -> str:
    """A repository may have moved, and another may have its name; what lies in it, or a team, has its own number."""
    if document.type != "repo":
        return document.url
    return f"{document.url.partition('/repos/')[0]}/repositories/{document.urn.rpartition(':')[2]}"


def cursor(visit: Visit) -> Save:
    """Process the small document that remembers how far a list was read."""
    body, owner = visit.fetched.body, visit.request.context.qualifier
    collection = text(body.get("collection")) if isinstance(body, Mapping) else ""
    if not collection.startswith(owner) or not owner:
        raise Malformed("a cursor names the collection it is of")
    node = Node(visit, body=body, urn=f"{collection}:cursor", url=visit.request.url, siblings=collection)
    return node.save("cursor")
