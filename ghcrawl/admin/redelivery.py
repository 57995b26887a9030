"""`/api/v1/redelivery`: deliveries that did not arrive, and what is done about them."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, Field

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Asked, Nothing, Routes
from ghcrawl.admin.shapes import MomentText, Shown, iso_or_none
from ghcrawl.admin.site import Site
from ghcrawl.redelivery.state import State
from ghcrawl.redelivery.sweep_schedule import Redelivery

MAX_SHOWN: Final = 100


class AskedShape(Shown):
    """A requested redelivery. tries: number of requests, this one included."""

    delivery: str = Field(validation_alias="guid")
    hook: str
    event: str
    failed_at: MomentText = Field(validation_alias="first_at")
    tries: int


class LostShape(AskedShape):
    """A failed delivery. tries: redeliveries requested; due_at: time of the next attempt."""

    due_at: MomentText = Field(validation_alias="due")


class SweepShape(Shown):
    """Result of one check for failed deliveries."""

    at: MomentText
    worker: str
    seconds: float
    pages: int = Field(description="list pages read")
    lost: int = Field(description="failed deliveries found")
    asked: int = Field(description="redeliveries requested")
    refused: int = Field(description="deliveries that the platform did not resend this time")
    arrived: int = Field(description="redelivered deliveries that have arrived")
    given_up: int = Field(description="failed deliveries too old to redeliver")
    waiting: int = Field(description="failed deliveries still pending")
    again: list[AskedShape] = Field(description="the first 50 requested redeliveries")
    troubles: list[str] = Field(description="webhooks that could not be checked, with the reason")


class RedeliveryShape(BaseModel):
    """Failed deliveries, as known to all replicas."""

    enabled: bool = Field(description="whether failed deliveries are requested again: `service.redeliver`")
    names: list[str] = Field(description="owners whose webhooks are checked")
    every_s: float | None
    next_at: str | None = Field(description="time of the next check; null: now, or never if disabled")
    sweeping: str | None = Field(description="the replica that is checking now")
    last: SweepShape | None
    waiting: list[LostShape] = Field(description="the oldest 100 pending deliveries")

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


ROUTES: Final = Routes("webhooks")


@ROUTES.add(
    "GET", "/api/v1/redelivery", "showRedelivery", "Get failed webhook deliveries: the last check and the redeliveries"
)
async def _show(asked: Asked[Nothing, None]) -> RedeliveryShape:
    redelivery = asked.site.redelivery
    if redelivery is None:
        return _OFF
    return RedeliveryShape.of(redelivery, await redelivery.read(), asked.site)


@ROUTES.add("POST", "/api/v1/redelivery", "redeliver", "Check for failed webhook deliveries now", problems=(409,))
async def _soon(asked: Asked[Nothing, None]) -> RedeliveryShape:
    redelivery = asked.site.redelivery
    if redelivery is None:
        raise Problem(409, "redelivery is disabled; set service.redeliver")
    await redelivery.soon()
    return await _show(asked)
