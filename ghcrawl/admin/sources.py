"""`/api/v1/sources` and `/api/v1/schedules`: what is asked again and again."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Answer, Asked, Nothing, Route, Shape
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


async def _list(asked: Asked[Listing, None]) -> Answer:
    query, watching = asked.query, asked.site.watching
    if not query.spec:
        found = await watching.list(limit=query.limit, platform=query.platform)
        return Answer(value=SourcesShape(sources=list(found)))
    if query.model_fields_set != {"spec"}:
        problem = "cannot be combined with other parameters"
        raise Problem(422, f"spec {problem}", errors=[("spec", problem)])
    named = await watching.show(query.spec)
    return Answer(value=SourcesShape(sources=[] if named is None else [named]))


async def _add(asked: Asked[Nothing, Naming]) -> Answer:
    body = asked.body
    added = await asked.site.watching.add(body.specs, weight=body.weight, every_d=body.every_d)
    return Answer(value=added, status=201)


async def _remove(asked: Asked[Nothing, Removing]) -> Answer:
    return Answer(value=RemovedShape(removed=await asked.site.watching.remove(asked.body.specs)))


async def _schedules(asked: Asked[Nothing, None]) -> Answer:
    return Answer(value=SchedulesShape(schedules=list(await asked.site.watching.schedules())))


_SOURCES: Final = "/api/v1/sources"
ROUTES: Final = (
    Route(
        method="GET",
        path=_SOURCES,
        name="listSources",
        about="List watched sources, those due first",
        handle=_list,
        tag="sources",
        query=Listing,
        answer=SourcesShape,
    ),
    Route(
        method="POST",
        path=_SOURCES,
        name="watchSources",
        about="Watch sources",
        handle=_add,
        role="operate",
        tag="sources",
        body=Naming,
        answer=Added,
        status=201,
    ),
    Route(
        method="POST",
        path=f"{_SOURCES}/remove",
        name="unwatchSources",
        about="Stop watching sources",
        handle=_remove,
        role="operate",
        tag="sources",
        body=Removing,
        answer=RemovedShape,
    ),
    Route(
        method="GET",
        path="/api/v1/schedules",
        name="listSchedules",
        about="Get the budget, spending and price of each platform's schedule",
        handle=_schedules,
        tag="sources",
        answer=SchedulesShape,
    ),
)
