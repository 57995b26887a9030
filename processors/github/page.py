"""What one page of a list becomes: a document, requests for its elements, and the request for the next page.

The document of a collection's page keeps references; that of a relation's page keeps the elements themselves. The
last page of a walk queues the list's cursor as a payload request, so a watermark moves only when every page was dealt
with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from ghcrawl.errors import Malformed
from ghcrawl.model import Context, Json, JsonObject, Payload, Push, Request, Walk
from ghcrawl.outcome import Processor, Save, Skip, Visit
from ghcrawl.platform import Census
from ghcrawl.policy import Fetch, parse
from processors.github.entity import Entity
from processors.github.graph import Node, again, mapping, owner_kind, scope_of, sequence, text
from processors.github.listing import PER_PAGE, Listing, Listings, Walking, asked_at_of, listing_of
from processors.github.scenarios import floor_of

SETTLED: Final = timedelta(seconds=2)
"""After that the documents of a walk's pages are where they can be read; if not, nothing is counted this time."""
_COUNTED: Final[Mapping[str, tuple[str, ...]]] = {"org": ("repo", "team"), "user": ("repo",)}
"""Of what does not lie below its owner, what the owner's list must hold as long as it is there."""
OVERLAP: Final = timedelta(seconds=60)
"""How far a watermark stays behind the start of its walk: GitHub reads from replicas, which may lag."""
_STORAGE: Final = frozenset({Fetch.STORAGE_ONLY, Fetch.STORAGE_ORIGIN_IF_MISSING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page under way.

    element: what its items are; None where they are no documents.
    refs: URN and URL of each of `items`.
    stored: it is our own copy, so its elements were seen before; offline: the policy wants our own copies.
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

    @property
    def walk(self) -> Walk:
        """Where in its walk this page stands."""
        return self.visit.request.context.walk

    @property
    def floor(self) -> str:
        """The moment since when changes are asked for. Such a page is not kept: it would hide what it leaves out."""
        return "" if self.listing.relation else floor_of(self.visit.request.policy)

    @property
    def newest(self) -> str:
        """The largest change seen in this walk so far; where it grows at the head, its very first element."""
        if self.listing.walking is Walking.HEAD:
            first = text(self.refs[0]["urn"]) if self.refs else ""
            return first if self.walk.page == 1 and not self.walk.since else self.walk.newest
        if self.stored or self.element is None:
            return self.walk.newest
        return max([self.walk.newest, *(self.element.changed_at(item) for item in self.items)])

    @property
    def known(self) -> bool:
        """This list, or what it is of, was stored before this walk began."""
        return self.walk.known or (self.walk.page == 1 and self.visit.known)

    @property
    def changed(self) -> bool:
        """Some page of this walk, up to this one, was not what was stored."""
        return self.walk.changed or not self.stored

    @property
    def started_at(self) -> datetime | None:
        """When page 1 was seen; None while every page of a relation was our own copy: its generation goes on."""
        if self.listing.relation and self.stored and not self.offline:
            return self.walk.started_at
        return self.walk.started_at or self.visit.fetched.observed_at


def processor(listings: Listings, entities: Mapping[str, Entity]) -> Processor:
    """The function that processes pages of any list in `listings`."""

    def process(visit: Visit) -> Save | Skip:
        listing = listing_of(listings, visit.request)
        if listing is None:
            owner = visit.request.context.qualifier or "nothing"
            raise Malformed(f"{owner!r} has no list of {visit.request.type}")
        if listing.relation and _breaks_generation(visit):
            return _restart(visit)
        page = _page(visit, listing, entities.get(listing.element))
        _follow_elements(page)
        more = _follow_next(page)
        if page.floor:
            return Skip(reason="narrowed", follow_ups=page.node.follow_ups)
        if more:
            return page.node.save(listing.type)
        _move_cursor(page)
        _take_census(page)
        older = f"{listing.urn(visit.request.context.qualifier)}:" if listing.relation else ""
        return page.node.save(listing.type, supersede=older)

    return process


def _breaks_generation(visit: Visit) -> bool:
    """A later page changed although page 1 had not: a generation must be of one walk."""
    walk = visit.request.context.walk
    return walk.page > 1 and walk.started_at is None and visit.fetched.origin != "storage"


def _restart(visit: Visit) -> Skip:
    first = visit.request.context.walk.first
    request = again(visit.request, first, page=1, fresh=True)
    return Skip(reason="restarted", follow_ups=(Push(request=request, queue="soon"),))


def _page(visit: Visit, listing: Listing, element: Entity | None) -> Page:
    request, stored = visit.request, visit.fetched.origin == "storage"
    owner, items = request.context.qualifier, _items(visit.fetched.body, listing)
    base = (request.context.walk.first or request.url).partition("?")[0].removesuffix(listing.path)
    if stored and not listing.relation:
        refs = [dict(item) for item in items]
    else:
        refs = [_reference(element, _element(item, listing), owner, base) for item in items] if element else []
    node = Node(
        visit,
        body={"elements": items if listing.relation else refs},
        urn=_urn(visit, listing),
        url=request.url,
        siblings=listing.urn(owner),
    )
    node.link(owner_kind(owner), owner)
    if listing.relation:
        node.link("origin", owner)
        node.link("unique", node.urn.partition(":page:")[0])
    node.digested = [node.body, visit.fetched.link.get("next")]
    node.hrefs("resources", (text(ref.get("urn")) for ref in refs if ref.get("urn")))
    offline = parse(request.policy).fetch in _STORAGE
    return Page(
        visit=visit,
        listing=listing,
        element=element,
        node=node,
        items=items,
        refs=refs,
        owner_url=base,
        stored=stored,
        offline=offline,
    )


def _urn(visit: Visit, listing: Listing) -> str:
    walk, whole = visit.request.context.walk, listing.urn(visit.request.context.qualifier)
    if not listing.relation:
        return f"{whole}{':updates' if walk.since else ''}:page:{walk.page}"
    at = (walk.started_at or visit.fetched.observed_at).astimezone(UTC)
    return f"{whole}:{at:%Y%m%dT%H%M%S}{at.microsecond // 1000:03d}Z:page:{walk.page}"


def _items(body: Json, listing: Listing) -> list[JsonObject]:
    if isinstance(body, Mapping):
        body = body.get("elements", body.get(listing.item_at) if listing.item_at else None)
    if not isinstance(body, list):
        raise Malformed(f"a page of {listing.type} is an array, and this is none")
    return [item for item in body if isinstance(item, Mapping)]


def _element(item: JsonObject, listing: Listing) -> JsonObject:
    return mapping(item.get(listing.inside)) if listing.inside in item else item


def _reference(element: Entity, item: JsonObject, owner: str, base: str) -> dict[str, Json]:
    try:
        urn: str | None = element.urn(item, owner)
    except Malformed:
        urn = None  # its own request will say so; its neighbours are none the worse
    reference: dict[str, Json] = {"urn": urn, "url": element.url(item, base)}
    if item.get("private") is True:
        reference["private"] = True
    return reference


def _follow_elements(page: Page) -> None:
    policy, listing = page.visit.onward.element, page.listing
    if policy is None or page.element is None:
        return
    known = page.walk.until if listing.walking is Walking.HEAD and not listing.lively and not page.walk.since else ""
    for item, reference in zip(page.items, page.refs, strict=True):
        if known and reference.get("urn") == known:
            return
        if _older(page, item):
            continue
        if not listing.complete or (page.stored and page.offline):
            _follow_reference(page, reference, policy)
        elif not page.stored:
            _follow_payload(page, item, reference, policy)


def _older(page: Page, item: JsonObject) -> bool:
    """Whether it did not change since the date that the crawl asks for."""
    if page.element is None or not page.element.parent:
        return False
    changed = page.element.changed_at(item)
    return bool(page.floor and changed and changed < page.floor)


def _follow_payload(page: Page, item: JsonObject, reference: Mapping[str, Json], policy: str) -> None:
    node, element = page.node, page.element
    assert element is not None
    fetched = page.visit.fetched
    payload = Payload.of(item, origin="list", observed_at=fetched.observed_at, received_at=fetched.checked_at)
    url = text(reference.get("url")) or f"{page.visit.request.url}#{payload.digest}"
    node.follow(element.type, url, policy, node.context(qualifier=node.qualifier), payload=payload)


def _follow_reference(page: Page, reference: Mapping[str, Json], policy: str) -> None:
    node, element, url = page.node, page.element, text(reference.get("url"))
    if not url or element is None:
        return
    scope = scope_of(url)
    context = Context(
        qualifier=node.qualifier if element.parent else "",
        urn=text(reference.get("urn")),
        scope=node.scope if scope is None else scope,
        private=node.private or reference.get("private") is True,
    )
    node.follow(element.type, url, policy, context)


def _follow_next(page: Page) -> bool:
    """Queue the next page, or this one once more; False where the walk ends here."""
    request, walk, url = page.visit.request, page.walk, page.visit.fetched.link.get("next")
    if page.listing.walking is Walking.HEAD and walk.until and not walk.since and not page.offline:
        if page.stored or _joins_the_known(page):
            return False
        if page.listing.between:
            _follow_between(page)
            return True
    newest_first = page.listing.newest_first or page.listing.walking is Walking.HEAD
    if url and not (page.items and newest_first and _older(page, page.items[-1])):
        renewed = walk.fresh or (page.listing.relation and page.started_at is not None and not page.offline)
        following = again(
            request,
            url,
            page=walk.page + 1,
            started_at=page.started_at,
            newest=page.newest,
            fresh=renewed,
            known=page.known,
            changed=page.changed,
        )
        page.node.follow_again(following, "soon")
        return True
    if _may_have_grown_unseen(page):
        page.node.follow_again(again(request, request.url, fresh=True), "soon")
        return True
    return False


def _joins_the_known(page: Page) -> bool:
    """Whether all that is new stands before the newest element of the last completed walk.

    It does where each new commit has one parent. A merge brings in others, dated and so listed behind it.
    """
    urns = [ref.get("urn") for ref in page.refs]
    if page.walk.until not in urns:
        return False
    new = page.items[: urns.index(page.walk.until)]
    return not page.listing.between or all(len(sequence(item.get("parents"))) <= 1 for item in new)


def _follow_between(page: Page) -> None:
    """Ask for exactly what lies between the last completed walk and the newest element."""
    walk, owner_url = page.walk, page.owner_url
    ends = f"{walk.until.rpartition(':')[2]}...{page.newest.rpartition(':')[2]}"
    url = f"{owner_url}{page.listing.between}{ends}?per_page={PER_PAGE}"
    following = again(page.visit.request, url, since=ends, newest=page.newest, started_at=page.started_at)
    page.node.follow_again(following, "soon")


def _may_have_grown_unseen(page: Page) -> bool:
    """An unchanged last page that is full says nothing of a page behind it: the ETag is of the body, not of Link."""
    if not page.stored or page.offline or page.listing.newest_first:
        return False
    return len(page.items) >= PER_PAGE


def _move_cursor(page: Page) -> None:
    """Remember how far the list was walked, now that every page of the walk was dealt with."""
    listing, walk = page.listing, page.walk
    if listing.walking is Walking.PAGES or not walk.first or page.offline:
        return
    newest = page.newest
    if newest == walk.until and (walk.since or listing.walking is Walking.HEAD):
        return
    began = (page.started_at or page.visit.fetched.observed_at) - OVERLAP
    horizon = began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    since = max(walk.since, min(newest or horizon, horizon)) if listing.walking is Walking.SINCE else ""
    node = page.node
    body = {"collection": listing.urn(node.qualifier), "since": since, "newest": newest}
    if since:
        body["asked"] = asked_at_of(page.visit.request)
    payload = Payload.of(body, origin="list", observed_at=page.visit.fetched.observed_at)
    url = f"{walk.first.partition('?')[0]}#cursor"
    node.follow("cursor", url, page.visit.request.policy, node.context(qualifier=node.qualifier), payload=payload)


def _take_census(page: Page) -> None:
    """Hold what is stored against the pages of a complete walk that found something changed."""
    listing, walk, element, node = page.listing, page.walk, page.element, page.node
    complete = listing.walking is not Walking.HEAD and not walk.since and not listing.covered_by and not page.offline
    if element is None or not element.endpoint or not (complete and page.known and page.changed):
        return
    if not element.parent and element.type not in _COUNTED.get(listing.of, ()):
        return
    pages = node.urn.rpartition(":")[0]
    body = {
        "pages": [f"{pages}:{number}" for number in range(1, walk.page)],
        "listed": [ref.get("urn") for ref in page.refs],
        "type": element.type,
        "below": bool(element.parent),
    }
    payload = Payload.of(body, origin="list", observed_at=page.visit.fetched.observed_at)
    url = f"{page.visit.request.url.partition('?')[0]}#census"
    context = node.context(qualifier=node.qualifier)
    request = page.visit.request.child("census", url, page.visit.request.policy, context, payload)
    node.follow_again(request, "event", not_before=page.visit.processed_at + SETTLED)


def census(request: Request) -> Census:
    """For `Kind.census`: what `_take_census` wrote down."""
    body = request.payload.body if request.payload else {}
    return Census(
        pages=tuple(text(urn) for urn in sequence(body.get("pages"))),
        listed=frozenset(text(urn) for urn in sequence(body.get("listed"))),
        type=text(body.get("type")),
        owner=request.context.qualifier,
        below=body.get("below") is True,
    )


def cursor(visit: Visit) -> Save:
    """Process the small document that remembers how far a list was walked."""
    body, owner = visit.fetched.body, visit.request.context.qualifier
    collection = text(body.get("collection")) if isinstance(body, Mapping) else ""
    if not collection.startswith(owner) or not owner:
        raise Malformed("a cursor names the collection it is of")
    node = Node(visit, body=body, urn=f"{collection}:cursor", url=visit.request.url, siblings=collection)
    return node.save("cursor")
