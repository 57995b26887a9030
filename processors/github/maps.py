"""Visitor maps of GitHub by scenario, derived from the rows of things, lists and parts.

A settings file may replace any of it.

`self` is the thing and nothing beyond it; a name is the map of that name; `pages` are pages without their elements.
What only `everything` follows stands in the other scenarios behind `?`: it can still be requested by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ghcrawl.values.visitor_map import NONE, ON_REQUEST, PAGES, SELF, Node
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.events_maps import event_maps
from processors.github.listing import Listing
from processors.github.listings import LISTINGS
from processors.github.parts import PARTS

SINGLE: Final[Mapping[str, Mapping[str, Node]]] = {
    "team": {"organization": SELF},
    "repo": {"owner": SELF, "organization": SELF},
    "issue": {"pull_request": "pull_request"},
    "gist": {"owner": SELF},
    "tag": {"tag_object": SELF},
    "branch": {"protection": SELF},
}
"""The links to one other thing that is no person."""
PEOPLE_LINKS: Final = frozenset(link for entity in ENTITIES for link in entity.people)
"""The links to persons, of any type."""


def _links(type: str) -> Mapping[str, Node]:
    """Everything that a thing of that type leads to: other things, persons, lists and parts."""
    entity = BY_TYPE.get(type)
    people = entity.people if entity else ()
    return {
        **SINGLE.get(type, {}),
        **dict.fromkeys(people, SELF),
        **{row.link: _behind(row, type) for row in LISTINGS if type == row.of or type in row.via},
        **{part.type: SELF for part in PARTS if part.of == type},
    }


def _behind(row: Listing, type: str) -> Node:
    target = row.leads_to or (SELF if row.relation and row.element else row.element) or PAGES
    # of every commit it would be far too many; other things lead to those of the commits that matter
    return ON_REQUEST + target if row.on_request or (row.via and type == row.of) else target


EVERYTHING: Final[Mapping[str, Mapping[str, Node]]] = {
    type: _links(type) for type in (*BY_TYPE, *(p.type for p in PARTS))
}


def _on(topic: str) -> Mapping[str, Sequence[str]]:
    """The links to lists of that topic, by what they are of."""
    return {type: [row.link for row in LISTINGS if row.of == type and row.topic == topic] for type in BY_TYPE}


_ABOUT: Final = {"team": ("organization",), "repo": ("owner", "organization", "topics")}
_ISSUES: Final = {"issue": ("pull_request",)}
_FILES: Final = ("languages", "license", "readme", "codeowners")


def narrowed(*choices: Mapping[str, Iterable[str]], people: bool = True) -> Mapping[str, Mapping[str, Node]]:
    """`EVERYTHING` with only these links followed, and with `people` those to persons."""
    chosen = {(name, link) for choice in choices for name, links in choice.items() for link in links}
    return {
        name: {
            link: target if (name, link) in chosen or (people and link in PEOPLE_LINKS) else _on_request(target)
            for link, target in links.items()
        }
        for name, links in EVERYTHING.items()
    }


def _on_request(target: Node) -> Node:
    return ON_REQUEST + target.removeprefix(ON_REQUEST) if isinstance(target, str) else NONE


def _relation(name: str, link: str, target: Node) -> Node:
    """What relationOnly makes of a link: what has relations of its own is gone through, the others are pages."""
    if link in _ROOTS.get(name, ()) or (name, link) == ("org", "teams"):
        return target
    return PAGES if link in _RELATIONS.get(name, ()) else _on_request(target)


DEFAULT: Final = narrowed(_ABOUT, _ISSUES, _on("about"), _on("issues"), _on("code"))
_ROOTS: Final = {"org": ("repos",), "user": ("repos",)}
_RELATIONS: Final = {
    "org": ("members", "teams", "outside_collaborators"),
    "team": ("members", "repos"),
    "repo": ("teams", "collaborators", "contributors", "subscribers", "stargazers", "forks"),
}
_CRAWLS: Final[Mapping[str, Mapping[str, Mapping[str, Node]]]] = {
    "default": DEFAULT,
    "everything": EVERYTHING,
    "metadata": narrowed(_ABOUT, _on("about"), {"repo": ("labels", "milestones", "community_profile", *_FILES)}),
    "issues": narrowed(_ROOTS, _ISSUES, _on("issues")),
    "code": narrowed(_ROOTS, _on("code"), {"repo": ("contributors", *_FILES)}),
    "self": narrowed(people=False),
    "relationOnly": {
        name: {link: _relation(name, link, target) for link, target in links.items()}
        for name, links in EVERYTHING.items()
    },
}
SCENARIOS: Final[Mapping[str, Mapping[str, Node]]] = {
    name: {**maps, **event_maps(maps, PEOPLE_LINKS)} for name, maps in _CRAWLS.items()
}
