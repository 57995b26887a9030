"""Which types are things, and which only help to find them: pages of lists, and how far each was read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from ghcrawl.cli.words import counted, number, tallied
from ghcrawl.platforms.contract import Platform
from ghcrawl.ports.deadletters import DeadletterCounts
from ghcrawl.values.errors import SpecError
from ghcrawl.values.type_names import TypeName, TypeNames, suggestion


def entity_types(platforms: Iterable[Platform]) -> tuple[TypeName, ...]:
    """The things, parts and events, in the order of their platform: neither pages of lists nor cursors."""
    return tuple(type for platform in platforms for type in platform.entities)


def type_texts(types: Sequence[TypeName]) -> Sequence[str]:
    """The types of rows that are shown together: with their platform, where several platforms have rows."""
    several = len({type.platform for type in types}) > 1
    return [str(type) if several else type.name for type in types]


def split(counts: Mapping[TypeName, int], entities: Collection[TypeName]) -> tuple[dict[str, int], int]:
    """Of `counts` by type: those of things, in order and by text; and the sum of the others."""
    things = TypeNames(entities).shown({type: counts[type] for type in entities if counts.get(type)})
    return things, sum(counts.values()) - sum(things.values())


def kept(things: Mapping[str, int], lists: int, deadletters: DeadletterCounts) -> Iterable[tuple[str, str]]:
    """What there is, line by line for a person. things, lists: as `split` gives them."""
    yield "documents", f"{counted(sum(things.values()), 'entity', 'entities')}{': ' if things else ''}{tallied(things)}"
    yield "", counted(lists, "list page or cursor", "list pages and cursors")
    yield "deadletters", f"{number(deadletters.total)}{': ' if deadletters.total else ''}{tallied(deadletters.by_kind)}"


async def meant(
    texts: Sequence[str],
    platforms: Collection[str],
    mounted: Iterable[TypeName],
    counted: Callable[[], Awaitable[Iterable[TypeName]]],
) -> tuple[TypeName, ...]:
    """The types that `texts` name, of `platforms` if any are given. Raises SpecError for an unknown or ambiguous name.

    counted: what there is. What another version saved may be of a type, or of a platform, that only it has.
    """
    known = {*mounted}
    names = TypeNames(known)
    if any(names.read(text, platforms) is None for text in texts) or not _platforms(known, platforms):
        known |= {*await counted()}
    if not _platforms(known, platforms):
        there_are = sorted({type.platform for type in known})
        raise SpecError(f"unknown platform {' or '.join(platforms)}; known platforms: {', '.join(there_are)}")
    names = TypeNames(known)
    return tuple(_meant(text, platforms, names, known) for text in texts)


def _platforms(known: Iterable[TypeName], platforms: Collection[str]) -> bool:
    return {*platforms} <= {type.platform for type in known}


def _meant(text: str, platforms: Collection[str], names: TypeNames, known: Collection[TypeName]) -> TypeName:
    if found := names.read(text, platforms):
        return found
    written = str if "/" in text else names.text
    texts = sorted({written(type) for type in known if not platforms or type.platform in platforms})
    raise SpecError(f"unknown type {text}; {suggestion(text, texts)}")
