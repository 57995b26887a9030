"""The event feed of a repository, an organisation or a user: recent events, polled.

Each page is a document of references, each event on it a request that carries its body. The list's cursor remembers
which events were seen, so that a poll tells only what is new. GitHub forgets: where none of those is left in the feed,
something was missed, and the owner is refreshed instead.

What stands in a feed when it is read for the first time is history, unless it happened since we began to ask: it is
kept, and nothing is asked for because of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.platforms.kind import Continuation, List
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Context, DeferredRequest, Payload, Push, Request
from processors.fields import mapping, number, text
from processors.github.document_graph import Node, again
from processors.github.events_table import EVENT_RULES
from processors.github.listing import PER_PAGE
from processors.github.names import NAME, owner_kind, scope_of
from processors.github.webhook import FALLBACK, POLICY, happened_at, urn_of

TYPE: Final = "events"
POSITION: Final = "feed"
"""The visitor map of feeds, which leads nowhere: events have one of their own."""
HISTORY: Final = f"{POLICY}:{POSITION}"
"""The policy of events that are only kept."""
REMEMBERED: Final = 400
"""How many ids of events the cursor keeps: more than the 300 that a feed ever holds."""
LAG: Final = timedelta(minutes=1)
"""How far our clock and the platform's may be apart."""
FOLLOWED: Final = ("org", "user", "repo")
"""Types that have a feed."""


def feed_request(type: str, url: str) -> Request | None:
    """For `Platform.feed`: the request that polls what happened in a thing; None where it has no feed.

    The thing itself is asked for where it is not stored, because events need its identity.
    """
    if type not in FOLLOWED:
        return None
    deferred = DeferredRequest(type=TYPE, url=f"{url}/events?per_page={PER_PAGE}", policy=f"event:{POSITION}")
    context = Context(scope=scope_of(url) or "", then=(deferred,))
    return Request(platform=NAME, type=type, url=url, policy=f"{POLICY}:self", context=context)


def cursor_urn(request: Request) -> str:
    """URN of the document that remembers which events were seen."""
    return f"{request.context.qualifier}:{TYPE}:cursor"


def resume(request: Request, cursor: Document | None) -> Request:
    """The poll that knows which events were seen before."""
    if cursor is None:
        return request
    pagination = replace(request.context.pagination, until=text(cursor.body.get("newest")))
    return replace(request, context=replace(request.context, pagination=pagination))


def process(visit: Visit) -> Save:
    """Turn one page of a feed into a document, requests for its new events, and what comes next."""
    request, body = visit.request, visit.fetched.body
    owner, pagination = request.context.qualifier, request.context.pagination
    items = body.get("elements") if isinstance(body, Mapping) else body
    if not isinstance(items, list) or owner_kind(owner) not in FOLLOWED:
        raise Malformed("a page of events is an array, below a repository, an organisation or a user")
    stored = visit.fetched.origin == "storage"
    events = [item for item in map(mapping, items) if identity_of(item)]
    elements: list[Json] = items if stored else [_reference(event, owner) for event in events]
    node = Node(
        visit,
        body={"elements": elements},
        urn=f"{owner}:{TYPE}:page:{pagination.page}",
        url=request.url,
        siblings=f"{owner}:{TYPE}",
    )
    node.link(owner_kind(owner), owner)
    if stored:
        return node.save(TYPE)
    known = frozenset(pagination.until.split())
    pushes = [Push(request=_event_request(visit, e), queue="event") for e in events if identity_of(e) not in known]
    pushes += _onward(visit, events, known)
    return Save(document=node.document(TYPE), follow_ups=tuple(pushes))


def _onward(visit: Visit, events: Sequence[JsonObject], known: frozenset[str]) -> list[Push]:
    """The next page while nothing known was met; at the end the cursor, and a refresh where something was missed."""
    request, pagination = visit.request, visit.request.context.pagination
    seen = [*pagination.newest.split(), *map(identity_of, events)]
    following = visit.fetched.link.get("next")
    met = bool(known.intersection(map(identity_of, events)))
    if following and not met:
        onward = again(request, following, page=pagination.page + 1, newest=" ".join(seen))
        return [Push(request=onward, queue="soon")]
    pushes = [_cursor(visit, [*dict.fromkeys([*seen, *pagination.until.split()])][:REMEMBERED])]
    if known and seen and not met:
        kind, url = owner_kind(request.context.qualifier), request.url.partition("?")[0].removesuffix("/events")
        context = Context(scope=request.context.scope, private=request.context.private)
        refresh = request.child(kind, url, f"refresh:{kind}", context)
        pushes.append(Push(request=replace(refresh, asked_at=visit.fetched.checked_at), queue="normal"))
    return pushes


def _cursor(visit: Visit, seen: Sequence[str]) -> Push:
    request, owner = visit.request, visit.request.context.qualifier
    body = {"collection": f"{owner}:{TYPE}", "newest": " ".join(seen)}
    payload = Payload.of(body, origin="list", observed_at=visit.fetched.observed_at)
    context = Context(qualifier=owner, scope=request.context.scope, private=request.context.private)
    url = f"{request.url.partition('?')[0]}#cursor"
    return Push(request=request.child("cursor", url, request.policy, context, payload), queue="event")


def _event_request(visit: Visit, event: JsonObject) -> Request:
    """The request that carries one event. It was known to us since the poll, so what was asked since answers it."""
    request, repo = visit.request, mapping(event.get("repo"))
    type, place = _type(event), text(repo.get("url"))
    base = f"{place}/events" if place else request.url.partition("?")[0]
    context = Context(
        qualifier=urn_of(repo, mapping(event.get("org"))) or request.context.qualifier,
        scope=text(repo.get("name")) or request.context.scope,
        private=event.get("public") is False or request.context.private,
    )
    payload = Payload.of(
        event,
        origin="event",
        observed_at=_happened_at(event, visit.fetched.observed_at) or visit.fetched.observed_at,
        received_at=visit.fetched.checked_at,
    )
    policy = POLICY if request.context.pagination.until or _since_we_began(payload.observed_at, request) else HISTORY
    child = request.child(type, f"{base}#{identity_of(event)}", policy, context, payload)
    return replace(child, asked_at=visit.fetched.checked_at)


def _since_we_began(happened_at: datetime, request: Request) -> bool:
    """Events from during a first crawl may be about pages that it had read before."""
    return request.asked_at is not None and happened_at >= request.asked_at - LAG


def _happened_at(event: JsonObject, seen_at: datetime) -> datetime | None:
    payload = mapping(event.get("payload"))
    return max(filter(None, (happened_at(payload, seen_at), happened_at(event, seen_at))), default=None)


def _type(event: JsonObject) -> str:
    type = text(event.get("type"))
    return type if type in EVENT_RULES else FALLBACK


def _reference(event: JsonObject, owner: str) -> JsonObject:
    above = urn_of(mapping(event.get("repo")), mapping(event.get("org"))) or owner
    return {"urn": f"{above}:{_type(event)}:{identity_of(event)}", "created_at": text(event.get("created_at"))}


def identity_of(event: JsonObject) -> str:
    """A delivery's id, or the feed's: a number written as text. Empty where an event has none."""
    identity = number(event.get("id"))
    return text(event.get("id")) if identity is None else str(identity)


def feed_kind() -> List:
    """The kind of all feeds."""
    return List(processor=process, position=POSITION, continuation=Continuation(cursor=cursor_urn, resume=resume))
