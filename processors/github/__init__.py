"""GitHub: what its JSON means. Every entity, list and part is one row in `registry`, `listings` or `parts`."""

from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.platforms.kind import Kind
from processors.github import registry
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.events import event_kinds
from processors.github.listings import LISTINGS
from processors.github.parts import PARTS
from processors.github.registry import USUAL, Depths

__all__ = ["ENTITIES", "LISTINGS", "PARTS", "kinds"]


def kinds(depths: Depths = USUAL) -> Mapping[str, Kind]:
    """Every kind of request."""
    return {**registry.kinds(depths), **event_kinds(BY_TYPE, registry.listings(depths))}
