"""Every entity, list and part of GitHub, and what each request type is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

from ghcrawl.platforms.kind import Cursor, Kind, List, Reconciliation, Thing
from processors.github import entity, page, part, repo
from processors.github.batches import BATCHES
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.entity import Entity
from processors.github.listing import Listings, Walking, continuation_of, refusal_of
from processors.github.listings import LISTINGS
from processors.github.parts import PARTS
from processors.github.scenarios import Behind
from processors.github.spec import user_instead

Commits = Literal["list", "full"]


def kinds(*, commits: Commits = "list") -> Mapping[str, Kind]:
    """Every kind of request. commits="full" asks for each commit by itself: statistics and files, at a call each."""
    lists = listings(commits)
    process = page.processor(lists, BY_TYPE)
    refusal, continuation = refusal_of(lists), continuation_of(lists)
    reconciliation = Reconciliation(comparison=page.comparison)
    found: dict[str, Kind] = {row.type: _thing(row, lists) for row in ENTITIES}
    found |= {each.type: part.kind_of(each) for each in PARTS}
    for row in LISTINGS:
        walked = row.walking is not Walking.PAGES
        found.setdefault(
            row.type,
            List(
                processor=process,
                position=f"{row.of}@/{row.link}",
                refusal=refusal,
                continuation=continuation if walked else None,
            ),
        )
    return {
        **found,
        **BATCHES,
        "cursor": Cursor(processor=page.cursor),
        "reconciliation": reconciliation,
        "census": reconciliation,  # its name in messages of earlier versions
    }


def _thing(row: Entity, lists: Listings) -> Thing:
    return Thing(
        processor=entity.processor(row, lists, PARTS),
        position=row.type,
        version=row.version,
        immutable=row.immutable,
        private=repo.is_private,
        fallback=user_instead if row.type == "org" else None,
        listed=not row.endpoint,
        referred=not row.parent,
    )


def listings(commits: Commits) -> Listings:
    """Every list, by type of owner and type of page."""
    rows = {(row.of, row.type): row for row in LISTINGS}
    if commits == "full":
        rows |= {at: replace(row, complete=False) for at, row in rows.items() if row.element == "commit"}
    return rows


def behind(map_name: str, link: str) -> Behind:
    """What a link of a visitor map leads to at once. Whatever is neither list nor part nor named here is a person."""
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
