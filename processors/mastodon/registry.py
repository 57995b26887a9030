"""Every kind of Mastodon, and where each leads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ghcrawl.platforms.kind import Kind, List, Reconciliation, Thing
from ghcrawl.values.outcome import Processor
from ghcrawl.values.requests import Request
from ghcrawl.values.visitor_map import Node
from processors.mastodon import pages, things
from processors.mastodon.names import NAME
from processors.mastodon.requests import request
from processors.saving import comparison


def _refusal(type: str, request: Request) -> str:
    """A list that its host does not show is not asked for again while what it belongs to is as it was.

    Timelines of tags and searches have no owner: each is remembered under its own URL.
    """
    owner = request.context.qualifier or f"urn:{NAME}:{request.url.removeprefix(f'{NAME}://').replace('/', ':', 1)}"
    return f"{owner}:{type}:refused"


def _list(type: str, position: str, processor: Processor) -> List:
    return List(processor=processor, position=position, refusal=partial(_refusal, type))


KINDS: Final[Mapping[str, Kind]] = {
    "request": Thing(processor=request, position="request"),
    "account": Thing(processor=things.account, position="account", referred=True),
    "status": Thing(processor=things.status, position="status", referred=True),
    "statuses": _list("statuses", "request@/statuses", pages.statuses),
    "tagged": _list("tagged", "request@/tagged", pages.statuses),
    "search": _list("search", "request@/search", pages.search),
    "followers": _list("followers", "request@/followers", pages.accounts),
    "following": _list("following", "request@/following", pages.accounts),
    "members": _list("members", "request@/members", pages.accounts),
    "fan_out": _list("fan_out", "request@/fan_out", pages.fan_out),
    "context": _list("context", "threads@/context", pages.context),
    "reblogged_by": _list("reblogged_by", "threads@/reblogged_by", pages.accounts),
    "favourited_by": _list("favourited_by", "threads@/favourited_by", pages.accounts),
    "quotes": _list("quotes", "threads@/quotes", pages.statuses),
    "stream": Thing(processor=things.stream, position="stream"),
    "listing": Reconciliation(comparison=partial(comparison, type="status")),
}
_REQUEST: Final[Mapping[str, Node]] = {
    "account": "account",
    "statuses": "status",
    "tagged": "status",
    "search": "status",
    "followers": "pages",
    "following": "pages",
    "members": "account",
    "fan_out": "request",
    "stream": "stream",
}
_THREADS: Final[Mapping[str, Node]] = {
    "context": "self",
    "reblogged_by": "self",
    "favourited_by": "self",
    "quotes": "self",
    "author": "self",
    "reblog": "self",
}
_MAPS: Final[Mapping[str, Node]] = {
    "request": _REQUEST,
    "account": {},
    "status": {},
    "stream": {},
    "threads": _THREADS,
}
_PAGES: Final[Mapping[str, Node]] = {"outlinks": "pages"}
SCENARIOS: Final[Mapping[str, Mapping[str, Node]]] = {
    "default": _MAPS,
    "threads": {**_MAPS, "status": _THREADS},
    "outlinks": {**_MAPS, "status": _PAGES, "account": _PAGES},
}
"""threads: each status leads to its thread, its author, and who shared, liked and quoted it.

outlinks: each status and account leads to the pages that it links to.
"""
