"""What the documented API says, as shapes: each field's meaning is part of the API's description."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from ghcrawl.admin.site import Crew, Doing, Principal
from ghcrawl.jsontext import loads
from ghcrawl.live import Entry
from ghcrawl.model import Deadletter, Failure, QueueName, Request, iso
from ghcrawl.ports import Depth

Written = Callable[[Request], bytes]
"""A request as JSON text."""


class QueueShape(BaseModel):
    """How much one queue holds."""

    name: QueueName
    ready: int = Field(description="may be popped now")
    delayed: int = Field(description="waits for its moment")
    in_flight: int = Field(description="popped by some replica and not settled")
    total: int = Field(description="everything that is not done")
    oldest_at: str | None = Field(
        description="since when the next one has been asked for; null: nothing is ready, or nobody can say"
    )
    settled_last_minute: int = Field(description="settled from this queue by this replica, in the last minute")

    @classmethod
    def of(cls, name: QueueName, depth: Depth, settled: int) -> QueueShape:
        """The shape of a depth."""
        return cls(
            name=name,
            ready=depth.ready,
            delayed=depth.delayed,
            in_flight=depth.in_flight,
            total=depth.total,
            oldest_at=_iso(depth.oldest_at),
            settled_last_minute=settled,
        )


class QueuesShape(BaseModel):
    """All five queues, most urgent first."""

    queues: list[QueueShape]


class RequestsShape(BaseModel):
    """Requests as they wait, each as a queue's message has it."""

    requests: list[dict[str, Any]]


class PurgedShape(BaseModel):
    """How many requests were forgotten."""

    purged: int


class PushedShape(BaseModel):
    """What became of a push."""

    queued: int = Field(description="wait now because of it")
    bounced: int = Field(description="were waiting already")
    requests: list[dict[str, Any]] = Field(description="what was pushed, or would be")
    dry_run: bool


class FailureShape(BaseModel):
    """One attempt that went wrong."""

    at: str
    cause: str
    message: str
    status: int | None
    worker: str

    @classmethod
    def of(cls, failure: Failure) -> FailureShape:
        """The shape of a failure."""
        return cls(
            at=iso(failure.at),
            cause=failure.cause,
            message=failure.message,
            status=failure.status,
            worker=failure.worker,
        )


class DeadletterShape(BaseModel):
    """A request that was given up, with its whole story."""

    urn: str
    kind: str = Field(description="the class of failure: an exception's name, or http_<status>")
    reason: str
    type: str
    url: str
    policy: str
    platform: str
    queue: QueueName
    attempts: int
    first_at: str
    last_at: str
    history: list[str] = Field(description="the ancestors, nearest last, as type@url")
    failures: list[FailureShape]
    traceback: str
    request: dict[str, Any] = Field(description="the request as a queue's message has it")
    raw: str | None = Field(description="base64 of a message that was no request")

    @classmethod
    def of(cls, letter: Deadletter, written: Written) -> DeadletterShape:
        """The shape of a deadletter."""
        request = letter.request
        return cls(
            urn=letter.urn,
            kind=letter.kind,
            reason=letter.reason,
            type=request.type,
            url=request.url,
            policy=request.policy,
            platform=request.platform,
            queue=letter.queue,
            attempts=request.attempt,
            first_at=iso(letter.first_at),
            last_at=iso(letter.last_at),
            history=list(request.context.history),
            failures=[FailureShape.of(failure) for failure in letter.failures],
            traceback=letter.traceback,
            request=loads(written(request)),
            raw=None if letter.raw is None else b64encode(letter.raw).decode("ascii"),
        )


class DeadlettersShape(BaseModel):
    """A page of deadletters, newest first. next: what `after` of the next page is; null: this is the last."""

    deadletters: list[DeadletterShape]
    next: str | None


class CountsShape(BaseModel):
    """How many deadletters a filter admits."""

    total: int
    by_type: dict[str, int]
    by_kind: dict[str, int]


class RequeuedShape(BaseModel):
    """What a requeue came to, or would come to."""

    matched: int
    queued: int
    bounced: int
    unreadable: int = Field(description="stay, because they never were requests that this version can read")
    dry_run: bool


