"""`/api/v1/redelivery`: deliveries that did not arrive, and what is done about them."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, Field

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Answer, Asked, Nothing, Route
from ghcrawl.admin.shapes import iso_or_none
from ghcrawl.admin.site import Site
from ghcrawl.model import iso
from ghcrawl.redelivery import Asked as AskedFor
from ghcrawl.redelivery import Lost, Redelivery, Run, State

MAX_SHOWN: Final = 100


class LostShape(BaseModel):
    """A delivery that has not arrived. tries: how often it was asked for; due_at: when it is asked for next."""

    delivery: str
    hook: str
    event: str
    failed_at: str
    tries: int
    due_at: str

    @classmethod
    def of(cls, lost: Lost) -> LostShape:
        """The shape of one."""
        return cls(
            delivery=lost.guid,
            hook=lost.hook,
            event=lost.event,
            failed_at=iso(lost.first_at),
            tries=lost.tries,
            due_at=iso(lost.due),
        )


class AskedShape(BaseModel):
    """A delivery that was asked for again, for the `tries`th time."""

    delivery: str
    hook: str
    event: str
    failed_at: str
    tries: int

    @classmethod
    def of(cls, asked: AskedFor) -> AskedShape:
        """The shape of one."""
        failed_at = iso(asked.first_at)
        return cls(delivery=asked.guid, hook=asked.hook, event=asked.event, failed_at=failed_at, tries=asked.tries)


class SweepShape(BaseModel):
    """What one look for deliveries that did not arrive came to."""

    at: str
    worker: str
    seconds: float
    pages: int = Field(description="pages of GitHub's lists that were read")
    lost: int = Field(description="deliveries found that had not arrived")
    asked: int = Field(description="deliveries that are being sent again")
    refused: int = Field(description="deliveries that GitHub would not send again this time")
    arrived: int = Field(description="deliveries that arrived since they were asked for")
    given_up: int = Field(description="deliveries that are too old to be sent again")
    waiting: int = Field(description="deliveries that have not arrived yet")
    again: list[AskedShape] = Field(description="the first 50 of those that are being sent again")
    troubles: list[str] = Field(description="what could not be asked, and why")

    @classmethod
    def of(cls, run: Run) -> SweepShape:
        """The shape of a sweep."""
        return cls(
            at=iso(run.at),
            worker=run.worker,
            seconds=run.seconds,
            pages=run.pages,
            lost=run.lost,
            asked=run.asked,
            refused=run.refused,
            arrived=run.arrived,
            given_up=run.given_up,
            waiting=run.waiting,
            again=[AskedShape.of(asked) for asked in run.again],
            troubles=list(run.troubles),
        )


class RedeliveryShape(BaseModel):
    """Deliveries that did not arrive, as all replicas know of them."""

    enabled: bool = Field(description="whether GitHub is asked for them at all: `service.redeliver`")
    names: list[str] = Field(description="whose webhooks are looked at")
    every_s: float | None
    next_at: str | None = Field(description="when the next look is due; null: now, or never where it is not enabled")
    sweeping: str | None = Field(description="the replica that looks at this moment")
    last: SweepShape | None
    waiting: list[LostShape] = Field(description="the oldest 100 that have not arrived yet")

    @classmethod
    def of(cls, redelivery: Redelivery, state: State, site: Site) -> RedeliveryShape:
        """The shape of what is known."""
        swept = state.lease is not None and site.clock.now() < state.lease.until
        oldest = sorted(state.lost, key=lambda lost: lost.first_at)[:MAX_SHOWN]
        return cls(
            enabled=True,
            names=list(redelivery.names),
            every_s=redelivery.pace.every_s,
            next_at=iso_or_none(state.next_at),
            sweeping=state.lease.worker if swept and state.lease else None,
            last=SweepShape.of(state.last) if state.last else None,
            waiting=[LostShape.of(lost) for lost in oldest],
        )


_OFF: Final = RedeliveryShape(enabled=False, names=[], every_s=None, next_at=None, sweeping=None, last=None, waiting=[])


async def _show(asked: Asked[Nothing, None]) -> Answer:
    redelivery = asked.site.redelivery
    if redelivery is None:
        return Answer(value=_OFF)
    return Answer(value=RedeliveryShape.of(redelivery, await redelivery.read(), asked.site))


async def _soon(asked: Asked[Nothing, None]) -> Answer:
    redelivery = asked.site.redelivery
    if redelivery is None:
        raise Problem(409, "nobody is asked for lost deliveries here; service.redeliver says whose webhooks to look at")
    await redelivery.soon()
    return await _show(asked)


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/v1/redelivery",
        name="showRedelivery",
        about="Deliveries that did not arrive: the last look for them, and what was sent again",
        handle=_show,
        tag="webhooks",
        answer=RedeliveryShape,
    ),
    Route(
        method="POST",
        path="/api/v1/redelivery",
        name="redeliver",
        about="Look for deliveries that did not arrive within a second, whenever the next look was due",
        handle=_soon,
        role="operate",
        tag="webhooks",
        answer=RedeliveryShape,
        problems=(409,),
    ),
)
