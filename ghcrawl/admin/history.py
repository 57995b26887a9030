"""`/api/v1/history`: what all replicas saw and did in the last hour, day or month."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import asdict
from pydantic import BaseModel, Field

from ghcrawl.admin.routing import Asked, Routes, Shape
from ghcrawl.telemetry.history import RINGS, Point, Span
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.times import iso


class Spanning(Shape):
    """span: how far back."""

    span: Span = "1h"


class PointShape(BaseModel):
    """One step of time."""

    at: str = Field(description="start of the step")
    queues: dict[QueueName, int] = Field(description="requests in each queue, the most within the step")
    documents: int
    deadletters: int
    kinds: dict[str, int] = Field(description="deadletters by class, of the largest classes")
    quota: float | None = Field(
        description="the share of quota left to the principal that has least, the lowest within the step; null: unknown"
    )
    done: dict[str, float] = Field(
        description="what all replicas did within the step: settled, saved, calls, failed, throttled"
    )

    @classmethod
    def of(cls, point: Point) -> PointShape:
        """The shape of a point."""
        return cls(at=iso(datetime.fromtimestamp(point.at_s, UTC)), done=dict(point.done), **asdict(point.seen))


class HistoryShape(BaseModel):
    """Steps of equal length, oldest first; steps in which no replica ran are left out, the last is not over yet."""

    span: Span
    step_s: int = Field(description="length of a step, in seconds")
    points: Sequence[PointShape]


ROUTES: Final = Routes("service")


@ROUTES.add(
    "GET", "/api/v1/history", "showHistory", "Get queue depths, deadletters, quota and work of all replicas over time"
)
async def _show(asked: Asked[Spanning, None]) -> HistoryShape:
    span = asked.query.span
    points = [PointShape.of(point) for point in await asked.site.history(span)]
    return HistoryShape(span=span, step_s=RINGS[span].step_s, points=points)
