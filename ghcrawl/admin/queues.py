"""`/api/v1/queues` and `/api/v1/requests`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, WithJsonSchema

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Answer, Asked, Nothing, Routes, Shape
from ghcrawl.admin.shapes import PurgedShape, PushedShape, QueueShape, QueuesShape, RequestsShape
from ghcrawl.admin.site import Site
from ghcrawl.ports.queue import Pushed
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps, loads
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.requests import Push, Request

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


_QUEUE: Final = "/api/v1/queues/{queue}"
ROUTES: Final = Routes("queues")


@ROUTES.add("GET", "/api/v1/queues", "listQueues", "Get the depth of each queue")
async def _list(asked: Asked[Nothing, None]) -> QueuesShape:
    return QueuesShape(queues=await shapes(asked.site))


@ROUTES.add("GET", _QUEUE, "showQueue", "Get the depth of one queue")
async def _show(asked: Asked[Nothing, None]) -> QueueShape:
    name = named(asked.path["queue"])
    return next(shape for shape in await shapes(asked.site) if shape.name == name)


@ROUTES.add("GET", f"{_QUEUE}/requests", "peekQueue", "List requests that wait in a queue, without removing them")
async def _peek(asked: Asked[Peeking, None]) -> RequestsShape:
    queue, platform = named(asked.path["queue"]), asked.query.platform or None
    found = await asked.site.queue.peek(queue, limit=asked.query.limit, platform=platform)
    return RequestsShape(requests=[loads(asked.site.write(request)) for request in found])


@ROUTES.add("DELETE", f"{_QUEUE}/requests", "purgeQueue", "Permanently delete all requests that wait in a queue")
async def _purge(asked: Asked[Purging, None]) -> PurgedShape:
    queue, platform = named(asked.path["queue"]), asked.query.platform or None
    return PurgedShape(purged=await asked.site.queue.purge(queue, platform=platform))


@ROUTES.add("POST", "/api/v1/requests", "pushRequests", "Push requests to a queue", status=201)
async def _push(asked: Asked[Nothing, Pushing]) -> Answer[PushedShape]:
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
