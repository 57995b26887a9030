"""`/api/v1/queues` and `/api/v1/requests`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, WithJsonSchema

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Answer, Asked, Nothing, Route, Shape
from ghcrawl.admin.shapes import PurgedShape, PushedShape, QueueShape, QueuesShape, RequestsShape
from ghcrawl.admin.site import Site
from ghcrawl.ports.queue import Pushed
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps, loads
from ghcrawl.values.model import (
    QUEUES,
    Push,
    QueueName,
    Request,
)

MAX_REQUESTS: Final = 1000
MAX_PEEKED: Final = 500


REQUEST: Final = {
    "type": "object",
    "required": ["type", "url"],
    "properties": {
        "type": {"type": "string", "minLength": 1, "description": "a type of the platform"},
        "url": {"type": "string", "minLength": 1, "description": "below the base URL of the platform"},
        "policy": {"type": "string"},
        "platform": {"type": "string"},
        "attempt": {"type": "integer", "minimum": 0},
    },
}
"""A message of the queue, as far as a person writes one."""


class Purging(Shape):
    """platform: of this one only; empty: of all."""

    platform: Annotated[str, Field(max_length=100)] = ""


class Peeking(Purging):
    """limit: maximum number of requests."""

    limit: Annotated[int, Field(ge=1, le=MAX_PEEKED)] = 20


class Pushing(Shape):
    """Requests to push.

    specs: as on the command line (org, owner/repo, type:url, URL); requests: objects in queue message format, `type`
    and `url` required. policy: for specs and requests without one. dry_run: validate, push nothing.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["specs"], "properties": {"specs": {"minItems": 1}}},
                {"required": ["requests"], "properties": {"requests": {"minItems": 1}}},
            ]
        }
    )

    specs: tuple[Annotated[str, Field(min_length=1, max_length=2000)], ...] = Field(default=(), max_length=MAX_REQUESTS)
    requests: tuple[Annotated[dict[str, Any], WithJsonSchema(REQUEST)], ...] = Field(
        default=(), max_length=MAX_REQUESTS
    )
    queue: QueueName = "normal"
    policy: Annotated[str, Field(max_length=500)] | None = None
    dry_run: bool = False


def named(path: str) -> QueueName:
    """The queue in a path. Raises Problem."""
    found = next((name for name in QUEUES if name == path), None)
    if found is None:
        raise Problem(404, f"unknown queue {path[:50]}; known queues: {', '.join(QUEUES)}")
    return found


async def shapes(site: Site) -> list[QueueShape]:
    """All five. Raises QueueError."""
    depths = await site.queue.depths()
    return [QueueShape.of(name, depths, site.rate(name)) for name in QUEUES]


async def _list(asked: Asked[Nothing, None]) -> Answer:
    return Answer(value=QueuesShape(queues=await shapes(asked.site)))


async def _show(asked: Asked[Nothing, None]) -> Answer:
    name = named(asked.path["queue"])
    return Answer(value=next(shape for shape in await shapes(asked.site) if shape.name == name))


async def _peek(asked: Asked[Peeking, None]) -> Answer:
    queue, platform = named(asked.path["queue"]), asked.query.platform or None
    found = await asked.site.queue.peek(queue, limit=asked.query.limit, platform=platform)
    return Answer(value=RequestsShape(requests=[loads(asked.site.write(request)) for request in found]))


async def _purge(asked: Asked[Purging, None]) -> Answer:
    queue, platform = named(asked.path["queue"]), asked.query.platform or None
    return Answer(value=PurgedShape(purged=await asked.site.queue.purge(queue, platform=platform)))


async def _push(asked: Asked[Nothing, Pushing]) -> Answer:
    site, body = asked.site, asked.body
    if not body.specs and not body.requests:
        raise Problem(422, "specs or requests required", errors=[("specs", "empty")])
    settings = (await site.live.read()).settings
    policy = body.policy or settings.crawl.policy
    requests = [spec_request(site, spec, policy) for spec in body.specs]
    requests += [object_request(site, each, policy) for each in body.requests]
    pushed = Pushed() if body.dry_run else await push(site, requests, body.queue)
    shown = [loads(site.write(request)) for request in requests]
    value = PushedShape(queued=pushed.queued, bounced=pushed.bounced, requests=shown, dry_run=body.dry_run)
    return Answer(value=value, status=200 if body.dry_run else 201)


async def push(site: Site, requests: list[Request], queue: QueueName) -> Pushed:
    """They wait in `queue`, asked for now unless they say since when. Raises QueueError."""
    now = site.clock.now()
    asked = [request if request.asked_at else replace(request, asked_at=now) for request in requests]
    return await site.queue.push([Push(request=request, queue=queue) for request in asked])


def spec_request(site: Site, spec: str, policy: str) -> Request:
    """What a person's words mean. Raises SpecError."""
    request = site.mounts.read_spec(spec, policy)
    site.mounts.demand(request)
    return request


def object_request(site: Site, value: dict[str, Any], policy: str) -> Request:
    """The request in an object. Raises SpecError, DecodeError."""
    defaults = {"v": 1, "policy": policy, "platform": site.mounts.default.name}
    try:
        message = dumps({**defaults, **value})
    except (TypeError, ValueError, RecursionError) as error:
        raise SpecError(f"a request cannot be encoded as JSON: {error}") from error
    request = site.read(message)
    site.mounts.demand(request)
    return request


_QUEUE: Final = "/api/v1/queues/{queue}"
ROUTES: Final = (
    Route(
        method="GET",
        path="/api/v1/queues",
        name="listQueues",
        about="Get the depth of each queue",
        handle=_list,
        tag="queues",
        answer=QueuesShape,
    ),
    Route(
        method="GET",
        path=_QUEUE,
        name="showQueue",
        about="Get the depth of one queue",
        handle=_show,
        tag="queues",
        answer=QueueShape,
        problems=(404,),
    ),
    Route(
        method="GET",
        path=f"{_QUEUE}/requests",
        name="peekQueue",
        about="List requests that wait in a queue, without removing them",
        handle=_peek,
        tag="queues",
        query=Peeking,
        answer=RequestsShape,
        problems=(404,),
    ),
    Route(
        method="DELETE",
        path=f"{_QUEUE}/requests",
        name="purgeQueue",
        about="Permanently delete all requests that wait in a queue",
        handle=_purge,
        role="operate",
        tag="queues",
        query=Purging,
        answer=PurgedShape,
        problems=(404,),
    ),
    Route(
        method="POST",
        path="/api/v1/requests",
        name="pushRequests",
        about="Push requests to a queue",
        handle=_push,
        role="operate",
        tag="queues",
        body=Pushing,
        answer=PushedShape,
        status=201,
    ),
)
