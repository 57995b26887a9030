"""What the documented API says of the service itself: loops, principals, settings, and everything at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ghcrawl.admin.shapes import CountsShape, DocumentCountsShape, QueueShape, iso_or_none
from ghcrawl.admin.site import Crew, Doing, Principal
from ghcrawl.live import Entry
from ghcrawl.model import QueueName, iso


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
            benched_until=iso_or_none(principal.benched_until),
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
            blocked_until=iso_or_none(crew.blocked_until),
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
    not_understood: dict[str, str] = Field(
        description="what is set live and this version cannot use, with the reason; it holds nothing up"
    )


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
