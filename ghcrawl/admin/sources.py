"""`/api/v1/sources` and `/api/v1/schedules`: what is asked again and again."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Asked, Nothing, Routes, Shape
from ghcrawl.schedule.watching import MOST, Added, Schedule, Watched

Spec = Annotated[str, Field(min_length=1, max_length=2000)]
Specs = Annotated[tuple[Spec, ...], Field(min_length=1, max_length=1000)]


class Listing(Shape):
    """platform: of this one only. spec: the source that it names, if it is watched; excludes all other fields."""

    platform: Annotated[str, Field(max_length=100)] = ""
    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    spec: Annotated[str, Field(max_length=2000)] = ""


class Naming(Shape):
    """specs: as on the command line. weight: importance of their news. every_d: days after which each is asked anyway.

    The weight and the interval of a source that is watched already are replaced.
    """

    specs: Specs
    weight: Annotated[float, Field(ge=0.001, le=1000, strict=False)] = 1.0
    every_d: Annotated[float, Field(ge=0, le=365, strict=False)] = 0.0


class Removing(Shape):
    """specs: as on the command line."""

    specs: Specs


class SourcesShape(BaseModel):
    """Sources, those due first."""

    sources: list[Watched]


class SchedulesShape(BaseModel):
    """The schedule of each platform that has sources."""

    schedules: list[Schedule]


class RemovedShape(BaseModel):
    """Number of removed sources."""

    removed: int


_SOURCES: Final = "/api/v1/sources"
ROUTES: Final = Routes("sources")


@ROUTES.add("GET", _SOURCES, "listSources", "List watched sources, those due first")
async def _list(asked: Asked[Listing, None]) -> SourcesShape:
    query, watching = asked.query, asked.site.watching
    if not query.spec:
        found = await watching.list(limit=query.limit, platform=query.platform)
        return SourcesShape(sources=list(found))
    if query.model_fields_set != {"spec"}:
        problem = "cannot be combined with other parameters"
        raise Problem(422, f"spec {problem}", errors=[("spec", problem)])
    named = await watching.show(query.spec)
    return SourcesShape(sources=[] if named is None else [named])


@ROUTES.add("POST", _SOURCES, "watchSources", "Watch sources", status=201)
async def _add(asked: Asked[Nothing, Naming]) -> Added:
    body = asked.body
    return await asked.site.watching.add(body.specs, weight=body.weight, every_d=body.every_d)


@ROUTES.add("POST", f"{_SOURCES}/remove", "unwatchSources", "Stop watching sources")
async def _remove(asked: Asked[Nothing, Removing]) -> RemovedShape:
    return RemovedShape(removed=await asked.site.watching.remove(asked.body.specs))


@ROUTES.add(
    "GET", "/api/v1/schedules", "listSchedules", "Get the budget, spending and price of each platform's schedule"
)
async def _schedules(asked: Asked[Nothing, None]) -> SchedulesShape:
    return SchedulesShape(schedules=list(await asked.site.watching.schedules()))
