"""Scenarios narrowed by what a person asks for: only these types, all but those, what changed since a date.

The wish is written into the scenario's name (`default__only__issue__user__since__20260101`), so that every process
that pops a request, at any later time, knows all conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from ghcrawl.values.errors import SpecError
from ghcrawl.values.narrowing import EXCEPT, ONLY, SINCE
from ghcrawl.values.policy import parse
from ghcrawl.values.type_names import suggestion
from ghcrawl.values.visitor_map import NONE, ON_REQUEST, PAGES, SELF, Node, followed

ALIASES: Final[Mapping[str, str]] = {"initialize": "default"}
"""Names of earlier versions, and the scenarios that they mean."""
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)")

Maps = Mapping[str, Node]


class Behind(Struct, frozen=True, kw_only=True):
    """What a link of a map leads to at once: the type of its pages, if it is a list, and those of the things."""

    things: frozenset[str]
    pages: str = ""

    @property
    def types(self) -> frozenset[str]:
        """All of it."""
        return self.things | ({self.pages} if self.pages else set())


Look = Callable[[str, str], Behind]
"""What is behind a link, by the names of map and link."""


@lru_cache(maxsize=1024)
def floor_of(spec: str) -> str:
    """The moment since when changes are asked for, as GitHub writes moments; empty where none is."""
    name = parse(spec).scenario
    found = _DATE.fullmatch(name.rpartition(f"__{SINCE}__")[2]) if SINCE in name else None
    return f"{found[1]}-{found[2]}-{found[3]}T00:00:00Z" if found else ""


class Narrowed(Mapping[str, Maps]):
    """The scenarios there are, and under narrowed names what is left of them. Only the former are counted."""

    def __init__(self, scenarios: Mapping[str, Maps], behind: Look, types: frozenset[str]) -> None:
        self._scenarios = scenarios
        self._behind = behind
        self._types = types

    def __iter__(self) -> Iterator[str]:
        return iter(self._scenarios)

    def __len__(self) -> int:
        return len(self._scenarios)

    def __getitem__(self, name: str) -> Maps:
        """The maps of that scenario. Raises KeyError; SpecError for a wish that names no type."""
        base, *words = name.split("__")
        maps = self._scenarios[base if base in self._scenarios else ALIASES.get(base, base)]
        wishes: dict[str, list[str]] = {}
        wish: list[str] | None = None
        for word in words:
            if word in (ONLY, EXCEPT, SINCE):
                wish = wishes.setdefault(word, [])
            elif wish is None:
                raise KeyError(name)
            else:
                wish.append(word)
        unknown = {*wishes.get(ONLY, ()), *wishes.get(EXCEPT, ())} - self._types
        if unknown:
            raise SpecError(f"unknown type {min(unknown)!r}; {suggestion(min(unknown), sorted(self._types))}")
        if EXCEPT in wishes:
            maps = _without(maps, frozenset(wishes[EXCEPT]), self._behind)
        if ONLY in wishes:
            maps = _only(maps, frozenset(wishes[ONLY]), self._behind)
        return maps


def _links(maps: Maps, name: str) -> Mapping[str, Node]:
    links = maps.get(name)
    return links if isinstance(links, Mapping) else {}


def _without(maps: Maps, types: frozenset[str], behind: Look) -> Maps:
    """The maps without the links that may lead to `types`."""
    return {
        name: {link: target for link, target in _links(maps, name).items() if not behind(name, link).things & types}
        for name in maps
    }


def _only(maps: Maps, types: frozenset[str], behind: Look) -> Maps:
    """The maps with just those links that lead to `types`, at once or by and by.

    What is followed on request only is followed where nothing else leads to what is asked for.
    """
    usual, every = _reach(maps, behind, on_request=False), _reach(maps, behind, on_request=True)
    missing = types.difference(*usual.values())
    kept: dict[str, Mapping[str, Node]] = {}
    for name in maps:
        kept[name] = links = {}
        for link, target in _links(maps, name).items():
            leads = followed(target) and _reached(name, link, target, usual, behind) & types
            if leads or _reached(name, link, target, every, behind) & missing:
                links[link] = target.removeprefix(ON_REQUEST) if isinstance(target, str) else target
    return kept


def _reach(maps: Maps, behind: Look, *, on_request: bool) -> Mapping[str, frozenset[str]]:
    """Everything that each map leads to."""
    reach = {name: frozenset[str]() for name in maps}
    growing = True
    while growing:
        growing = False
        for name in maps:
            links = {link: to for link, to in _links(maps, name).items() if on_request or followed(to)}
            found = reach[name].union(*(_reached(name, link, to, reach, behind) for link, to in links.items()))
            growing, reach[name] = growing or found != reach[name], found
    return reach


def _reached(name: str, link: str, target: Node, reach: Mapping[str, frozenset[str]], behind: Look) -> frozenset[str]:
    """Everything that `link` of map `name` leads to; pages without their elements lead to themselves."""
    place = target.removeprefix(ON_REQUEST) if isinstance(target, str) else SELF
    at_once = behind(name, link)
    if place == PAGES:
        return at_once.types - at_once.things
    return at_once.types if place in (SELF, NONE) else at_once.types | reach.get(place, frozenset())
