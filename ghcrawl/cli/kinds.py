"""Which types are things, and which only help to find them: pages of lists, and how far each was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ghcrawl.platform import Platform
from ghcrawl.visitor_map import SELF


def entity_types(platforms: Iterable[Platform]) -> tuple[str, ...]:
    """The things, in the order of their platform. A page stands below something, a cursor nowhere."""
    return tuple(
        name
        for platform in platforms
        for name, kind in platform.kinds.items()
        if "@" not in kind.position and kind.position != SELF
    )


def split(counts: Mapping[str, int], entities: Iterable[str]) -> tuple[dict[str, int], int]:
    """Of `counts` by type: those of things, in order; and the sum of the others."""
    things = {type: counts[type] for type in entities if counts.get(type)}
    return things, sum(counts.values()) - sum(things.values())
