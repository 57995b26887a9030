"""What is asked, and the two forms in which it is found: one thing, or many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import Generic, TypeVar

from msgspec import Struct

from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.moments import stamp
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.refusals import not_found
from ghcrawl.simulator.github.shapes.site import Body, Site
from ghcrawl.simulator.github.world import World
from ghcrawl.values.times import moment

T = TypeVar("T")

Key = tuple[str | int, int]
"""What a list is sorted by, and the id that decides between equals."""


class One(Struct, frozen=True, kw_only=True):
    """One thing. last_modified: what GitHub's Last-Modified says of it, where it has one."""

    body: Body
    last_modified: str | None = None


class Many(Struct, Generic[T], frozen=True, kw_only=True):
    """A list in its order; only the page that was asked for is ever shaped.

    key: for the lists that are paged by cursor when they are long.
    wrap: for the few lists that stand inside an object.
    partial: logins of organisations whose things are missing from it, because the credential lacks their SSO.
    headers: what else is said with each page.
    """

    elements: Sequence[T]
    shape: Callable[[T], Body]
    last_modified: str | None = None
    key: Callable[[T], Key] | None = None
    descending: bool = False
    wrap: Callable[[list[Body], int], Body] | None = None
    partial: tuple[int, ...] = ()
    headers: Mapping[str, str] = {}


class Ask(Struct, frozen=True, kw_only=True):
    """A question: who asks for what with which parameters.

    path, query: as they came, still encoded.
    accept, version: the media type and the API version that are asked for.
    numeric: the route by number, which links are made of.
    computed: which statistics have been worked out, as (repository, name, time of the last push).
    """

    world: World
    site: Site
    viewer: Viewer
    manners: Manners
    path: str
    query: str
    params: Mapping[str, str]
    version: str
    accept: str = ""
    numeric: str = ""
    computed: set[tuple[int, str, str]] = set()

    def choice(self, name: str, options: Sequence[str]) -> str:
        """The parameter `name`; the first of `options` where it is missing or none of them."""
        value = self.params.get(name, options[0])
        return value if value in options else options[0]

    def descends(self, *, default: bool) -> bool:
        """Whether `direction` asks for the largest first."""
        return self.choice("direction", ("desc", "asc") if default else ("asc", "desc")) == "desc"

    def moment(self, name: str) -> str:
        """The parameter `name` as bodies write moments; empty where it is missing or no moment."""
        text = self.params.get(name, "").replace(" ", "+")
        try:
            return stamp(moment(text, zone=UTC))
        except ValueError:
            return ""


def number(text: str) -> int:
    """A number in a path. Raises Refusal (404) for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise not_found()
    return int(text)


def found(thing: T | None) -> T:
    """`thing`, if there is one. Raises Refusal (404)."""
    if thing is None:
        raise not_found()
    return thing
