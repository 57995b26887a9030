"""What the documented API says, as shapes: each field's meaning is part of the API's description."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ghcrawl.ports.deadletters import DeadletterCounts
from ghcrawl.ports.queue import Depth, by_queue
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.jsontext import loads
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Request
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName, TypeNames

Written = Callable[[Request], bytes]
"""A request as JSON text."""
BY_TYPE: Final = "the same by name: `issue`, or `mastodon/status` where several platforms have a type of that name"


def _as_text(value: object) -> object:
    return iso(value) if isinstance(value, datetime) else value


MomentText = Annotated[str, BeforeValidator(_as_text)]
"""A moment as text."""


class Shown(BaseModel):
    """The shape of values that have fields of the same names."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, value: object) -> Self:
        """The shape of `value`."""
        return cls.model_validate(value)


class LaneShape(Shown):
    """How much one platform has in one queue."""

    ready: int
    delayed: int
    in_flight: int


class QueueShape(BaseModel):
    """Depth of one queue."""

    name: QueueName
    ready: int = Field(description="requests that can be popped now")
    delayed: int = Field(description="requests waiting for their scheduled time")
    in_flight: int = Field(description="requests popped by any replica and not settled")
    total: int = Field(description="ready + delayed + in_flight")
    oldest_at: str | None = Field(
        description="time at which the next request was made (on RabbitMQ: the request that this replica popped last); "
        "null: none is ready, or unknown"
    )
    settled_last_minute: int = Field(description="requests settled from this queue by this replica in the last minute")
    platforms: dict[str, LaneShape] = Field(description="the same of each platform that holds anything in this queue")

    @classmethod
    def of(cls, name: QueueName, depths: Mapping[Lane, Depth], settled: int) -> QueueShape:
        """The shape of one queue, of what all lanes hold."""
        depth = by_queue(depths)[name]
        lanes = {lane.platform: each for lane, each in depths.items() if lane.queue == name and each.total}
        return cls(
            name=name,
            ready=depth.ready,
            delayed=depth.delayed,
            in_flight=depth.in_flight,
            total=depth.total,
            oldest_at=iso_or_none(depth.oldest_at),
            settled_last_minute=settled,
            platforms={platform: LaneShape.of(each) for platform, each in sorted(lanes.items())},
        )


class QueuesShape(BaseModel):
    """All five queues, most urgent first."""

    queues: list[QueueShape]


class RequestsShape(BaseModel):
    """Requests in queue message format."""

    requests: list[dict[str, Any]]


class PurgedShape(BaseModel):
    """Number of deleted requests."""

    purged: int


class PushedShape(BaseModel):
    """Result of a push."""

    queued: int = Field(description="requests added to the queue")
    bounced: int = Field(description="requests that were already queued")
    requests: list[dict[str, Any]] = Field(description="the requests pushed, or that would be pushed")
    dry_run: bool


class FailureShape(Shown):
    """One failed attempt."""

    at: MomentText
    cause: str
    message: str
    status: int | None
    worker: str


class DeadletterShape(BaseModel):
    """A request that was dead-lettered, with its failures."""

    urn: str
    kind: str = Field(description="failure class: exception name or http_<status>")
    reason: str
    type: str
    url: str
    policy: str
    platform: str
    queue: QueueName
    attempts: int
    first_at: str
    last_at: str
    history: list[str] = Field(description="ancestors as type@url, nearest last")
    failures: list[FailureShape]
    traceback: str
    request: dict[str, Any] = Field(description="the request in queue message format")
    raw: str | None = Field(description="unreadable message, base64-encoded")

    @classmethod
    def of(cls, deadletter: Deadletter, written: Written) -> DeadletterShape:
        """The shape of a deadletter."""
        request = deadletter.request
        return cls(
            urn=deadletter.urn,
            kind=deadletter.kind,
            reason=deadletter.reason,
            type=request.type,
            url=request.url,
            policy=request.policy,
            platform=request.platform,
            queue=deadletter.queue,
            attempts=request.attempt,
            first_at=iso(deadletter.first_at),
            last_at=iso(deadletter.last_at),
            history=[str(ancestor) for ancestor in request.context.history],
            failures=[FailureShape.of(failure) for failure in deadletter.failures],
            traceback=deadletter.traceback,
            request=loads(written(request)),
            raw=None if deadletter.raw is None else b64encode(deadletter.raw).decode("ascii"),
        )