class DeletedShape(BaseModel):
    """How many were forgotten, or would be."""

    matched: int
    deleted: int
    dry_run: bool


class DocumentsShape(BaseModel):
    """A page of documents, by URN. next: what `after` of the next page is; null: this is the last."""

    documents: list[dict[str, Any]]
    next: str | None


class DocumentCountsShape(BaseModel):
    """How many documents there are that are not tombstones."""

    total: int
    by_type: dict[str, int]


class BudgetShape(BaseModel):
    """What is left of one resource of a principal."""

    resource: str
    limit: int
    remaining: int
    reset_at: str


class PrincipalShape(BaseModel):
    """One credential, without anything secret. id: the same for credentials that share a budget."""

    id: str
    label: str
    traits: list[str]
    budgets: list[BudgetShape]
    calls: int
    in_flight: int
    benched_until: str | None
    benched_for: str
    retired: str = Field(description="why it is not used; empty while it is")

    @classmethod
    def of(cls, principal: Principal) -> PrincipalShape:
        """The shape of a principal."""
        return cls(
            id=principal.id,
            label=principal.label,
            traits=list(principal.traits),
            budgets=[
                BudgetShape(resource=b.resource, limit=b.limit, remaining=b.remaining, reset_at=iso(b.reset_at))
                for b in principal.budgets
            ],
            calls=principal.calls,
            in_flight=principal.in_flight,
            benched_until=_iso(principal.benched_until),
            benched_for=principal.benched_for,
            retired=principal.retired,
        )


class PrincipalsShape(BaseModel):
    """Whoever this replica asks the platform as."""

    principals: list[PrincipalShape]


class DoingShape(BaseModel):
    """What one loop does now. type and url null: it waits for work."""

    loop: str
    since: str
    queue: QueueName | None
    type: str | None
    url: str | None
    attempt: int | None

    @classmethod
    def of(cls, doing: Doing) -> DoingShape:
        """The shape of what a loop does."""
        request = doing.request
        return cls(
            loop=doing.loop,
            since=iso(doing.since),
            queue=doing.queue,
            type=request.type if request else None,
            url=request.url if request else None,
            attempt=request.attempt if request else None,
        )


class CrewShape(BaseModel):
    """The loops of this replica."""

    worker: str
    wanted: int
    running: int
    busy: int
    paused: bool
    draining: bool
    restarts: int = Field(description="loops that died, which only a bug makes them do")
    blocked_until: str | None = Field(description="while no platform can be asked anything: when one can be again")
    trouble: str = Field(description="why nothing can be popped or made durable; empty while it can")
    doing: list[DoingShape]

    @classmethod
    def of(cls, crew: Crew) -> CrewShape:
        """The shape of a crew."""
        return cls(
            worker=crew.worker,
            wanted=crew.wanted,
            running=crew.running,
            busy=crew.busy,
            paused=crew.paused,
            draining=crew.draining,
            restarts=crew.restarts,
            blocked_until=_iso(crew.blocked_until),
            trouble=crew.trouble,
            doing=[DoingShape.of(each) for each in crew.doing],
        )


class ChangeShape(BaseModel):
    """One setting was changed by somebody. before, after: null where it was, or is, not set live."""

    at: str
    who: str
    name: str
    before: Any
    after: Any

    @classmethod
    def of(cls, entry: Entry) -> ChangeShape:
        """The shape of an entry."""
        return cls(at=iso(entry.at), who=entry.who, name=entry.name, before=entry.before, after=entry.after)


class SettingsShape(BaseModel):
    """The settings that hold. origins: where each that is no default comes from; live: what is shared by all."""

    settings: dict[str, Any]
    origins: dict[str, str]
    live: dict[str, Any]
    may_change: list[str] = Field(description="the settings that PATCH accepts")


class ChangesShape(BaseModel):
    """What was changed."""

    changes: list[ChangeShape]


class StatusShape(BaseModel):
    """Everything at a glance."""

    version: str
    at: str
    worker: str
    api_url: str
    queues: list[QueueShape]
    documents: DocumentCountsShape
    deadletters: CountsShape
    loops: CrewShape
    principals: list[PrincipalShape]
    figures: Mapping[str, Any] = Field(description="what this replica did since it started")


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)
