"""A second platform, to prove that the engine knows none: a library with shelves, pages of books, and authors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, web

from ghcrawl.platforms.contract import Open, Platform
from ghcrawl.platforms.kind import List, Thing
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.source import Credential, PrincipalView, Source
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.errors import ConfigError, FetchError, Malformed, SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import digest
from ghcrawl.values.outcome import (
    Fetched,
    Missing,
    Retrieved,
    Save,
    Throttled,
    Unchanged,
    Visit,
)
from ghcrawl.values.requests import Context, Payload, Push, Request
from ghcrawl.values.section import Section
from ghcrawl.values.visitor_map import Scenarios


def _save(visit: Visit, type: str, urn: str, follow_ups: tuple[Push, ...] = ()) -> Save:
    fetched, body = visit.fetched, visit.fetched.body
    body = body if isinstance(body, dict) else {"elements": body}
    document = Document(
        platform=visit.request.platform,
        type=type,
        url=visit.request.url,
        urn=urn,
        body=body,
        links={"self": Link(type="resource", href=urn)},
        observed_at=fetched.observed_at,
        fetched_at=fetched.checked_at,
        processed_at=visit.processed_at,
        version=visit.version,
        digest=digest(body),
        validator=fetched.validator,
        link_header=fetched.link,
    )
    return Save(document=document, follow_ups=follow_ups)


def _child(visit: Visit, type: str, url: str, policy: str, payload: Payload | None = None, *, of: str = "") -> Push:
    context = Context(qualifier=of or visit.request.context.qualifier)
    request = visit.request.child(type, url, policy, context, payload)
    return Push(request=request, queue="event" if payload else "normal")


def shelf(visit: Visit) -> Save:
    body, step = visit.fetched.body, visit.next_hops.links.get("books")
    if "id" not in body:
        raise Malformed("a shelf has an id")
    urn = f"urn:library:shelf:{body['id']}"
    pages = (_child(visit, "books", body["books"], step.pages, of=urn),) if step else ()
    return _save(visit, "shelf", urn, pages)


def books(visit: Visit) -> Save:
    follow_ups = []
    for item in visit.fetched.body if isinstance(visit.fetched.body, list) else []:
        payload = Payload.of(item, origin="list", observed_at=visit.fetched.observed_at)
        follow_ups.append(_child(visit, "book", item["url"], visit.next_hops.element or "default", payload))
    if "next" in visit.fetched.link:
        follow_ups.append(_child(visit, "books", visit.fetched.link["next"], visit.request.policy))
    return _save(visit, "books", f"urn:library:{visit.request.url.rpartition('/')[2]}", tuple(follow_ups))


def book(visit: Visit) -> Save:
    return _save(visit, "book", f"urn:library:book:{visit.fetched.body['isbn']}")


def read_spec(typed: str, api_url: str, policy: str) -> Request:
    if not typed.isdecimal():
        raise SpecError("a shelf has a number")
    return Request(platform="library", type="shelf", url=f"{api_url}/shelves/{typed}", policy=policy)


def read_branch(typed: str, _base_url: str, policy: str) -> Request:
    number, at, host = typed.partition("@")
    if not number.isdecimal() or not at:
        raise SpecError("a branch's shelf is written NUMBER@HOST")
    return Request(platform="branches", type="shelf", url=f"http://{host}/shelves/{number}", policy=policy)


class LibrarySource:
    """Asks libraries without credentials. A host that says 429 is left alone, and no other."""

    def __init__(self, session: ClientSession, platform: str, clock: Clock, observer: Observer) -> None:
        self.limited: list[Section] = []
        self._session = session
        self._platform = platform
        self._clock = clock
        self._observer = observer
        self._until: dict[str, datetime] = {}

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        now, host = self._clock.now(), urlsplit(request.url).netloc
        if (until := self._until.get(host, now)) > now:
            return Throttled(until=until, reason="primary")
        etag = stored.validator.etag if stored and stored.validator else None
        headers = {"If-None-Match": etag} if etag else {}
        try:
            async with self._session.get(request.url, headers=headers) as response:
                body = await response.json() if response.status == 200 else None
        except ClientError as error:
            raise FetchError(f"no answer from {request.url}", url=request.url) from error
        self._observer.called(
            Call(
                platform=self._platform,
                principal="reader",
                resource="main",
                status=response.status,
                seconds=0.0,
                charged=response.status == 200,
            )
        )
        if response.status == 429:
            self._until[host] = now + timedelta(seconds=float(response.headers["Retry-After"]))
            return Throttled(until=self._until[host], reason="primary")
        if response.status == 304:
            return Unchanged(checked_at=now)
        if response.status == 404:
            return Missing(status=404, detail="no such thing", observed_at=now)
        if response.status != 200:
            raise FetchError("the library is closed", url=request.url, status=response.status)
        return Fetched(
            body=body,
            url=request.url,
            observed_at=now,
            checked_at=now,
            validator=Validator(url=request.url, etag=response.headers.get("ETag")),
            link={rel: str(link["url"]) for rel, link in response.links.items()},
        )

    def blocked_until(self) -> datetime | None:
        """While every host that was asked is to be left alone."""
        now = self._clock.now()
        waits = [until for until in self._until.values() if until > now]
        return min(waits) if waits and self._platform == "library" else None

    def credential_digest(self) -> str:
        return "a reader"

    def principals(self) -> Sequence[PrincipalView]:
        return (PrincipalView(id="reader", label="reader", anonymous=True),)

    def limit(self, section: Section) -> None:
        self.limited.append(section)

    def unrecoverable(self) -> str:
        return ""

    async def use(self, credentials: Sequence[Credential]) -> None:
        raise ConfigError("a library has no credentials")


def _opening(platform: str) -> Open:
    @asynccontextmanager
    async def opened(
        section: Section, credentials: Sequence[Credential], clock: Clock, observer: Observer, egress: Egress
    ) -> AsyncIterator[Source]:
        async with ClientSession() as session:
            yield LibrarySource(session, platform, clock, observer)

    return opened


class LibrarySection(Section):
    """Where a library is."""

    api_url: str = "http://127.0.0.1:1"


LIBRARY = Platform(
    name="library",
    kinds={
        "shelf": Thing(processor=shelf, position="shelf"),
        "books": List(
            processor=books,
            position="shelf@/books",
            refusal=lambda request: f"{request.context.qualifier}:books:refused",
        ),
        "book": Thing(processor=book, position="book", immutable=True),
    },
    scenarios=Scenarios({"default": {"shelf": {"books": "book"}, "book": {}}}),
    read_spec=read_spec,
    open=_opening("library"),
    section=LibrarySection,
    base="api_url",
)
BRANCHES = replace(LIBRARY, name="branches", read_spec=read_branch, open=_opening("branches"), section=Section, base="")
"""A federated platform: every URL names its host."""


@dataclass
class LibrarySimulator:
    """Shelf 1 has `size` books, three a page."""

    size: int
    calls: list[tuple[str, int]] = field(default_factory=list)
    closed: int = 0
    limit: int | None = None

    async def answer(self, request: web.Request) -> web.Response:
        kind, number = request.path.strip("/").split("/")
        here, headers = f"http://{request.host}", {}
        body: Any = None
        if self.limit is not None and len(self.calls) >= self.limit:
            self.calls.append((request.path, 429))
            return web.Response(status=429, headers={"Retry-After": "3600"})
        if self.closed:
            self.closed -= 1
            return web.Response(status=503)
        if (kind, number) == ("shelves", "1"):
            body = {"id": 1, "books": f"{here}/books/1"}
        elif kind == "books":
            start = (int(number) - 1) * 3
            body = [{"isbn": n, "url": f"{here}/book/{n}"} for n in range(start, min(start + 3, self.size))]
            headers = {"Link": f'<{here}/books/{int(number) + 1}>; rel="next"'} if start + 3 < self.size else {}
        headers["ETag"] = f'"{digest(body)}"'
        status = 404 if body is None else 304 if request.headers.get("If-None-Match") == headers["ETag"] else 200
        self.calls.append((request.path, status))
        return web.json_response(body, status=status, headers=headers) if status == 200 else web.Response(status=status)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        app: Any = web.Application()
        app.router.add_get("/{path:.*}", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield "http://{}:{}".format(*runner.addresses[0][:2])
        finally:
            await runner.cleanup()
