"""Documents and follow-ups of a visit: the parts that platforms share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ghcrawl.platforms.kind import Comparison
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.forms import Forms
from ghcrawl.values.jsontext import Json, JsonObject, digest
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Context, Pagination, Payload, Push, Request
from processors.fields import mapping, mappings, sequence, text

HOLDS: Final = "holds"
"""The link from a page to the page after it, which is deleted with it."""


def resource(urn: str) -> Link:
    """A link to one document."""
    return Link(type="resource", href=urn)


def resources(urns: Iterable[str]) -> Link:
    """A link to several, each once, in their order."""
    return Link(type="resource", hrefs=tuple(dict.fromkeys(urns)))


# Documents ------------------------------------------------------------------------------------------------------


def document(  # noqa: PLR0913  # what a document is made of
    visit: Visit,
    *,
    type: str,
    url: str,
    urn: str,
    body: JsonObject,
    links: Mapping[str, Link],
    checksum: str,
    aliases: tuple[str, ...] = (),
    changed_at: str = "",
    forms: Forms | None = None,
) -> Document:
    """The document that a visit leads to, with everything that the visit itself tells."""
    request, fetched = visit.request, visit.fetched
    return Document(
        platform=request.platform,
        type=type,
        url=url,
        urn=urn,
        body=body,
        links=links,
        changed_at=changed_at,
        observed_at=fetched.observed_at,
        fetched_at=fetched.checked_at,
        processed_at=visit.processed_at,
        version=visit.version,
        digest=checksum,
        validator=fetched.validator,
        link_header=fetched.link,
        root=request.root or request.name,
        origin=fetched.origin,
        aliases=aliases,
        visits=visit.visits,
        forms=forms or {},
    )


def save(  # noqa: PLR0913  # the same
    visit: Visit,
    urn: str,
    body: JsonObject,
    links: Mapping[str, Link],
    follow_ups: Iterable[Push] = (),
    *,
    url: str = "",
    aliases: Iterable[str] = (),
    changed_at: str = "",
) -> Save:
    """The document, and what comes after it. url: its own, if not the request's; aliases: others that lead to it."""
    place, *others = dict.fromkeys((url or visit.request.url, *filter(None, aliases)))
    saved = document(
        visit,
        type=visit.request.type,
        url=place,
        urn=urn,
        body=body,
        links={"self": resource(urn), **links},
        checksum=digest(body),
        aliases=tuple(others),
        changed_at=changed_at,
    )
    return Save(document=saved, follow_ups=tuple(follow_ups))


# Follow-ups -----------------------------------------------------------------------------------------------------


def payload_of(visit: Visit, body: JsonObject) -> Payload:
    """A part of an answer that is a thing of its own. It answers nothing that was asked after this was looked at."""
    fetched = visit.fetched
    return Payload.of(body, origin="list", observed_at=fetched.observed_at, received_at=fetched.checked_at)


def to_save(visit: Visit, type: str, url: str, policy: str, body: JsonObject, *, of: str = "") -> Push:
    """A request that carries its answer, so it needs no call. of: URN of what the thing lies in."""
    request = visit.request.child(type, url, policy, Context(qualifier=of), payload_of(visit, body))
    return Push(request=request, queue="event")


def to_fetch(
    visit: Visit, type: str, url: str, policy: str, *, of: str = "", pagination: Pagination | None = None
) -> Push:
    """A request that takes a call. of: URN of what the thing belongs to."""
    context = Context(qualifier=of, pagination=pagination or Pagination())
    return Push(request=visit.request.child(type, url, policy, context), queue="normal")


def follow_list(visit: Visit, type: str, url: str, *, of: str = "") -> list[Push]:
    """Fetch the first page of a list if the visitor map follows the link of that name."""
    policy = visit.next_hops.pages(type)
    return [to_fetch(visit, type, url, policy, of=of)] if policy is not None else []


def follow_thing(visit: Visit, link: str, type: str, url: str, body: JsonObject | None = None) -> list[Push]:
    """Follow a link to one thing if the visitor map does. body: of the thing; None: it is fetched."""
    policy = visit.next_hops.thing(link)
    if policy is None:
        return []
    return [to_fetch(visit, type, url, policy) if body is None else to_save(visit, type, url, policy, body)]


# Pages ----------------------------------------------------------------------------------------------------------


def next_page(visit: Visit, url: str, *, of: str | None = None) -> Push:
    """The request for the page after this one. of: as of `to_fetch`, if not that of this page."""
    request = visit.request
    before = request.context.pagination
    pagination = Pagination(page=before.page + 1, first=before.first or request.url)
    owner = request.context.qualifier if of is None else of
    return to_fetch(visit, request.type, url, request.policy, of=owner, pagination=pagination)


def delete_next_page(visit: Visit, urn: str) -> Push:
    """Delete the page behind the last one. urn: of that page."""
    request = visit.request
    context = Context(urn=urn, deleted_at=visit.fetched.observed_at)
    return Push(request=request.child(request.type, f"{request.url}#end", request.policy, context), queue="event")


def references(found: Iterable[tuple[str, str]]) -> list[JsonObject]:
    """Elements as a page keeps them: URN and URL of each."""
    return [{"urn": urn, "url": url} for urn, url in found]


def reconcile(visit: Visit, pages: Sequence[str], listed: Sequence[JsonObject], owner: str, *, mark: str) -> Push:
    """Compare what is stored with a complete list: URNs of its pages, elements of the last one. mark: of its URL."""
    request = visit.request
    body = {"pages": [*pages], "listed": [*listed]}
    payload = Payload.of(body, origin="list", observed_at=visit.fetched.observed_at)
    url = f"{request.context.pagination.first or request.url}#{mark}"
    child = request.child("listing", url, request.policy, Context(qualifier=owner), payload)
    return Push(request=child, queue="soon")


def comparison(request: Request, *, type: str) -> Comparison:
    """The complete list of `type` that a request from `reconcile` carries."""
    body: Mapping[str, Json] = request.payload.body if request.payload else {}
    return Comparison(
        pages=tuple(map(text, sequence(body.get("pages")))),
        listed={text(each["urn"]): text(each.get("url")) for each in mappings(body.get("listed")) if each.get("urn")},
        type=type,
        owner=request.context.qualifier,
        below=True,
    )


def elements_of(body: Json, *names: str) -> list[JsonObject]:
    """The elements of a page: the answer itself, or what it holds under the first of these names; our own copy's."""
    found = (mappings(mapping(body).get(name)) for name in (*names, "elements"))
    return mappings(body) or next(filter(None, found), [])
