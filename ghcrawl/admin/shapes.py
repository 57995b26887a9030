"""What the documented API says, as shapes: each field's meaning is part of the API's description."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from ghcrawl.jsontext import loads
from ghcrawl.model import Deadletter, Failure, QueueName, Request, iso
from ghcrawl.ports import DeadletterCounts, Depth

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
        description="since when the next one has been asked for (on RabbitMQ: the last one that this replica popped); "
        "null: nothing is ready, or nobody can say"
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
            oldest_at=iso_or_none(depth.oldest_at),
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

    @classmethod
    def of(cls, counts: DeadletterCounts) -> CountsShape:
        """The shape of these counts."""
        return cls(total=counts.total, by_type=dict(counts.by_type), by_kind=dict(counts.by_kind))


class RoundShape(BaseModel):
    """How far many deadletters are worked on within one answer."""

    matched: int = Field(description="were meant when the call began")
    left: int = Field(
        description="of these, how many there was no time for: one answer takes about a second. "
        "Repeat the call until this is 0; what was done is durable"
    )
    before: str | None = Field(
        description="what to send as `before` with the same filter when the call is repeated, so that what is given up "
        "meanwhile is not meant and what was passed over is not looked at again; null: none are left"
    )
    dry_run: bool


class RequeuedShape(RoundShape):
    """What a requeue came to, or would come to."""

    queued: int = Field(description="wait now because of it")
    bounced: int = Field(description="waited already")
    unreadable: int = Field(description="stay, because they never were requests that this version can read")


class DeletedShape(RoundShape):
    """How many were forgotten, or would be."""

    deleted: int


class DocumentsShape(BaseModel):
    """A page of documents, by URN. next: what `after` of the next page is; null: this is the last."""

    documents: list[dict[str, Any]]
    next: str | None


class DocumentCountsShape(BaseModel):
    """How many documents there are that are not tombstones."""

    total: int
    by_type: dict[str, int]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> DocumentCountsShape:
        """The shape of these counts by type."""
        return cls(total=sum(counts.values()), by_type=dict(sorted(counts.items())))


def iso_or_none(moment: datetime | None) -> str | None:
    """`moment` as text, where there is one."""
    return None if moment is None else iso(moment)
