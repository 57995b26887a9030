"""Where the pagination of a list goes from one of its pages, and what it leaves behind when it ends.

The last page of a pagination queues the list's cursor as a payload request, so a watermark moves only when every page
was dealt with.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.policy import Fetch, parse
from ghcrawl.values.requests import Pagination, Payload
from ghcrawl.values.times import iso
from processors.fields import sequence
from processors.github.document_graph import again
from processors.github.listed_page import Page
from processors.github.listing import PER_PAGE, UpdateMode, asked_at_of

SETTLED: Final = timedelta(seconds=2)
"""After this time the documents of all pages can be read; if not, nothing is compared this time."""
_RECONCILED: Final[Mapping[str, tuple[str, ...]]] = {"org": ("repo", "team"), "user": ("repo",)}
"""Of what does not lie below its owner, what the owner's list must hold as long as it is there."""
LOOKED_AGAIN: Final = 10
"""Pages of a relation that is looked at again: a longer one always changes meanwhile, and is one generation or none."""
_CURSOR: Final = "after="
"""In the URLs of a list that GitHub reads from an element on: there, nothing moves."""
OVERLAP: Final = timedelta(seconds=60)
"""How far a watermark stays behind the start of its pagination: GitHub reads from replicas, which may lag."""


def follow_next(page: Page, *, covered: bool = False) -> bool:
    """Queue the next page, or this one once more; False where the pagination ends here. covered: as in `Pagination`."""
    request, pagination, url = page.visit.request, page.pagination, page.visit.fetched.link.get("next")
    if _ends_at_the_known(page):
        return False
    if page.from_head and page.listing.between:
        _follow_between(page)
        return True
    if url and not (page.items and page.listing.grows_in_front and page.older(page.items[-1])):
        renewed = pagination.fresh or (page.listing.relation and page.started_at is not None and not page.offline)
        following = again(
            request,
            _by_change(page) or url,
            page=pagination.page + 1,
            started_at=page.started_at,
            newest=page.newest,
            fresh=renewed,
            known=page.known,
            changed=page.changed,
            partial=page.partial,
            covered=covered or pagination.covered,
        )
        page.node.follow_again(following, "soon")
        return True
    if _may_have_grown_unseen(page):
        page.node.follow_again(again(request, request.url, fresh=True), "soon")
        return True
    return False


def _by_change(page: Page) -> str:
    """The next page of a list that is sorted by change, as the changes since this one's last element.

    An element that changes meanwhile moves to the end, and all behind it to earlier places: page numbers would miss
    one for each. Empty where the list is not sorted so, or all of this page changed within one second.
    """
    listing, element = page.listing, page.element
    if listing.updates is not UpdateMode.SINCE or not page.pagination.since or element is None or not page.items:
        return ""
    last = page.changed_at(page.items[-1])
    following = listing.url_since(page.owner_url, last) if last else ""
    return following if following.partition("?")[2] != page.visit.request.url.partition("?")[2] else ""


def _ends_at_the_known(page: Page) -> bool:
    """Whether nothing behind this page can be news."""
    if page.from_head:
        return _was_dealt_with(page) if page.stored else _joins_the_known(page)
    # Where a list grew at its head meanwhile, all of it moved: each page would have to be read and paid for again.
    grew = page.listing.updates is UpdateMode.HEAD and page.pagination.newest in [ref["urn"] for ref in page.refs[1:]]
    return page.again and page.pagination.page == 1 and grew


def _was_dealt_with(page: Page) -> bool:
    """Whether a completed pagination started with this page: the one that brought it may have broken off behind it."""
    urns = [ref.get("urn") for ref in page.refs]
    return not urns or page.pagination.until in (urns[:1] if page.listing.between else urns)


def _joins_the_known(page: Page) -> bool:
    """Whether all that is new stands before the newest element of the last completed pagination.

    It does where each new commit has one parent. A merge brings in others, dated and so listed behind it.
    """
    urns = [ref.get("urn") for ref in page.refs]
    if page.pagination.until not in urns:
        return False
    new = page.items[: urns.index(page.pagination.until)]
    return not page.listing.between or all(len(sequence(item.get("parents"))) <= 1 for item in new)


def _follow_between(page: Page) -> None:
    """Ask for exactly what lies between the last completed pagination and the newest element."""
    pagination, owner_url = page.pagination, page.owner_url
    rewritten = pagination.until not in {ref.get("urn") for ref in page.refs}
    if page.again and rewritten:  # while it was read for the first time
        whole = again(page.visit.request, pagination.first, page=1, until="", newest="", started_at=None, fresh=True)
        page.node.follow_again(whole, "soon")
        return
    ends = f"{pagination.until.rpartition(':')[2]}...{page.newest.rpartition(':')[2]}"
    url = f"{owner_url}{page.listing.between}{ends}?per_page={PER_PAGE}"
    following = again(page.visit.request, url, since=ends, newest=page.newest, started_at=page.started_at)
    page.node.follow_again(following, "soon")


