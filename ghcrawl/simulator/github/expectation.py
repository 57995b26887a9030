"""One thing that a crawl should have saved."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ghcrawl.simulator.github.shapes.site import Body


class Expected(Struct, frozen=True, kw_only=True):
    """One document that there should be.

    single: makes the body of the thing's own URL; listed: that of an element of its list. None where it has no such.
    """

    type: str
    urn: str
    single: Callable[[], Body] | None = None
    listed: Callable[[], Body] | None = None

    def bodies(self) -> list[Body]:
        """Every body that would be true of it now."""
        return [shape() for shape in (self.single, self.listed) if shape is not None]
