"""What is reachable from what: frozen data, and the one question asked of it.

A scenario holds named maps. A map is link name → what lies behind that link: the name of another map, or a map
written in place. Three names always exist: `self` (the thing and nothing beyond it), `pages` (a list's pages but
not its elements) and `none` (not followed at all). A name behind `?` is not followed either, yet says what lies
behind the link for a request for that list itself.

A step that ends at a named map takes that map as its position, so a user behind an issue is at `default:self` just
like a user behind a commit: equal requests get equal keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from msgspec import Struct

from ghcrawl.values.errors import PolicyError
from ghcrawl.values.policy import Policy, parse

Node: TypeAlias = "str | Mapping[str, Node]"
VisitorMap: TypeAlias = Mapping[str, Node]

SELF: Final = "self"
PAGES: Final = "pages"
NONE: Final = "none"
ON_REQUEST: Final = "?"
_NOTHING: Final[VisitorMap] = {}


class Step(Struct, frozen=True, kw_only=True):
    """The policy specs behind one link: for the pages of a list, and for the thing (or each element) itself.

    thing: None where pages are wanted without their elements.
    """

    pages: str
    thing: str | None


class NextHops(Struct, frozen=True, kw_only=True):
    """Where a request may go from its position. A link that is not in `links` is not followed.

    element: for a page of a list, the spec of its elements; None where they are not visited.
    beyond: where those elements may go.
    """

    links: Mapping[str, Step] = {}
    element: str | None = None
    beyond: Mapping[str, Step] = {}

    def pages(self, link: str) -> str | None:
        """The policy spec for the pages of the list behind `link`; None: it is not followed."""
        step = self.links.get(link)
        return step.pages if step is not None else None

    def thing(self, link: str) -> str | None:
        """The policy spec for the thing behind `link`, or for each of a list's elements; None: it is not followed."""
        step = self.links.get(link)
        return step.thing if step is not None else None


def followed(target: Node) -> bool:
    """Whether a link to `target` is followed."""
    return not isinstance(target, str) or not (target == NONE or target.startswith(ON_REQUEST))


class Scenarios:
    """The scenarios of one platform. Never changed after construction, so answers are kept."""

    def __init__(self, scenarios: Mapping[str, Mapping[str, Node]]) -> None:
        self._scenarios = scenarios
        self.next_hops = lru_cache(maxsize=4096)(self._next_hops)

    @property
    def names(self) -> tuple[str, ...]:
        """The scenarios there are."""
        return tuple(self._scenarios)

    def _next_hops(self, spec: str) -> NextHops:
        """Where a request with policy `spec` may go. The spec names its map (`Policy.placed`).

        Raises PolicyError for a scenario, map or path that does not exist.
        """
        policy = parse(spec)
        node = self._node(policy)
        links = self._map(policy, node) if isinstance(node, str) else node
        position = policy.at(node) if isinstance(node, str) else policy
        steps = {link: self._step(position, link, target) for link, target in links.items() if followed(target)}
        element = self._thing(policy, policy.path, node)
        beyond = self.next_hops(element).links if policy.path and element is not None and element != spec else {}
        return NextHops(links=steps, element=element, beyond=beyond)

    def _step(self, policy: Policy, link: str, target: Node) -> Step:
        path = (*policy.path, link)
        return Step(pages=policy.at(policy.map, path).spec, thing=self._thing(policy, path, target))

    def _thing(self, policy: Policy, path: tuple[str, ...], target: Node) -> str | None:
        if isinstance(target, str):
            return None if target in (PAGES, NONE) else policy.at(target).spec
        return policy.at(policy.map, path).spec

    def _node(self, policy: Policy) -> Node:
        node: Node = self._map(policy, policy.map)
        for link in policy.path:
            links = self._map(policy, node) if isinstance(node, str) else node
            if link not in links:
                raise PolicyError(f"the map {policy.map!r} leads nowhere at {'/'.join(policy.path)!r}")
            node = links[link]
            node = node.removeprefix(ON_REQUEST) if isinstance(node, str) else node
        return node

    def _map(self, policy: Policy, name: str) -> Mapping[str, Node]:
        maps = self._scenarios.get(policy.scenario or "default")
        if maps is None:
            known = ", ".join(self._scenarios)
            raise PolicyError(f"unknown scenario {policy.scenario!r}; known scenarios: {known}")
        if name in (SELF, PAGES, NONE):
            return _NOTHING
        if name not in maps:
            raise PolicyError(f"unknown map {name!r}; known maps: {', '.join(maps)}")
        node = maps[name]
        if isinstance(node, str):
            raise PolicyError(f"the map {name!r} is only another name, {node!r}")
        return node
