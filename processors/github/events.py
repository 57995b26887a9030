"""What events become: each is a document of its own, and leads to what it tells of."""

from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.errors import Malformed
from ghcrawl.outcome import Save, Visit
from ghcrawl.platform import Kind
from processors.github.graph import Node, required, text
from processors.github.webhook import FALLBACK

POSITION = "event"
"""The visitor map of events."""


def process(visit: Visit) -> Save:
    """Save an event as a document."""
    body, request = visit.fetched.body, visit.request
    if not isinstance(body, Mapping):
        raise Malformed("an event is an object")
    above = request.context.qualifier or "urn"
    identity = required(text(body.get("id")), "id")
    node = Node(visit, body=body, urn=f"{above}:{request.type}:{identity}", url=request.url, siblings=f"{above}:events")
    return node.save(request.type)


def event_kinds() -> Mapping[str, Kind]:
    """The kinds of all events."""
    return {FALLBACK: Kind(processor=process, position=POSITION, queue="event")}
