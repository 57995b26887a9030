"""Processes pages of lists: a document, requests for the elements, and the request for the next page.

The document of a collection's page keeps references; that of a relation's page keeps the elements themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, timedelta
from typing import Final

from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Processor, Save, Skip, Visit
from ghcrawl.values.policy import Fetch, parse
from ghcrawl.values.requests import Context, Pagination, Push
from ghcrawl.values.times import moment
from processors.fields import mapping, text
from processors.github import batch_requests
from processors.github.document_graph import Node, again, embedded
from processors.github.entity import Entity
from processors.github.listed_page import Page, excerpt_of
from processors.github.listing import Listing, Listings, UpdateMode, listing_of
from processors.github.names import owner_kind, scope_of
from processors.github.pagination import LOOKED_AGAIN, follow_next, look_again, move_cursor, reconcile
from processors.github.webhook import POLICY

_GENERATION: Final = re.compile(r":(\d{8}T\d{6})(\d{3})Z:page:")
_STORAGE: Final = frozenset({Fetch.STORAGE_ONLY, Fetch.STORAGE_ORIGIN_IF_MISSING})


def processor(listings: Listings, entities: Mapping[str, Entity], *, embeds_users: bool = False) -> Processor:
    """The function that processes pages of any list in `listings`. embeds_users: as of `entity.processor`."""

    def process(visit: Visit) -> Save | Skip:
        listing = listing_of(listings, visit.request)
        if listing is None:
            owner = visit.request.context.qualifier or "nothing"
            raise Malformed(f"{owner!r} has no list of {visit.request.type}")
        page = _opened(visit, listing, entities.get(listing.element))
        if page is None:
            return _restart(visit, listing)
        page.node.embeds_users = embeds_users
        covered = _follow_elements(page)
        _follow_strangers(page)
        more = follow_next(page, covered="pull_request" in covered)
        if page.floor:
            return Skip(reason="narrowed", follow_ups=page.node.follow_ups)
        if listing.relation and page.partial:  # the generation that there is may be whole
            return Skip(reason="partial", follow_ups=page.node.follow_ups)
        if more:
            return page.node.save(listing.type)
        move_cursor(page)
        reconcile(page)
        look_again(page)
        older = f"{listing.urn(visit.request.context.qualifier)}:" if listing.relation and not page.excerpt else ""
        return page.node.save(listing.type, supersede=older)

    return process


def _opened(visit: Visit, listing: Listing, element: Entity | None) -> Page | None:
    """The page that `visit` is to; None where its relation must be read again from the start."""
    continued = _continued(visit, listing)
    visit = continued or visit
    if listing.relation and _breaks_generation(visit) and not excerpt_of(visit.request, listing):
        return None
    page = _page(visit, listing, element)
    if continued is None or _goes_on(page):
        return page
    return _new_ones(page) if _only_shrank(page) else None


def _breaks_generation(visit: Visit) -> bool:
    """A later page changed although page 1 had not: a generation must be of one pagination."""
    pagination = visit.request.context.pagination
    return pagination.page > 1 and pagination.started_at is None and visit.fetched.origin != "storage"


def _continued(visit: Visit, listing: Listing) -> Visit | None:
    """The visit to the last page that was read of a list that grows there: a page of the generation that we hold."""
    pagination, generation = visit.request.context.pagination, _GENERATION.search(visit.stored_urn)
    if listing.updates is not UpdateMode.END or not pagination.until or pagination.started_at or generation is None:
        return None
    seconds, milliseconds = generation[1], int(generation[2])
    began = moment(seconds, zone=UTC) + timedelta(milliseconds=milliseconds)
    return replace(visit, request=again(visit.request, visit.request.url, started_at=began))


def _goes_on(page: Page) -> bool:
    """Whether all that stood at the end when it was read last stands there still."""
    known = tuple(page.pagination.until.split())
    return page.named[: len(known)] == known


def _only_shrank(page: Page) -> bool:
    """Whether elements of a long list are gone, so that others moved up. An audit finds which."""
    return (
        page.pagination.page > LOOKED_AGAIN and page.named[:1] != () and page.named[0] in page.pagination.until.split()
    )


def _new_ones(page: Page) -> Page:
    """What is new on a page whose elements moved up. It is kept beside the page, whose elements stand nowhere else."""
    known, visit = page.pagination.until.split(), page.visit
    new = [item for item, urn in zip(page.items, page.named, strict=True) if urn not in known]
    url = f"{visit.request.url}#new"
    fetched = replace(visit.fetched, body={"elements": new}, url=url, validator=None)
    beside = _page(replace(visit, request=replace(visit.request, url=url), fetched=fetched), page.listing, page.element)
    beside.node.urn += ":new"
    beside.node.link("self", beside.node.urn)
    return replace(beside, moved=True)


def _restart(visit: Visit, listing: Listing) -> Skip:
    first = visit.request.context.pagination.first or listing.url(_base(visit, listing))
    request = again(visit.request, first, page=1, fresh=True, started_at=None, until="")
    return Skip(reason="restarted", follow_ups=(Push(request=request, queue="soon"),))


def _page(visit: Visit, listing: Listing, element: Entity | None) -> Page:
    request, stored = visit.request, visit.fetched.origin == "storage"
    owner, items = request.context.qualifier, _items(visit.fetched.body, listing)
    base, excerpt = _base(visit, listing), excerpt_of(request, listing)
    if stored and not listing.relation:
        refs = [dict(item) for item in items]
    else:
        refs = [_reference(element, _element(item, listing), owner, base) for item in items] if element else []
    node = Node(
        visit,
        body={"elements": items if listing.relation else refs},
        urn=_urn(visit, listing, excerpt),
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
        excerpt=bool(excerpt),
    )


def _base(visit: Visit, listing: Listing) -> str:
    return (visit.request.context.pagination.first or visit.request.url).partition("?")[0].removesuffix(listing.path)


def _urn(visit: Visit, listing: Listing, excerpt: str) -> str:
    pagination, whole = visit.request.context.pagination, listing.urn(visit.request.context.qualifier)
    if excerpt:
        return f"{whole}:{excerpt}:page:{pagination.page}"
    if not listing.relation:
        return f"{whole}{':updates' if pagination.since else ''}:page:{pagination.page}"
    at = (pagination.started_at or visit.fetched.observed_at).astimezone(UTC)
    return f"{whole}:{at:%Y%m%dT%H%M%S}{at.microsecond // 1000:03d}Z:page:{pagination.page}"


def _items(body: Json, listing: Listing) -> list[JsonObject]:
    return [item for item in _listed(body, listing) if isinstance(item, Mapping)]


def _listed(body: Json, listing: Listing) -> list[Json]:
    if isinstance(body, Mapping):
        body = body.get("elements", body.get(listing.item_at) if listing.item_at else None)
    if not isinstance(body, list):
        raise Malformed(f"a page of {listing.type} is an array, and this is none")
    return body


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


def _follow_elements(page: Page) -> tuple[str, ...]:
    """Follow the elements, and say what was asked for at once of what they lead to."""
    policy, listing = page.visit.next_hops.element, page.listing
    if policy is None or page.element is None or (page.again and page.stored):
        return ()
    followed = list(_followed(page))
    if not listing.complete or (page.stored and page.offline):
        if not batch_requests.follow_all(page, [_element(item, listing) for item, _ in followed], policy):
            for _, reference in followed:
                _follow_reference(page, reference, policy)
        return ()
    covered = batch_requests.cover(page, [item for item, _ in followed])
    if not page.stored:
        context = page.node.context(qualifier=page.node.qualifier)
        context = replace(context, covered=covered, pagination=Pagination(known=page.known))
        for item, reference in followed:
            _follow_payload(page, item, reference, policy, context)
    return covered


def _followed(page: Page) -> Iterator[tuple[JsonObject, JsonObject]]:
    """The elements that may be news, each with its reference."""
    listing = page.listing
    known = (
        page.pagination.until
        if listing.updates is UpdateMode.HEAD and not listing.lively and not page.pagination.since
        else ""
    )
    for item, reference in zip(page.items, page.refs, strict=True):
        if known and reference.get("urn") == known:
            return
        if not page.older(item):
            yield item, reference


def _follow_strangers(page: Page) -> None:
    """What is no object is no element: a request of its own says so, and its neighbours are none the worse.

    GitHub writes null where it cannot show an element: that is nothing.
    """
    if page.element is None or page.stored:
        return
    for item in _listed(page.visit.fetched.body, page.listing):
        if item is not None and not isinstance(item, Mapping):
            payload = page.node.payload({"element": item})
            url = f"{page.visit.request.url}#{payload.digest}"
            context = page.node.context(qualifier=page.node.qualifier)
            page.node.follow(page.element.type, url, f"{POLICY}:self", context, payload=payload)


def _follow_payload(page: Page, item: JsonObject, reference: Mapping[str, Json], policy: str, context: Context) -> None:
    node, element = page.node, page.element
    assert element is not None
    item = _element(item, page.listing)
    payload = node.payload(embedded(item) if element.type == "user" else item)
    url = text(reference.get("url")) or f"{page.visit.request.url}#{payload.digest}"
    node.follow(element.type, url, policy, context, payload=payload)


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
        pagination=Pagination(known=page.known),
    )
    node.follow(element.type, url, policy, context)