class DeadlettersShape(BaseModel):
    """A page of deadletters, newest first. next: `after` of the next page; null: last page."""

    deadletters: list[DeadletterShape]
    next: str | None


class TypeCountShape(BaseModel):
    """How many there are of one type of one platform."""

    platform: str
    type: str
    count: int

    @classmethod
    def of(cls, counts: Mapping[TypeName, int]) -> list[TypeCountShape]:
        """The shapes of counts, in order."""
        return [cls(platform=type.platform, type=type.name, count=count) for type, count in sorted(counts.items())]


class CountsShape(BaseModel):
    """Number of deadletters that match the filter."""

    total: int
    types: list[TypeCountShape]
    by_type: dict[str, int] = Field(description=BY_TYPE)
    by_kind: dict[str, int]

    @classmethod
    def of(cls, counts: DeadletterCounts) -> CountsShape:
        """The shape of these counts."""
        by_type = TypeNames(counts.by_type).shown(counts.by_type)
        types = TypeCountShape.of(counts.by_type)
        return cls(total=counts.total, types=types, by_type=by_type, by_kind=dict(counts.by_kind))


class RoundShape(BaseModel):
    """Progress of an operation on many deadletters."""

    matched: int = Field(description="deadletters that matched at the start of the call")
    left: int = Field(
        description="matching deadletters not processed yet: a call stops after about 1 s. "
        "Repeat the call until this is 0; processed deadletters are durable"
    )
    before: str | None = Field(
        description="send as `before`, with the same filter, to continue: excludes deadletters that are newer than the "
        "first call or already processed; null: none are left"
    )
    dry_run: bool


class RequeuedShape(RoundShape):
    """Result of a requeue or of its dry run."""

    queued: int = Field(description="requests added to the queue")
    bounced: int = Field(description="requests that were already queued")
    unreadable: int = Field(description="deadletters kept because they are not readable requests")


class DeletedShape(RoundShape):
    """Result of a deletion or of its dry run."""

    deleted: int


class DocumentsShape(BaseModel):
    """A page of documents, ordered by URN. next: `after` of the next page; null: last page."""

    documents: list[dict[str, Any]]
    next: str | None
    complete: bool = Field(default=True, description="false: a search that ran out of time before it saw all documents")


class DocumentCountsShape(BaseModel):
    """Number of documents, without tombstones."""

    total: int
    types: list[TypeCountShape]
    by_type: dict[str, int] = Field(description=BY_TYPE)
    entities: dict[str, int] = Field(description="`by_type` without list pages and cursors")

    @classmethod
    def of(cls, counts: Mapping[TypeName, int], entities: Collection[TypeName]) -> DocumentCountsShape:
        """The shape of these counts by type. entities: the types that are neither list pages nor cursors."""
        names = TypeNames(counts)
        by_type = dict(sorted(names.shown(counts).items()))
        shown = dict(sorted(names.shown({type: counts[type] for type in counts if type in entities}).items()))
        types = TypeCountShape.of(counts)
        return cls(total=sum(counts.values()), types=types, by_type=by_type, entities=shown)


class StoreCountsShape(DocumentCountsShape):
    """Number of documents in this store."""

    store: str = Field(description="random id that the store got when it was made; tells it from another in its place")


def iso_or_none(moment: datetime | None) -> str | None:
    """`moment` as text, where there is one."""
    return None if moment is None else iso(moment)
