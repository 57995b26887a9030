"""Where a request's body comes from by its policy: its payload, the store or the platform.

Writes nothing. Knows no platform: the platform's own manners are behind the `Fetcher` port.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from ghcrawl.engine.refusals import Refusals
from ghcrawl.platforms.kind import Continuation, Event, List, Processed, Thing, refusal_of
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.store import Store, Stored
from ghcrawl.values.documents import Document
from ghcrawl.values.outcome import (
    Denied,
    Fetched,
    Missing,
    Pending,
    Refused,
    Retrieved,
    SkipReason,
    Throttled,
    Unchanged,
)
from ghcrawl.values.policy import Fetch, Policy, parse
from ghcrawl.values.requests import Request
from ghcrawl.values.ties import unsettled

_LENIENT: Final = frozenset({Fetch.MUTABLES, Fetch.STORAGE_ORIGIN_IF_MISSING})
"""Modes for which what is known will do; the others want the platform's own word."""


class Body(Struct, frozen=True, kw_only=True):
    """A body, and whether it is to be processed and saved or only traversed.

    request: as it was really asked; a list may have been continued from where an earlier crawl stopped.
    stored: the copy that was there before, if any.
    """

    request: Request
    fetched: Fetched
    processes: bool
    stored: Stored | None = None


class NoBody(Struct, frozen=True, kw_only=True):
    """There is nothing to process, and why."""

    reason: SkipReason
    detail: str = ""


class Gone(Struct, frozen=True, kw_only=True):
    """The platform no longer has (or no longer shows) it.

    stored: the copy that becomes a tombstone; None where we hold nothing but the memory of a refusal.
    """

    missing: Missing
    stored: Stored | None


Answer = Body | NoBody | Gone | Pending | Throttled | Denied | Refused


class Retrieval(Struct, frozen=True):
    """Answers requests of one platform."""

    fetcher: Fetcher
    store: Store
    clock: Clock

    @property
    def refusals(self) -> Refusals:
        """What is remembered of refusals here."""
        return Refusals(self.fetcher, self.store, self.clock)

    async def answer(self, request: Request, kind: Processed, policy: Policy) -> Answer:
        """The body of `request`, or why there is none. Raises FetchError, StoreError."""
        if request.payload is not None:
            if isinstance(kind, Event) and await self.store.look_up(request.type_name, request.url) is not None:
                return NoBody(reason="visited")
            return _from_payload(request, checked_at=self.clock.now())
        mode = policy.mode(immutable=isinstance(kind, Event) or (isinstance(kind, Thing) and kind.immutable))
        if mode in (Fetch.ORIGIN_STORAGE, Fetch.ORIGIN_ONLY):
            return await self._from_origin(request, kind, policy, conditional=mode is Fetch.ORIGIN_STORAGE)
        stored = await self.look_up(request)
        if stored is not None and (stored.answers or policy.fetch is not Fetch.MUTABLES):
            if answered(request, policy, stored):
                return NoBody(reason="visited")
            body = await self._from_storage(request, kind, policy, stored)
            if body is not None:
                return body
        if mode is Fetch.STORAGE_ONLY:
            return NoBody(reason="not_stored")
        return await self._from_origin(request, kind, policy, conditional=True, missing=stored is None)

    async def _from_origin(
        self, request: Request, kind: Processed, policy: Policy, *, conditional: bool, missing: bool = False
    ) -> Answer:
        """missing: it was looked up, and is not stored."""
        resumed = await self._resumed(request, kind, conditional=conditional)
        if isinstance(resumed, NoBody):
            return resumed
        stored = None if missing and resumed is request else await self.look_up(resumed)
        request = resumed
        if stored is None and request.context.only_known and not await self._expected(request, kind):
            return NoBody(reason="not_known")
        known = await self._from_known(request, kind, policy, stored)
        believes = conditional and not policy.complete  # an audit looks for what changed without a newer date
        if known is None and believes and stored is not None and current(request, stored):
            known = await self._from_storage(request, kind, policy, stored)
        if known is not None:
            return known
        asks = conditional and stored is not None and stored.deleted_at is None and not request.context.pagination.fresh
        retrieved = await self.fetcher.fetch(request, stored if asks else None)
        if isinstance(retrieved, Unchanged) and stored is not None:
            new = _new_in_its_scenario(request, policy, stored)
            body = None if new else await self._from_storage(request, kind, policy, stored, checked=retrieved)
            if body is not None:
                return body
            retrieved = await self.fetcher.fetch(request, None)
        return _read(retrieved, request, kind, policy, stored)

    async def _expected(self, request: Request, kind: Processed) -> bool:
        """Whether a thing that we do not hold lies in one that we do: the request that told of it still waits.

        A list that is continued was looked for by its cursor, and a later page was led to by the first.
        """
        continuation = _continuation(kind)
        if request.context.pagination.page > 1:
            return True
        if continuation is not None and not continuation.optional(request):
            return True
        context = request.context
        around = await self.store.get(context.qualifier) if context.urn and context.qualifier else None
        return around is not None and around.deleted_at is None

    async def _from_known(
        self, request: Request, kind: Processed, policy: Policy, stored: Stored | None
    ) -> Answer | None:
        """What there is to say without asking; None: ask."""
        if stored is not None and stored.answers and self._fresh_enough(request, policy, stored):
            if answered(request, policy, stored):
                return NoBody(reason="visited")
            return await self._from_storage(request, kind, policy, stored)
        if policy.fetch not in _LENIENT:
            return None
        return NoBody(reason="still_refused") if await self.refusals.stands(request, kind, stored) else None

    async def look_up(self, request: Request) -> Stored | None:
        """Our copy by its URL, or by what it is called: then it had another URL when we saw it last."""
        stored = await self.store.look_up(request.type_name, request.url)
        if stored is None and request.context.urn:
            document = await self.store.get(request.context.urn)
            stored = await self.store.look_up(request.type_name, document.url) if document else None
            return stored if stored is not None and stored.urn == request.context.urn else None  # or it lost that, too
        return stored

    async def _resumed(self, request: Request, kind: Processed, *, conditional: bool) -> Request | NoBody:
        """The request that continues where an earlier crawl stopped, or why there is nothing to ask."""
        continuation = _continuation(kind)
        if continuation is None or request.context.pagination.page > 1:
            return request
        cursor: Document | None = await self.store.get(continuation.cursor(request))
        if cursor is not None and cursor.deleted_at is not None:
            cursor = None  # what it was a cursor of was gone meanwhile, and so is what it remembers
        if cursor is None and request.context.only_known and not continuation.optional(request):
            return NoBody(reason="not_known")
        resumed = continuation.resume(request, cursor if conditional else None)
        if resumed is not None:
            return resumed
        kept = await self.store.look_up(request.type_name, request.url)
        return request if kept is None else NoBody(reason="visited")  # the process died between the cursor and its page

    def _fresh_enough(self, request: Request, policy: Policy, stored: Stored) -> bool:
        """Whether our copy answers the request as well as the platform would."""
        if request.asked_at is not None and stored.checked_at >= request.asked_at:
            return not request.context.pagination.fresh
        return policy.young(stored.checked_at, self.clock.now())

    async def _from_storage(
        self,
        request: Request,
        kind: Processed,
        policy: Policy,
        stored: Stored,
        *,
        checked: Unchanged | None = None,
    ) -> Body | None:
        document = await self.store.get(stored.urn)
        if document is None or document.deleted_at is not None:
            return None
        fetched = Fetched(
            body=document.body,
            url=document.url,
            observed_at=document.observed_at,
            checked_at=checked.checked_at if checked else stored.checked_at,
            origin="storage",
            validator=checked.validator if checked else None,
            link=document.link_header,
        )
        processes = policy.processes(current=True, stored_version=stored.version, version=kind.version)
        return Body(request=request, fetched=fetched, processes=processes, stored=stored)


