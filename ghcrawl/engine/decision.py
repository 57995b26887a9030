"""Decides the outcome of a request: reads and processes, and changes neither queue nor documents."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, assert_never

from msgspec import Struct

from ghcrawl.engine import batches
from ghcrawl.engine.planning import plan
from ghcrawl.engine.recent import RecentlySettled
from ghcrawl.engine.reconciliation import reconcile
from ghcrawl.engine.retrieval import (
    Body,
    Gone,
    NoBody,
    Retrieval,
)
from ghcrawl.engine.tombstones import below, tombstone
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import Batch, Kind, List, Part, Planning, Processed, Reconciliation, Thing, alternative
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.store import Store, Touch, latest
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import (
    CrawlError,
    FetchError,
    Malformed,
    SpecError,
    Unstorable,
)
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import (
    DENIED,
    Bury,
    Defer,
    Denied,
    Fetched,
    Outcome,
    Pending,
    Refused,
    Retry,
    Save,
    Skip,
    SkipReason,
    Throttled,
    Visit,
)
from ghcrawl.values.policy import Freshness, Policy, parse
from ghcrawl.values.requests import Context, Failure, Push, Request
from ghcrawl.values.tuning import Tuning

OUTLINKS: Final = "outlinks"
"""The link from a document to pages of other sites."""
MAX_TRACEBACK = 20_000
MAX_MESSAGE = 2_000
_EVER: Final = datetime.min.replace(tzinfo=UTC)


async def _unheard(_type: str, _fields: Sequence[str]) -> None:
    """For platforms without batches."""


class Mounted(Struct, frozen=True, kw_only=True):
    """A platform with the fetcher that serves it.

    batched: types of which many can be asked for at once, just now.
    disproved: called with a type and the fields in which a batch differed from the platform's own answer.
    """

    platform: Platform
    fetcher: Fetcher
    batched: Callable[[], frozenset[str]] = frozenset
    disproved: Callable[[str, Sequence[str]], Awaitable[None]] = _unheard


def kind_of(request: Request, platforms: Mapping[str, Mounted]) -> Kind | None:
    """The kind of `request`; None: its platform is not mounted, or has no such type."""
    mounted = platforms.get(request.platform)
    return mounted.platform.kinds.get(request.type) if mounted else None


class Decision(Struct, frozen=True, kw_only=True):
    """An outcome, and what to remember of the visit where nothing is saved.

    refusal: says that a list or part was refused, see `ghcrawl.engine.refusals`.
    as_of: the moment whose truth it rests on, by our clock; None: it was looked for just now. What changed since then
    is not in it.
    also: other requests that this answers, once it is durable.
    """

    outcome: Outcome
    touch: Touch | None = None
    refusal: Document | None = None
    as_of: datetime | None = None
    also: tuple[Request, ...] = ()


class Decider:
    """Decides requests of any mounted platform. Pure but for what it reads."""

    def __init__(
        self,
        platforms: Mapping[str, Mounted],
        store: Store,
        clock: Clock,
        *,
        worker: str = "",
        recent: RecentlySettled | None = None,
    ) -> None:
        self._mounted = platforms
        self._store = store
        self._clock = clock
        self._worker = worker
        self._recent = recent or RecentlySettled()
        self._retrievals = {name: Retrieval(mounted.fetcher, store, clock) for name, mounted in platforms.items()}

    async def decide(self, request: Request, tuning: Tuning) -> Decision:
        """The outcome of `request`. Raises any error; `failed` says what that costs."""
        mounted, kind = self._mounted.get(request.platform), kind_of(request, self._mounted)
        if mounted is None or kind is None:
            return self._bury("no_processor", f"nothing here processes {request.platform}:{request.type}")
        scope = mounted.platform.scope(request)
        if not tuning.scope.admits(scope):
            return Decision(outcome=Skip(reason="excluded", detail=scope))
        if isinstance(kind, Reconciliation):
            return Decision(outcome=await reconcile(kind.comparison(request), request, self._store))
        policy = _in_scenario(tuning.scenario, parse(request.policy).placed(kind.position), mounted.platform)
        if isinstance(kind, Batch):
            return await self._batch(request, kind, policy, mounted)
        if isinstance(kind, Planning):
            outcome = await plan(kind, request, policy, mounted.platform, store=self._store, now=self._clock.now())
            return Decision(outcome=outcome, as_of=_EVER)  # it can be asked for again at once: the store goes on
        return await self._decide_processed(request, kind, policy, mounted.platform, tuning)

    async def _decide_processed(
        self, request: Request, kind: Processed, policy: Policy, platform: Platform, tuning: Tuning
    ) -> Decision:
        if request.context.deleted_at is not None:
            return await self._bury_thing(request, kind, policy, platform)
        answer = await self._retrievals[request.platform].answer(request, kind, policy)
        if isinstance(answer, Body):
            if fields := batches.differences(request, answer.fetched.body):
                await self._mounted[platform.name].disproved(request.type, fields)
            return self._process(answer, kind, policy, platform)
        if isinstance(answer, Gone):
            decision = await self._gone(answer, request, kind, platform)
        else:
            decision = self._without_body(answer, request, kind, tuning)
        if isinstance(answer, Gone | Denied | Refused) and isinstance(decision.outcome, Skip):
            return await self._remembering(decision, decision.outcome, request, kind)
        return decision

    async def _remembering(self, decision: Decision, skip: Skip, request: Request, kind: Processed) -> Decision:
        """The decision, and that it was refused, where that is worth remembering."""
        refusals, reason = self._retrievals[request.platform].refusals, skip.detail or skip.reason
        return replace(decision, refusal=await refusals.document(request, kind, reason=reason))

    async def _batch(self, request: Request, kind: Batch, policy: Policy, mounted: Mounted) -> Decision:
        """What the platform gives of the members, each to be saved separately; the others are asked for one by one."""
        retrieval, of = self._retrievals[request.platform], mounted.platform.kinds[kind.of]
        assert not isinstance(of, Batch | Planning | Reconciliation)
        places = await batches.sort(request, kind, of, retrieval, covers=self._recent.covers)
        if not places.asked:
            return Decision(outcome=Skip(reason="batched", follow_ups=places.alone))
        request = kind.chosen(request, places.asked)
        answer = await batches.ask(request, retrieval)
        if isinstance(answer, Throttled):
            return Decision(outcome=Defer(until=answer.until, reason=answer.reason))
        if not isinstance(answer, Fetched):
            alone = tuple(kind.members(request))
            detail = getattr(answer, "detail", "")
            return Decision(outcome=Skip(reason="batched", detail=detail, follow_ups=(*places.alone, *alone)))
        body = Body(request=request, fetched=answer, processes=True)
        outcome = kind.processor(self._visit(body, kind.version, policy, mounted.platform))
        return Decision(
            outcome=Skip(reason="batched", follow_ups=(*places.alone, *outcome.follow_ups)),
            as_of=answer.checked_at,
            also=batches.dealt_with(request, kind, outcome.follow_ups),
        )

    def _visit(self, body: Body, version: int, policy: Policy, platform: Platform) -> Visit:
        own = body.request.payload is None or body.fetched.origin == "batch"  # which was asked for as it would be alone
        return Visit(
            request=body.request,
            fetched=body.fetched,
            next_hops=platform.scenarios.next_hops(policy.spec),
            version=version,
            processed_at=self._clock.now(),
            known=body.stored is not None,
            visited=body.stored is not None and policy.stands_where(body.stored.visits),
            stored_urn=body.stored.urn if body.stored else "",
            batched=self._mounted[platform.name].batched(),
            visits={policy.spec: body.fetched.checked_at} if own else {},
        )

    def _process(self, body: Body, kind: Processed, policy: Policy, platform: Platform) -> Decision:
        visit, as_of = self._visit(body, kind.version, policy, platform), _as_of(body)
        outcome = kind.processor(visit)
        if isinstance(outcome, Skip):
            return Decision(outcome=outcome, as_of=as_of)
        document = outcome.document
        follow_ups = (*outcome.follow_ups, *self._outlinks(document, body.request, policy, platform))
        if body.stored is not None and not _worth_saving(document, body, kind, policy):
            unchanged = Skip(reason="unchanged", follow_ups=follow_ups)
            return Decision(outcome=unchanged, touch=_touch(body, body.stored.urn, policy), as_of=as_of)
        visits = visit.visits
        if body.stored is not None and _moved(document, body) and body.stored.said(document):
            visits = latest(body.stored.visits, visits)
        if document.visits is not visits:
            document = replace(document, visits=visits)
        saved = Save(document=document, follow_ups=follow_ups, supersede=outcome.supersede)
        return Decision(outcome=saved, as_of=as_of)

    def _outlinks(self, document: Document, request: Request, policy: Policy, platform: Platform) -> Iterator[Push]:
        """The pages of other platforms that a document links to, if its scenario follows them."""
        link = document.links.get(OUTLINKS)
        if link is None or OUTLINKS not in platform.scenarios.next_hops(policy.spec).links:
            return
        others = [mounted.platform for mounted in self._mounted.values() if mounted.platform is not platform]
        for url in dict.fromkeys(link.hrefs or filter(None, [link.href])):
            for page in filter(None, (other.page(url) for other in others)):
                child = request.child(page.type, page.url, policy.name, Context())
                yield Push(request=replace(child, platform=page.platform), queue="later")

    async def _gone(self, gone: Gone, request: Request, kind: Processed, platform: Platform) -> Decision:
        """A tombstone for what we hold; for what a person asked for by another name, that other name."""
        detail = f"{gone.missing.status} {gone.missing.detail}"
        other = alternative(kind, request)
        named = "" if other else request.context.urn  # it may still be where `other` looks
        urn = gone.stored.urn if gone.stored else named
        document = await self._store.get(urn) if urn else None
        if document is None:
            follow_ups = (Push(request=other, queue="immediate"),) if other else ()
            return Decision(outcome=Skip(reason="missing", detail=detail, follow_ups=follow_ups))
        if gone.missing.anonymous and _may_be_hidden(kind, document):
            return Decision(outcome=Skip(reason="denied_credential", detail=f"{detail}, without a credential"))
        return await self._tombstone(document, request, platform, at=gone.missing.observed_at, reason=detail)

    async def _bury_thing(self, request: Request, kind: Processed, policy: Policy, platform: Platform) -> Decision:
        """A reliable source says that it is deleted: a tombstone of our copy, else of what the source knows of it."""
        deleted_at = request.context.deleted_at
        assert deleted_at is not None
        named: Document | None = None
        if request.payload is not None:
            answer = await self._retrievals[request.platform].answer(request, kind, policy)
            assert isinstance(answer, Body)
            outcome = self._process(answer, kind, policy, platform).outcome
            named = outcome.document if isinstance(outcome, Save) else None
        document = await self._store.get(named.urn if named else request.context.urn) or named
        if document is None:
            return Decision(outcome=Skip(reason="missing", detail="not stored"))
        if named is not None:
            document = replace(document, changed_at=max(document.changed_at, named.changed_at))
        return await self._tombstone(document, request, platform, at=deleted_at, reason="event")

    async def _tombstone(
        self, document: Document, request: Request, platform: Platform, *, at: datetime, reason: str
    ) -> Decision:
        now = self._clock.now()
        follow_ups = await below(document, request, at, store=self._store, kinds=platform.kinds, now=now)
        if document.deleted_at is not None:
            return Decision(outcome=Skip(reason="missing", detail=reason, follow_ups=follow_ups))
        dead = tombstone(document, deleted_at=at, reason=reason, processed_at=now)
        return Decision(outcome=Save(document=dead, follow_ups=follow_ups))

    def _without_body(
        self, answer: NoBody | Pending | Throttled | Denied | Refused, request: Request, kind: Processed, tuning: Tuning
    ) -> Decision:
        match answer:
            case NoBody(reason=reason, detail=detail):
                return unasked(request, reason, detail)
            case Throttled(until=until, reason=reason):
                return Decision(outcome=Defer(until=until, reason=reason))
            case Denied(reason=reason, detail=detail):
                return Decision(outcome=Skip(reason=DENIED[reason], detail=detail))
            case Refused(status=422, detail=detail) if (shown := _too_much(request, kind)) is not None:
                return Decision(outcome=Skip(reason=shown, detail=detail))
            case Refused(status=status, reason=reason, detail=detail):
                return self._bury(f"http_{status}" if status else reason, detail, status=status or None)
            case Pending(wait_s=wait_s, detail=detail) if request.attempt + 1 < tuning.max_attempts:
                return Decision(outcome=Retry(failure=self._failure("http_202", detail, status=202), wait_s=wait_s))
            case Pending(detail=detail):
                return Decision(outcome=Skip(reason="not_ready", detail=detail))
            case _:
                assert_never(answer)

    def failed(self, error: Exception) -> Decision:
        """What an error costs: a retry, or a dead letter where none can help."""
        text = "".join(traceback.format_exception(error))[-MAX_TRACEBACK:]
        status = error.status if isinstance(error, FetchError) else None
        failure = self._failure(cause_of(error), _sentence(error), status=status)
        if isinstance(error, Malformed | SpecError | Unstorable):
            return Decision(outcome=Bury(failure=failure, traceback=text))
        return Decision(outcome=Retry(failure=failure, traceback=text))

    def _bury(self, cause: str, message: str, *, status: int | None = None) -> Decision:
        return Decision(outcome=Bury(failure=self._failure(cause, message, status=status)))

    def _failure(self, cause: str, message: str, *, status: int | None = None) -> Failure:
        at = self._clock.now()
        return Failure(at=at, cause=cause, message=message[:MAX_MESSAGE], status=status, worker=self._worker)


def cause_of(error: Exception) -> str:
    """The class of a failed attempt, as `docs/operations.md` explains them."""
    match error:
        case FetchError():
            return error.cause
        case Malformed():
            return "malformed"
        case SpecError():
            return "invalid_request"
        case Unstorable():
            return "unstorable"
        case TimeoutError():
            return "timeout"
        case _:
            return "internal_error"


def _sentence(error: Exception) -> str:
    """What happened, for a person."""
    match error:
        case CrawlError():
            return str(error)
        case TimeoutError():
            return "the attempt took longer than crawl.timeout_s"
        case _:
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return f"unexpected error in ghcrawl ({said}); the traceback is kept"


def _as_of(body: Body) -> datetime | None:
    """A policy that accepts a copy from before it was asked accepts one for everything asked meanwhile, too."""
    asked_at, checked_at = body.request.asked_at, body.fetched.checked_at
    return None if asked_at is not None and checked_at < asked_at else checked_at


def unasked(request: Request, reason: SkipReason, detail: str = "") -> Decision:
    """Skip without asking the platform: nothing is known that was not when `request` was made."""
    return Decision(outcome=Skip(reason=reason, detail=detail), as_of=request.asked_at or _EVER)


def _in_scenario(scenario: str, policy: Policy, platform: Platform) -> Policy:
    """The policy in the scenario of this moment, unless it names one, or stands where that scenario has no map."""
    if not scenario or policy.scenario:
        return policy
    wanted = replace(policy, scenario=scenario)
    try:
        platform.scenarios.next_hops(wanted.spec)
    except SpecError:
        return policy
    return wanted


def _too_much(request: Request, kind: Processed) -> SkipReason | None:
    """Why the platform answers 422 where that is how it is: it shows no more of a list, or too large a part."""
    if request.context.pagination.page > 1:
        return "list_capped"
    return "too_large" if isinstance(kind, Part) and kind.limited else None


def _may_be_hidden(kind: Processed, document: Document) -> bool:
    """Whether a 404 without a credential may only mean that one is needed. A list is gone with what it is of."""
    return isinstance(kind, List) or (isinstance(kind, Thing) and kind.private(document))


def _worth_saving(document: Document, body: Body, kind: Processed, policy: Policy) -> bool:
    """Whether a body that could be saved differs from the stored one in anything that its policy cares for."""
    stored = body.stored
    if not body.processes or stored is None:
        return body.processes
    if policy.freshness not in (Freshness.MATCH, Freshness.DAYS):
        return True
    if _moved(document, body):
        return True
    return not stored.said(document) or stored.deleted_at is not None or stored.version < kind.version


def _moved(document: Document, body: Body) -> bool:
    """Whether it is the same page in a new generation of its relation, which ends the older one."""
    return body.stored is not None and body.stored.urn != document.urn and body.fetched.origin != "storage"


def _touch(body: Body, urn: str, policy: Policy) -> Touch:
    assert body.stored is not None
    asked = body.fetched.checked_at > body.stored.checked_at
    return Touch(
        urn=urn,
        type_name=body.stored.type_name,
        policy=policy.spec,
        visited_at=body.fetched.checked_at,
        checked_at=body.fetched.checked_at if asked else None,
        validator=body.fetched.validator,
    )
