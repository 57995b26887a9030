"""One thing that a crawl should have saved, and many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from ghcrawl.simulator.github.shapes.site import Body

T = TypeVar("T")


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


def all_of(
    type: str,
    parent: str,
    things: Mapping[Any, T],
    single: Callable[[T], Body] | None,
    listed: Callable[[T], Body] | None = None,
) -> Iterator[Expected]:
    """The documents expected of `things`. Their URNs end with the keys: `parent:type:key`."""
    for key, thing in things.items():
        yield Expected(
            type=type,
            urn=f"{parent}:{type}:{key}",
            single=partial(single, thing) if single else None,
            listed=partial(listed, thing) if listed else None,
        )


def by_id(things: Iterable[Any]) -> dict[int, Any]:
    """For `all_of`: `things` under their ids."""
    return {thing.id: thing for thing in things}