def _continuation(kind: Processed) -> Continuation | None:
    return kind.continuation if isinstance(kind, List) else None


def answered(request: Request, policy: Policy, stored: Stored) -> bool:
    """Whether this was settled, under the same policy, since the request was asked for."""
    visited = stored.visits.get(policy.spec)
    if request.context.then:
        return False
    return request.asked_at is not None and visited is not None and visited >= request.asked_at


def current(request: Request, stored: Stored) -> bool:
    """Whether our copy, which cannot be asked about conditionally, was seen after the last change that there can be."""
    changed_at, pagination = request.context.changed_at, request.context.pagination
    if stored.validator is not None or not stored.answers or not changed_at or pagination.fresh:
        return False
    return stored.deleted_at is None and not unsettled(changed_at, stored.observed_at)


def _new_in_its_scenario(request: Request, policy: Policy, stored: Stored) -> bool:
    """Whether this page of a list was never read in this scenario: of its elements we kept no more than their names.

    Not where a pagination only goes on to what is known.
    """
    pagination = request.context.pagination
    return (
        bool(pagination.first)
        and not pagination.until
        and policy.scenario not in {parse(s).scenario for s in stored.visits}
    )


def _from_payload(request: Request, *, checked_at: datetime) -> Body:
    assert request.payload is not None
    payload = request.payload
    fetched = Fetched(
        body=payload.body,
        url=request.url,
        observed_at=payload.observed_at,
        checked_at=payload.received_at or checked_at,
        origin=payload.origin,
        validator=payload.validator,
    )
    return Body(request=request, fetched=fetched, processes=True)


def _read(retrieved: Retrieved, request: Request, kind: Processed, policy: Policy, stored: Stored | None) -> Answer:
    """The answer in what the platform said."""
    match retrieved:
        case Fetched():
            version = stored.version if stored and stored.deleted_at is None else None
            processes = policy.processes(current=False, stored_version=version, version=kind.version)
            return Body(request=request, fetched=retrieved, processes=processes, stored=stored)
        case Missing():
            refused = stored is not None and stored.urn == refusal_of(kind, request)
            return Gone(missing=retrieved, stored=None if refused else stored)
        case Unchanged():
            return NoBody(reason="unchanged_unasked", detail=f"{request.url} answered 304 to an unconditional request")
        case _:
            return retrieved
