"""How a visit becomes a document and follow-ups, on platforms whose answers are taken as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ghcrawl.platforms.kind import Comparison
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.jsontext import Json, JsonObject, digest
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Context, Pagination, Payload, Push, Request


def mapping(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Json) -> list[JsonObject]:
    """The objects in `value`, if it is an array."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def text(value: Json) -> str:
    """`value` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def resource(urn: str) -> Link:
    """A link to one document."""
    return Link(type="resource", href=urn)


def resources(urns: Iterable[str]) -> Link:
    """A link to several, each once, in their order."""
    return Link(type="resource", hrefs=tuple(dict.fromkeys(urns)))


def save(  # noqa: PLR0913  # what a document is made of
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
    request, fetched = visit.request, visit.fetched
    place, *others = dict.fromkeys((url or request.url, *filter(None, aliases)))
    document = Document(
        platform=request.platform,
        type=request.type,
        url=place,
        urn=urn,
        body=body,
        links={"self": resource(urn), **links},
        changed_at=changed_at,
        observed_at=fetched.observed_at,
        fetched_at=fetched.checked_at,
        processed_at=visit.processed_at,
        version=visit.version,
        digest=digest(body),
        validator=fetched.validator,
        link_header=fetched.link,
        root=request.root or request.name,
        origin=fetched.origin,
        aliases=tuple(others),
        visits=visit.visits,
    )
    return Save(document=document, follow_ups=tuple(follow_ups))


def carried(visit: Visit, type: str, url: str, policy: str, body: JsonObject, *, of: str = "") -> Push:
    """A thing that came with this answer: it needs no call. of: URN of what it lies in."""
    fetched = visit.fetched
    payload = Payload.of(body, origin="list", observed_at=fetched.observed_at, received_at=fetched.checked_at)
    return Push(request=visit.request.child(type, url, policy, Context(qualifier=of), payload), queue="event")


def asked(
    visit: Visit, type: str, url: str, policy: str, *, of: str = "", pagination: Pagination | None = None
) -> Push:
    """Something to ask for. of: URN of what it belongs to."""
    context = Context(qualifier=of, pagination=pagination or Pagination())
    return Push(request=visit.request.child(type, url, policy, context), queue="normal")


def comparison(request: Request, *, type: str) -> Comparison:
    """The complete list of `type` that a request carries: URNs of its pages, elements of the last one."""
    body = request.payload.body if request.payload else {}
    pages = body.get("pages")
    return Comparison(
        pages=tuple(text(urn) for urn in pages) if isinstance(pages, list) else (),
        listed={text(each.get("urn")): text(each.get("url")) for each in mappings(body.get("listed"))},
        type=type,
        owner=request.context.qualifier,
        below=True,
    )
