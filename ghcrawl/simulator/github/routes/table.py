"""Tables of routes: one a family of things, matched segment by segment.

A pattern is `issues/{number}/comments`; `{ref*}` at its end takes all that is left, slashes included. A written
segment goes before a placeholder, and both before a rest. Another kind of thing is one more line in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec import Struct

from ghcrawl.simulator.answers import Answer
from ghcrawl.simulator.github.routes.ask import Many, One

Found: TypeAlias = One | Many[Any] | Answer
Finder: TypeAlias = Callable[..., Found]
"""Takes the question, the thing the route lies below (if any), and the segments that the placeholders took."""


@dataclass(slots=True)
class _Node:
    written: dict[str, _Node] = field(default_factory=dict)
    any: _Node | None = None
    rest: Finder | None = None
    end: Finder | None = None


class Hit(Struct, frozen=True):
    """The finder for a path, and what its placeholders took."""

    finder: Finder
    taken: tuple[str, ...] = ()


class Table:
    """Patterns made ready for matching."""

    def __init__(self, rows: Mapping[str, Finder]) -> None:
        self._root = _Node()
        for pattern, finder in rows.items():
            _plant(self._root, pattern.split("/") if pattern else [], finder)

    def match(self, segments: Sequence[str]) -> Hit | None:
        """What is behind that path; None: no route leads there."""
        return _match(self._root, segments, ())


def _plant(node: _Node, segments: Sequence[str], finder: Finder) -> None:
    for segment in segments:
        if segment.endswith("*}"):
            node.rest = finder
            return
        if segment.startswith("{"):
            node.any = node.any or _Node()
            node = node.any
        else:
            node = node.written.setdefault(segment, _Node())
    node.end = finder


def _match(node: _Node, segments: Sequence[str], taken: tuple[str, ...]) -> Hit | None:
    if not segments:
        return Hit(node.end, taken) if node.end else None
    first, rest = segments[0], segments[1:]
    hit = _match(node.written[first], rest, taken) if first in node.written else None
    if hit is None and node.any is not None:
        hit = _match(node.any, rest, (*taken, first))
    if hit is None and node.rest is not None:
        hit = Hit(node.rest, (*taken, "/".join(segments)))
    return hit
