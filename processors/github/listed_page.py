"""One page of a list, as its processor sees it."""

from __future__ import annotations

import re
from datetime import datetime
from hashlib import blake2b
from typing import Final
from urllib.parse import parse_qsl

from msgspec import Struct

from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Visit
from ghcrawl.values.requests import Pagination, Request
from ghcrawl.values.times import credible
from processors.fields import text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.listing import Listing, UpdateMode, begun_again
from processors.github.scenarios import floor_of


class Page(Struct, frozen=True, kw_only=True):
    """One page under way.

    element: what its items are; None where they are no documents.
    refs: URN and URL of each of `items`.
    stored: it is our own copy, so its elements were seen before; offline: the policy wants our own copies.
    excerpt: a person typed this list with a query of their own, so it says nothing of what it leaves out.
    moved: of a list that is read on from its end, this holds only what is new: what stood there before moved up.
    """

    visit: Visit
    listing: Listing
    element: Entity | None
    node: Node
    items: list[JsonObject]
    refs: list[dict[str, Json]]
    owner_url: str
    stored: bool
    offline: bool
    excerpt: bool
    moved: bool = False

    @property
    def pagination(self) -> Pagination:
        """Where in its pagination this page stands."""
        return self.visit.request.context.pagination

    @property
    def floor(self) -> str:
        """The moment since when changes are asked for. Such a page is not kept: it would hide what it leaves out."""
        return "" if self.listing.relation else floor_of(self.visit.request.policy)

    @property
    def newest(self) -> str:
        """The largest change seen in this pagination so far; where it grows at the head, its very first element."""
        if self.listing.updates is UpdateMode.HEAD:
            first = text(self.refs[0]["urn"]) if self.refs else ""
            return first if self.pagination.page == 1 and not self.pagination.since else self.pagination.newest
        if self.stored or self.element is None:
            return self.pagination.newest
        return max([self.pagination.newest, *map(self.changed_at, self.items)])

    def changed_at(self, item: JsonObject) -> str:
        """When an element last changed; a moment that cannot be would hide all that changes until then."""
        assert self.element is not None
        return credible(self.element.changed_at(item), self.visit.fetched.observed_at)

    @property
    def named(self) -> tuple[str, ...]:
        """URNs of the elements, in order."""
        return tuple(text(ref.get("urn")) for ref in self.refs)

    @property
    def known(self) -> bool:
        """This list, or what it is of, was stored before this pagination began."""
        return self.pagination.known or (self.pagination.page == 1 and self.visit.known)

    @property
    def changed(self) -> bool:
        """Some page of this pagination, up to this one, was not what was stored."""
        return self.pagination.changed or not self.stored

    @property
    def partial(self) -> bool:
        """Some page of this pagination, up to this one, left things out: what is missing may well be there."""
        return self.pagination.partial or self.visit.fetched.partial

    @property
    def started_at(self) -> datetime | None:
        """When page 1 was seen; None while every page of a relation was our own copy: its generation goes on."""
        if self.listing.relation and self.stored and not self.offline:
            return self.pagination.started_at
        return self.pagination.started_at or self.visit.fetched.observed_at

    @property
    def again(self) -> bool:
        """This pagination started at the end of another one, to find elements that moved meanwhile (`look_again`)."""
        return begun_again(self.visit.request)

    @property
    def from_head(self) -> bool:
        """This is page 1 of a list that grows there, and what stood there at the last completed pagination is known."""
        return (
            self.listing.updates is UpdateMode.HEAD
            and bool(self.pagination.until)
            and not (self.pagination.since or self.offline)
        )

    def older(self, item: JsonObject) -> bool:
        """Whether it did not change since the date that the crawl asks for."""
        return self.element is not None and self.element.older(item, self.floor)


_PLACES: Final = frozenset({"page", "after", "before", "cursor"})
"""Parameters of a URL that tell which page of a list it is."""
_OWN: Final = re.compile(r"/user/(?!\d)")
"""Lists of the token's account."""


def excerpt_of(request: Request, listing: Listing) -> str:
    """Name of an excerpt: of a list that a person typed with a query of their own; empty: the whole list."""
    pagination = request.context.pagination
    if pagination.first or pagination.since or begun_again(request):
        return ""
    if _OWN.search(request.url):
        return "mine"  # `/user/orgs` tells of more organisations than `/users/ada/orgs`
    asked = query_of(request.url)
    if pagination.page > 1:
        asked = frozenset((name, value) for name, value in asked if name not in _PLACES)
    if asked == query_of(listing.url("")):
        return ""
    return blake2b("&".join(f"{name}={value}" for name, value in sorted(asked)).encode(), digest_size=6).hexdigest()


def query_of(url: str) -> frozenset[tuple[str, str]]:
    """Names and values of a URL's query."""
    return frozenset(parse_qsl(url.partition("?")[2], keep_blank_values=True))
