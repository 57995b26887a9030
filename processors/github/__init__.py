"""GitHub: what its JSON means. Every entity, list and part is one row in `registry`, `listings` or `parts`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ghcrawl.platform import Kind, Platform
from ghcrawl.visitor_map import Node, Scenarios
from processors.github import registry
from processors.github.events import event_kinds
from processors.github.events_feed import feed_request
from processors.github.listings import LISTINGS
from processors.github.maps import SCENARIOS
from processors.github.parts import PARTS
from processors.github.registry import BY_TYPE, DOCUMENT_TYPES, ENTITIES, Commits, behind
from processors.github.scenarios import Narrowed
from processors.github.spec import reader
from processors.github.webhook import delivery_request

__all__ = ["ENTITIES", "LISTINGS", "PARTS", "kinds", "platform"]


def kinds(*, commits: Commits = "list") -> Mapping[str, Kind]:
    """Every kind of request. commits="full" asks for each commit by itself: statistics and files, at a call each."""
    return {**registry.kinds(commits=commits), **event_kinds(BY_TYPE, registry.listings(commits))}


def platform(*, commits: Commits = "list", scenarios: Mapping[str, Mapping[str, Node]] | None = None) -> Platform:
    """GitHub. scenarios: replaces the visitor maps named in it."""
    known = kinds(commits=commits)
    maps = {**SCENARIOS, **(scenarios or {})}
    return Platform(
        name="github",
        kinds=known,
        scenarios=Scenarios(Narrowed(maps, behind, DOCUMENT_TYPES)),
        read_spec=reader(BY_TYPE, registry.listings("list"), PARTS),
        deliveries=partial(delivery_request, known=frozenset(known)),
        feed=feed_request,
    )
