"""Which types are things, and which only help to find them: pages of lists, and how far each was read."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping

from ghcrawl.cli.words import counted, number, tallied
from ghcrawl.errors import SpecError
from ghcrawl.platform import Platform
from ghcrawl.ports import DeadletterCounts
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


def kept(things: Mapping[str, int], lists: int, letters: DeadletterCounts) -> Iterable[tuple[str, str]]:
    """What there is, line by line for a person. things, lists: as `split` gives them."""
    yield "documents", f"{counted(sum(things.values()), 'thing')}{': ' if things else ''}{tallied(things)}"
    yield "", counted(lists, "page of a list or cursor", "pages of lists and cursors")
    yield "deadletters", f"{number(letters.total)}{': ' if letters.total else ''}{tallied(letters.by_kind)}"


def demand_known(types: Iterable[str], known: Collection[str]) -> None:
    """Raises SpecError for a type that is none of `known`, and says which may be meant."""
    for type in types:
        if type not in known:
            close = difflib.get_close_matches(type, known, n=1)
            meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
            raise SpecError(f"no type is called {type}; {meant}")
