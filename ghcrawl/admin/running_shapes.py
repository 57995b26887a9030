"""What the documented API says of the service itself: loops, principals, settings, and everything at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from ghcrawl.admin.shapes import CountsShape, DocumentCountsShape, MomentText, QueueShape, Shown
from ghcrawl.telemetry.instrumented import Turn
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.times import iso


class BudgetShape(Shown):
    """Quota of one rate-limited resource of a principal."""

    resource: str
    limit: int
    remaining: int
    reset_at: MomentText
    main: bool = Field(description="most calls are charged to it")


class PrincipalShape(Shown):
    """One credential, without its secret. id: equal for credentials that share a rate limit."""

    id: str
    platform: str
    label: str
    host: str = Field(description="the only host at which it is used; empty: any of its platform")
    traits: list[str]
    budgets: list[BudgetShape]
    calls: int
    in_flight: int
    anonymous: bool = Field(description="requests are sent without a credential")
    benched_until: MomentText | None
    benched_for: str
    retired: str = Field(description="why it is disabled; empty: in use")


class DifferenceShape(BaseModel):
    """Batches of a type that differed from the platform's own answers, in these fields: no replica uses them."""

    platform: str
    type: str
    fields: list[str]


class PrincipalsShape(BaseModel):
    """The principals of this replica, and what any replica found to differ until the version changes."""

    principals: list[PrincipalShape]
    differences: list[DifferenceShape] = []


class DoingShape(BaseModel):
    """The request a worker processes. platform, type and url null: the worker is idle."""

    loop: str
    since: str
    queue: QueueName | None
    platform: str | None
    type: str | None
    url: str | None
    attempt: int | None

    @classmethod
    def of(cls, turn: Turn) -> DoingShape:
        """The shape of what a loop does."""
        request = turn.request
        return cls(
            loop=turn.loop,
            since=iso(turn.since),
            queue=turn.queue,
            platform=request.platform if request else None,
            type=request.type if request else None,
            url=request.url if request else None,
            attempt=request.attempt if request else None,
        )


class UnreachableShape(Shown):
    """A platform that does not answer."""

    since: MomentText
    reason: str


class UnreachableHostShape(Shown):
    """A host that does not answer."""

    platform: str
    base_url: str
    since: MomentText
    reason: str


class WorkersShape(Shown):
    """The workers of this replica. worker: the name of the replica."""

    worker: str
    wanted: int
    running: int
    busy: int
    paused: bool
    draining: bool
    restarts: int = Field(description="workers restarted after a crash, which is a bug")
    blocked_until: MomentText | None = Field(
        description="earliest time of the next API call while all platforms are blocked; null: not blocked"
    )
    blocked: dict[str, MomentText] = Field(
        description="platforms that cannot be asked just now: when each can be again"
    )
    unreachable: dict[str, UnreachableShape] = Field(description="platforms that do not answer")
    unreachable_hosts: list[UnreachableHostShape] = Field(description="hosts that do not answer, the first ten")
    trouble: str = Field(description="why the queue or the store fails; empty: both work")
    doing: list[Annotated[DoingShape, BeforeValidator(DoingShape.of)]]


class ChangeShape(Shown):
    """One change of a live setting. before, after: null if unset."""

    at: MomentText
    who: str
    name: str
    before: Any
    after: Any


class SettingsShape(BaseModel):
    """All settings. origins: source of each non-default value; live: values shared by all replicas."""

    settings: dict[str, Any]
    origins: dict[str, str]
    live: dict[str, Any]
    may_change: list[str] = Field(description="the settings that PATCH accepts")
    not_understood: dict[str, str] = Field(
        description="live settings that this version does not support, with the reason; they are ignored"
    )


class ChangesShape(BaseModel):
    """Setting changes."""

    changes: list[ChangeShape]


class StatusShape(BaseModel):
    """Status of the service."""

    version: str
    at: str
    worker: str
    api_url: str = Field(description="base URL of the first platform that has one")
    platforms: list[str] = Field(description="all platforms that this version crawls")
    base_urls: dict[str, str] = Field(description="platform → base URL of its API, if all its URLs have one")
    queues: list[QueueShape]
    documents: DocumentCountsShape
    deadletters: CountsShape
    loops: WorkersShape
    principals: list[PrincipalShape]
    figures: Mapping[str, Any] = Field(description="counters of this replica since startup")
