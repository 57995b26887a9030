"""Every kind of the AT Protocol, and where each leads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ghcrawl.platforms.kind import Kind, List, Reconciliation, Thing
from ghcrawl.values.visitor_map import Node
from processors.atproto import pages, things
from processors.atproto.requests import request
from processors.saving import comparison

KINDS: Final[Mapping[str, Kind]] = {
    "request": Thing(processor=request, position="request"),
    "profile": Thing(processor=things.profile, position="profile", referred=True),
    "post": Thing(processor=things.post, position="post"),
    "posts": List(processor=pages.posts, position="request@/posts"),
    "follows": List(processor=pages.relation, position="request@/follows"),
    "followers": List(processor=pages.relation, position="request@/followers"),
    "fan_out": List(processor=pages.members, position="request@/fan_out"),
    "thread": List(processor=pages.thread, position="threads@/thread"),
    "stream": Thing(processor=things.stream, position="stream"),
    "listing": Reconciliation(comparison=partial(comparison, type="post")),
}
_REQUEST: Final[Mapping[str, Node]] = {
    "posts": "post",
    "profile": "profile",
    "follows": "pages",
    "followers": "pages",
    "fan_out": "request",
    "stream": "stream",
}
_THREADS: Final[Mapping[str, Node]] = {"thread": "self", "author": "self"}
_PAGES: Final[Mapping[str, Node]] = {"outlinks": "pages"}
SCENARIOS: Final[Mapping[str, Mapping[str, Node]]] = {
    "default": {"request": _REQUEST, "post": {}, "profile": {}, "stream": {}, "threads": _THREADS},
    "threads": {"request": _REQUEST, "post": _THREADS, "profile": {}, "stream": {}, "threads": _THREADS},
    "outlinks": {"request": _REQUEST, "post": _PAGES, "profile": _PAGES, "stream": {}, "threads": _THREADS},
}
"""threads: each post leads to its thread and its author, and what is found there leads nowhere.

outlinks: each post and profile leads to the pages that it links to.
"""
