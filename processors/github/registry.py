"""Every entity, list and part of GitHub, and what each request type is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.platforms.kind import Cursor, Kind, List, Reconciliation, Thing
from ghcrawl.values.frozen import replace
from processors.github import entity, list_records, page, part, repo
from processors.github.batches import BATCHES
from processors.github.condition import ALWAYS
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.entity import Entity
from processors.github.listing import Listings, UpdateMode, continuation_of, refusal_of
from processors.github.listings import LISTINGS
from processors.github.parts import PARTS
from processors.github.scenarios import Behind
from processors.github.spec import user_instead

Depth = Literal["list", "full"]


class Depths(Struct, frozen=True, kw_only=True):
    """How much of things that lists tell less of: what the lists give, or all there is, at a call each or in batches.

    commits: full has statistics and files. pull_requests: full has who merged it, whether it can be, and how much it
    changes. users: full has the profile.
    """

    commits: Depth = "list"
    pull_requests: Depth = "full"
    users: Depth = "full"

    @property
    def as_listed(self) -> frozenset[str]:
        """The types of things of which what lists give is enough."""
        depths = {"commit": self.commits, "pull_request": self.pull_requests, "user": self.users}
        return frozenset(type for type, depth in depths.items() if depth == "list")


USUAL: Final = Depths()


def kinds(depths: Depths = USUAL) -> Mapping[str, Kind]:
    """Every kind of request."""
    lists = listings(depths)
    embeds_users = depths.users == "list"
    process = page.processor(lists, BY_TYPE, embeds_users=embeds_users)
    refusal, continuation = refusal_of(lists), continuation_of(lists)
    reconciliation = Reconciliation(comparison=list_records.comparison)
    found: dict[str, Kind] = {row.type: _thing(row, lists, embeds_users=embeds_users) for row in ENTITIES}
    found |= {each.type: part.kind_of(each) for each in PARTS}
    for row in LISTINGS:
        read = row.updates is not UpdateMode.PAGES
        found.setdefault(
            row.type,
            List(
                processor=process,
                position=f"{row.of}@/{row.link}",
                refusal=refusal,
                continuation=continuation if read else None,
            ),
        )
    return {
        **found,
        **BATCHES,
        "cursor": Cursor(processor=list_records.cursor),
        "reconciliation": reconciliation,
        "census": reconciliation,  # its name in messages of earlier versions
    }


def _thing(row: Entity, lists: Listings, *, embeds_users: bool) -> Thing:
    return Thing(
        processor=entity.processor(row, lists, PARTS, embeds_users=embeds_users),
        position=row.type,
        version=row.version,
        immutable=row.immutable,
        private=repo.is_private,
        fallback=user_instead if row.type == "org" else None,
        listed=not row.endpoint,
        referred=not row.parent,
    )


def listings(depths: Depths = USUAL) -> Listings:
    """Every list, by type of owner and type of page."""
    differ = depths.as_listed ^ USUAL.as_listed
    rows = {
        (row.of, row.type): replace(row, complete=row.element in depths.as_listed) if row.element in differ else row
        for row in LISTINGS
    }
    if depths.pull_requests == "list":  # which then brings them all, and issues need not lead to them
        issues, pulls = ("repo", "issues"), ("repo", "pull_requests")
        rows |= {issues: replace(rows[issues], covers="pull_request"), pulls: replace(rows[pulls], when=ALWAYS)}
    return rows


def behind(map_name: str, link: str) -> Behind:
    """The type that a link of a visitor map leads to: a person, unless it is a list, a part or named here."""
    return _BEHIND.get((map_name, link)) or _ELSE.get(link) or Behind(things=frozenset({"user"}))


_ELSE: Final[Mapping[str, Behind]] = {
    "owner": Behind(things=frozenset({"user", "org"})),
    "organization": Behind(things=frozenset({"org"})),
    "pull_request": Behind(things=frozenset({"pull_request"})),
    "tag_object": Behind(things=frozenset({"tag_object"})),
    "protection": Behind(things=frozenset({"branch_protection"})),
}
_BEHIND: Final[Mapping[tuple[str, str], Behind]] = {
    **{
        (owner, row.link): Behind(things=frozenset({row.element} - {""}), pages=row.type)
        for row in LISTINGS
        for owner in (row.of, *row.via)
    },
    **{(row.of, row.type): Behind(things=frozenset({row.type})) for row in PARTS},
}
DOCUMENT_TYPES: Final = frozenset(
    {row.type for row in ENTITIES} | {row.type for row in PARTS} | {row.type for row in LISTINGS}
)
