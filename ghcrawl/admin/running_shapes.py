"""What the documented API says of the service itself: loops, principals, settings, and everything at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ghcrawl.admin.shapes import CountsShape, DocumentCountsShape, QueueShape, iso_or_none
from ghcrawl.admin.site import Doing, Workers
from ghcrawl.ports.source import BudgetView, PrincipalView
from ghcrawl.settings.live import Entry
from ghcrawl.values.model import QueueName, iso


class BudgetShape(BaseModel):
    """Quota of one rate-limited resource of a principal."""

    resource: str
    limit: int
    remaining: int
    reset_at: str
    main: bool = Field(description="most calls are charged to it")

    @classmethod
    def of(cls, budget: BudgetView) -> BudgetShape:
        """The shape of a budget."""
        return cls(
            resource=budget.resource,
            limit=budget.limit,
            remaining=budget.remaining,
            reset_at=iso(budget.reset_at),
            main=budget.main,
        )


class PrincipalShape(BaseModel):
    """One credential, without its secret. id: equal for credentials that share a rate limit."""

    id: str
    platform: str
    label: str
    traits: list[str]
    budgets: list[BudgetShape]
    calls: int
    in_flight: int
    anonymous: bool = Field(description="requests are sent without a credential")
    benched_until: str | None
    benched_for: str
    retired: str = Field(description="why it is disabled; empty: in use")

    @classmethod
    def of(cls, principal: PrincipalView) -> PrincipalShape:
        """The shape of a principal."""
        return cls(
            id=principal.id,
            platform=principal.platform,
            label=principal.label,
            traits=list(principal.traits),
            budgets=[
                BudgetShape(
                    resource=b.resource, limit=b.limit, remaining=b.remaining, reset_at=iso(b.reset_at), main=b.main
                )
                for b in principal.budgets
            ],
            calls=principal.calls,
            in_flight=principal.in_flight,
            anonymous=principal.anonymous,
            benched_until=iso_or_none(principal.benched_until),
            benched_for=principal.benched_for,
            retired=principal.retired,
        )


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
    """The request a worker processes. type and url null: the worker is idle."""

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


class UnreachableShape(BaseModel):
    """A platform that does not answer."""

    since: str
    reason: str


class UnreachableHostShape(BaseModel):
    """A host that does not answer."""

    platform: str
    base_url: str
    since: str
    reason: str


class WorkersShape(BaseModel):
    """The workers of this replica. worker: the name of the replica."""

    worker: str
    wanted: int
    running: int
    busy: int
    paused: bool
    draining: bool
    restarts: int = Field(description="workers restarted after a crash, which is a bug")
    blocked_until: str | None = Field(
        description="earliest time of the next API call while all platforms are blocked; null: not blocked"
    )
    blocked: dict[str, str] = Field(description="platforms that cannot be asked just now: when each can be again")
    unreachable: dict[str, UnreachableShape] = Field(description="platforms that do not answer")
    unreachable_hosts: list[UnreachableHostShape] = Field(description="hosts that do not answer, the first ten")
    trouble: str = Field(description="why the queue or the store fails; empty: both work")
    doing: list[DoingShape]

    @classmethod
    def of(cls, workers: Workers) -> WorkersShape:
        """The shape of the workers."""
        return cls(
            worker=workers.worker,
            wanted=workers.wanted,
            running=workers.running,
            busy=workers.busy,
            paused=workers.paused,
            draining=workers.draining,
            restarts=workers.restarts,
            blocked_until=iso_or_none(workers.blocked_until),
            blocked={platform: iso(until) for platform, until in sorted(workers.blocked.items())},
            unreachable={
                platform: UnreachableShape(since=iso(since), reason=reason)
                for platform, (since, reason) in sorted(workers.unreachable.items())
            },
            unreachable_hosts=[
                UnreachableHostShape(
                    platform=each.platform, base_url=each.base_url, since=iso(each.since), reason=each.reason
                )
                for each in workers.unreachable_hosts
            ],
            trouble=workers.trouble,
            doing=[DoingShape.of(each) for each in workers.doing],
        )


class ChangeShape(BaseModel):
    """One change of a live setting. before, after: null if unset."""

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
    base_urls: dict[str, str] = Field(description="platform → base URL of its API")
    queues: list[QueueShape]
    documents: DocumentCountsShape
    deadletters: CountsShape
    loops: WorkersShape
    principals: list[PrincipalShape]
    figures: Mapping[str, Any] = Field(description="counters of this replica since startup")