def _may_have_grown_unseen(page: Page) -> bool:
    """An unchanged last page that is full says nothing of a page behind it: the ETag is of the body, not of Link."""
    if not page.stored or page.offline or page.listing.grows_in_front:
        return False
    return len(page.items) >= PER_PAGE


def move_cursor(page: Page) -> None:
    """Remember how far the list was read, now that every page of the pagination was dealt with."""
    listing, pagination = page.listing, page.pagination
    if listing.updates is UpdateMode.PAGES or not pagination.first or page.offline:
        return
    if listing.updates is UpdateMode.END:
        _move_end(page)
        return
    newest = page.newest
    if newest == pagination.until and (pagination.since or listing.updates is UpdateMode.HEAD):
        return
    began = (page.started_at or page.visit.fetched.observed_at) - OVERLAP
    horizon = iso(began, "seconds")
    since = max(pagination.since, min(newest or horizon, horizon)) if listing.updates is UpdateMode.SINCE else ""
    node = page.node
    body: dict[str, Json] = {"collection": listing.urn(node.qualifier), "since": since, "newest": newest}
    if not listing.complete:
        body["alone"] = True
    if since:
        body["asked"] = asked_at_of(page.visit.request)
        body |= _scenario(page)
    _remember(page, body)


def _move_end(page: Page) -> None:
    """Remember the last page and who stands there, unless what stood there before has only moved up."""
    known = " ".join(page.named)
    if page.moved or known == page.pagination.until:
        return
    body: dict[str, Json] = {
        "collection": page.listing.urn(page.node.qualifier),
        "since": "",
        "newest": known,
        "page": page.pagination.page,
        "last": page.visit.request.url,
    }
    _remember(page, body | _scenario(page))


def _scenario(page: Page) -> dict[str, Json]:
    scenario = parse(page.visit.request.policy).scenario
    return {"scenario": scenario} if scenario else {}


def _remember(page: Page, body: JsonObject) -> None:
    node = page.node
    payload = Payload.of(body, origin="list", observed_at=page.visit.fetched.observed_at)
    url = f"{page.pagination.first.partition('?')[0]}#cursor"
    node.follow("cursor", url, page.visit.request.policy, node.context(qualifier=node.qualifier), payload=payload)


def reconcile(page: Page) -> None:
    """Compare what is stored with the pages of a complete pagination that found something changed."""
    listing, pagination, element, node = page.listing, page.pagination, page.element, page.node
    complete = listing.updates is not UpdateMode.HEAD and not (pagination.since or listing.covered_by)
    complete = complete and not (page.offline or page.excerpt or page.partial)
    if element is None or not element.endpoint or not (complete and page.known and page.changed):
        return
    if not element.parent and element.type not in _RECONCILED.get(listing.of, ()):
        return
    pages = node.urn.rpartition(":")[0]
    body = {
        "pages": [f"{pages}:{number}" for number in range(1, pagination.page)],
        "listed": page.refs,
        "type": element.type,
        "below": bool(element.parent),
    }
    payload = Payload.of(body, origin="list", observed_at=page.visit.fetched.observed_at)
    url = f"{page.visit.request.url.partition('?')[0]}#reconciliation"
    context = node.context(qualifier=node.qualifier)
    request = page.visit.request.child("reconciliation", url, page.visit.request.policy, context, payload)
    node.follow_again(request, "event", not_before=page.visit.processed_at + SETTLED)


def look_again(page: Page) -> None:
    """Ask once more for the pages of a pagination that has ended: elements that moved meanwhile may have hidden others.

    What is deleted from a page moves all behind it to earlier places, one of them from a page that is still to be read
    to one that was. The pages say so: each is asked for conditionally, so that this costs nothing where nothing moved.
    """
    pagination, listing, request = page.pagination, page.listing, page.visit.request
    if (
        pagination.page == 1
        or pagination.since
        or not (pagination.first and page.changed)
        or page.again
        or page.offline
    ):
        return
    if _CURSOR in request.url or (listing.relation and pagination.page > LOOKED_AGAIN):
        return
    if listing.updates is UpdateMode.END and pagination.until:
        return  # no page before the last one was read
    if not page.stored and page.visit.fetched.validator is None:
        return  # it cannot be asked conditionally
    if parse(request.policy).fetch is Fetch.ORIGIN_ONLY:
        return  # which asks unconditionally, so that every page would be paid for twice
    resumes = listing.updates is UpdateMode.SINCE or (listing.updates is UpdateMode.HEAD and not listing.between)
    whole = Pagination(first="" if resumes else pagination.first, newest=page.newest, known=page.known)
    renewed = request.child(request.type, pagination.first, request.policy, replace(request.context, pagination=whole))
    page.node.follow_again(replace(renewed, asked_at=page.visit.fetched.checked_at), "soon")
