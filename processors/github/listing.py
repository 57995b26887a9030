"""Lists: which there are of what, and how each is kept up to date.

A row says everything about one list endpoint; `processors.github.page` turns its pages into documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.platforms.kind import Continuation
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Pagination, Request
from ghcrawl.values.times import dated, time_text
from processors.fields import count, mappings, text
from processors.github.condition import ALWAYS, Condition, is_empty
from processors.github.document_graph import Node
from processors.github.names import owner_kind, repo_url
from processors.github.scenarios import floor_of

PER_PAGE: Final = 100


class UpdateMode(Enum):
    """How a list is kept up to date."""

    PAGES = "pages"
    """Page by page, conditionally."""
    SINCE = "since"
    """What changed after the last completed pagination, ascending by change."""
    HEAD = "head"
    """Grows at the front: an unchanged page 1 ends it, a changed one is followed to the newest known element."""
    END = "end"
    """Grows at the end: read on from the last page that was read; an audit reads all pages."""


class Endpoint(Struct, frozen=True):
    """The columns of a row that are given by position.

    of: the entity whose URL it lies below. type: of its pages, and of the requests for them.
    element: the entity that it lists; empty where its items are no documents. path: below the owner's URL.
    """

    of: str
    type: str
    element: str
    path: str


class Listing(Endpoint, frozen=True, kw_only=True):
    """One list endpoint.

    name: of the link on its owner, if that is not `type`.
    query: of a complete pagination; since_query: of one that continues (SINCE).
    complete: a list element is the whole resource (the measured table says which), so it is saved without a call.
    relation: its pages keep the elements themselves, as generations.
    newest_first: growth shows on page 1. Other lists may grow behind a full last page without changing it.
    when: the owner's body says that there may be something.
    known_only: ask only if it was read before, because the reason for a first pagination (a child's counter)
    queues it. quiet: a later first element is not announced by any change of the children, so once the owner was
    visited the list is asked for in any case.
    moves_owner: any change in it changes the owner's `updated_at`.
    between: below the owner's URL, what lies between two elements of a HEAD list. A merge brings in commits that are
    dated, and so listed, behind the newest known one.
    skip_if_empty: do not ask again while the repository is unchanged and empty: it answers without a validator, so
    that each time would cost a call.
    covered_by: this owner type has a list of the same type over all owners at once; while it is read, that one is
    asked.
    item_at: the field that holds the elements, where they are not the whole answer.
    inside: the field of an item that holds the element, where items say more than that: a star has a date.
    embedded: the field of the owner's body that holds the whole list already, so that it costs no call.
    lively: what stands at its head still changes, so page 1 is saved whole; behind it only what is new.
    dated: it takes `since=`, by the elements' own dates, although it is not kept up to date by that.
    via: things that lead to this list of a commit, by what makes the commit's sha of their body.
    topic: the scenarios `default` and those of that topic follow it; empty: only `everything` does.
    leads_to: what a crawl follows behind it; empty: its elements, as far as the element's own map says, or in a
    relation the elements alone.
    on_request: no scenario follows it, but a person may ask for it.
    covers: the type of things that its elements need not lead to, because another list brings them.
    was: what the predecessor called its pages.
    """

    name: str = ""
    query: str = ""
    since_query: str = ""
    complete: bool = False
    relation: bool = False
    updates: UpdateMode = UpdateMode.PAGES
    newest_first: bool = False
    known_only: bool = False
    quiet: bool = False
    moves_owner: bool = False
    between: str = ""
    covered_by: str = ""
    when: Condition = ALWAYS
    skip_if_empty: bool = False
    item_at: str = ""
    inside: str = ""
    embedded: str = ""
    lively: bool = False
    dated: bool = False
    via: Mapping[str, Callable[[JsonObject], str]] = {}
    topic: Literal["", "about", "issues", "code"] = ""
    leads_to: str = ""
    on_request: bool = False
    covers: str = ""
    was: str = ""

    @property
    def link(self) -> str:
        """Name of the link on the owner's document, and of the step in the visitor map."""
        return self.name or self.type

    @property
    def grows_in_front(self) -> bool:
        """What is added stands on page 1, and moves all the rest to later places."""
        return self.newest_first or self.updates is UpdateMode.HEAD

    def url(self, owner_url: str) -> str:
        """URL of page 1 of a complete pagination."""
        return f"{owner_url}{self.path}?{self.query}{'&' if self.query else ''}per_page={PER_PAGE}"

    def url_since(self, owner_url: str, since: str) -> str:
        """URL of page 1 of what changed since then; empty where the endpoint cannot tell."""
        if self.updates is not UpdateMode.SINCE and not self.dated:
            return ""
        query = [self.since_query] if self.since_query else []
        return f"{owner_url}{self.path}?{'&'.join([*query, f'since={since}', f'per_page={PER_PAGE}'])}"

    def urn(self, owner: str) -> str:
        """The URN that stands for the whole list: the link on its owner."""
        return f"{owner}:{self.link}:pages" if self.relation else f"{owner}:{self.link}"

    def cursor(self, owner: str) -> str:
        """URN of the document that remembers how far it was read."""
        return f"{self.urn(owner)}:cursor"


Listings = Mapping[tuple[str, str], Listing]
"""By type of owner and type of page."""


def add(node: Node, listing: Listing, listings: Listings, owner: str, owner_url: str) -> None:
    """Link `node` to a list of `owner`, mostly itself, and follow it where visitor map and counters say so."""
    if not listing.when.holds(node.body):
        return
    node.link(listing.link, listing.urn(owner), type="relation" if listing.relation else "collection")
    if listing.embedded and listing.embedded in node.body:
        if not node.dealt_with:
            _carry(node, listing)
        return
    if node.dealt_with and listing.skip_if_empty and is_empty(node.body):
        return
    wide = listings.get((listing.covered_by, listing.type)) if listing.covered_by else None
    if wide is not None and _in_a_walk(node, wide.of, listings):
        # A new issue does not say whether its siblings were stored: the list that led to it does.
        known = node.visit.known or node.visit.request.context.pagination.known
        _follow(node, wide, *_covering(node, wide.of), known=known)
    else:
        known_only = listing.known_only and not (listing.quiet and node.visit.visited)
        _follow(node, listing, owner, owner_url, known=node.visit.known, known_only=known_only)


def _covering(node: Node, owner: str) -> tuple[str, str]:
    """URN and URL of the repository, or the commit, that `node` lies in."""
    if owner == "repo":
        return node.repo, repo_url(node.url)
    sha = node.urn.removeprefix(f"{node.repo}:commit:").partition(":")[0]
    return f"{node.repo}:commit:{sha}", f"{repo_url(node.url)}/commits/{sha}"


def _carry(node: Node, listing: Listing) -> None:
    """The elements are here already: each becomes a request that carries its body."""
    policy = node.visit.next_hops.thing(listing.link)
    if policy is None:
        return
    for item in mappings(node.body[listing.embedded]):
        if url := text(item.get("url")):
            context = node.context(qualifier=node.urn)
            node.follow(listing.element, url, policy, context, payload=node.payload(item))


def _in_a_walk(node: Node, owner: str, listings: Listings) -> bool:
    """Whether `node` was found by reading a list of its owner, so that its siblings will be found too."""
    return any((owner, ancestor.type) in listings for ancestor in node.visit.request.context.history)


def _follow(node: Node, listing: Listing, owner: str, owner_url: str, *, known: bool, known_only: bool = False) -> None:
    policy = node.visit.next_hops.pages(listing.link)
    if policy is None or not owner_url or listing.type in node.visit.request.context.covered:
        return
    url = listing.url(owner_url)
    pagination = Pagination(first=url, known=known)
    since = floor_of(node.visit.request.policy)
    recent = listing.url_since(owner_url, since) if since else ""
    if since and not listing.relation:
        pagination = Pagination(since=since if recent else "")  # without a first page no cursor moves
    changed_at = dated(text(node.body.get("updated_at"))) if listing.moves_owner else ""
    context = node.context(qualifier=owner)
    context = replace(context, pagination=pagination, only_known=known_only, changed_at=changed_at)
    node.follow(listing.type, recent or url, policy, context, queue="soon")


def listing_of(listings: Listings, request: Request) -> Listing | None:
    """The row that a request for a page belongs to."""
    return listings.get((owner_kind(request.context.qualifier), request.type))


def continuation_of(listings: Listings) -> Continuation:
    """How a request's list is read on from its cursor."""

    def cursor(request: Request) -> str:
        listing = listing_of(listings, request)
        return listing.cursor(request.context.qualifier) if listing else ""

    def optional(request: Request) -> bool:
        listing = listing_of(listings, request)
        return listing is not None and listing.updates is UpdateMode.END

    return Continuation(cursor=cursor, resume=partial(_resumed, listings), restart=_restarted, optional=optional)


def refusal_of(listings: Listings) -> Callable[[Request], str | None]:
    """URN of the record of a refusal: only that of page 1 is kept; a pagination that breaks off later restarts."""

    def refusal(request: Request) -> str | None:
        listing, pagination = listing_of(listings, request), request.context.pagination
        if listing is None or pagination.page > 1 or pagination.fresh:
            return None
        return f"{listing.urn(request.context.qualifier)}:refused"

    return refusal


def asked_at_of(request: Request) -> str:
    """Since when an answer is fresh enough for `request`, as a cursor remembers it; empty where it is not said."""
    return time_text(request.asked_at) if request.asked_at else ""


def begun_again(request: Request) -> bool:
    """Whether a pagination of the same list led to this one."""
    return any(ancestor.type == request.type for ancestor in request.context.history[-1:])


def _resumed(listings: Listings, request: Request, cursor: Document | None) -> Request | None:
    """The request that continues from the last completed pagination; None where that answers it, too.

    Only paginations that a crawl started are continued: a list that a person typed is read as typed.
    """
    listing, pagination = listing_of(listings, request), request.context.pagination
    if cursor is None or listing is None or pagination.first != request.url or pagination.fresh:
        return request
    policy = parse(request.policy)
    elsewhere = text(cursor.body.get("scenario")) != policy.scenario  # which may have led to less
    if listing.updates is UpdateMode.END:
        elsewhere = elsewhere and not request.context.only_known
        return request if policy.complete or elsewhere or begun_again(request) else _from_end(request, cursor)
    if listing.updates is UpdateMode.SINCE and (policy.complete or elsewhere):
        return request
    since, newest = text(cursor.body.get("since")), text(cursor.body.get("newest"))
    if not listing.complete and listing.updates is UpdateMode.HEAD and cursor.body.get("alone") is not True:
        return request  # what was read so far was taken from the list, which tells less
    if listing.updates is UpdateMode.HEAD:
        return _paginating(request, request.url, replace(pagination, until=newest))
    if text(cursor.body.get("asked")) >= asked_at_of(request) > "":
        return None  # several ask for the list that covers them all, the last of them when it was read already
    base = request.url.partition("?")[0]
    url = f"{base}?{listing.since_query}&since={since}&per_page={PER_PAGE}"
    return _paginating(request, url, replace(pagination, first=url, since=since, until=newest, newest=newest))


def _from_end(request: Request, cursor: Document) -> Request:
    """The request for the last page that was read; of a list of one page that is the first."""
    url, known = text(cursor.body.get("last")), text(cursor.body.get("newest"))
    page = count(cursor.body.get("page"))
    if page == 1 or not (url and known):
        return request
    return _paginating(request, url, replace(request.context.pagination, page=page, until=known))


def _restarted(request: Request) -> Request | None:
    """GitHub can no longer tell what lay between two elements, so the whole list is read again."""
    pagination = request.context.pagination
    if not pagination.since or not pagination.first:
        return None
    return _paginating(request, pagination.first, Pagination(first=pagination.first, fresh=True))


def _paginating(request: Request, url: str, pagination: Pagination) -> Request:
    return replace(request, url=url, context=replace(request.context, pagination=pagination))
