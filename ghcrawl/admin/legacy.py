"""The predecessor's routes, headers and bodies, so that its command-line client and its dashboard work against us.

What it got wrong is right here: looking at a queue changes nothing, flushing one leaves the others alone, a requeued
deadletter is forgotten only once its request waits, a patch is checked whole before anything is changed, and no token
is ever shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from ghcrawl.admin import legacy_shapes as shapes
from ghcrawl.admin.deadletters import the
from ghcrawl.admin.problems import Problem
from ghcrawl.admin.queues import named, push, spec_request
from ghcrawl.admin.routing import Answer, Asked, Handle, Method, Nothing, Route, Shape, routed
from ghcrawl.admin.site import Site
from ghcrawl.ports.deadletters import DeadletterFilter, Deadletters
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.errors import SpecError
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import LEGACY_PLATFORM

MAX_LISTED: Final = 10_000
"""Its dashboard lists all deadletters at once."""
LISTED_AT_ONCE: Final = 100
"""Each may hold a whole body, and reading a page of them blocks the event loop."""
MAX_REQUESTS: Final = 1000
TOTAL: Final = "X-Total-Count"


class Counting(Shape):
    """How many."""

    count: Annotated[int, Field(ge=0, le=100)] = 1


class Requeueing(Shape):
    """The queue to push it to instead of only deleting it."""

    requeue: QueueName | None = None


async def _root(_: Asked[Nothing, None]) -> Answer[None]:
    return Answer(value=None, status=204)


async def _status(asked: Asked[Nothing, None]) -> dict[str, int]:
    workers = asked.site.workers()
    return {"actualCount": 0 if workers.paused else workers.running, "delay": 0}


async def _config(asked: Asked[Nothing, None]) -> dict[str, Any]:
    return shapes.config_json(await asked.site.live.read(), asked.site.workers().worker)


async def _patch(asked: Asked[Nothing, shapes.Anything]) -> str:
    await asked.site.live.change(shapes.changes(asked.body.root), asked.caller.name)
    await asked.site.applied()
    return "OK"


async def _tokens(asked: Asked[Nothing, None]) -> list[str]:
    return [f"{one.label}#{','.join(one.traits)}" for one in asked.site.principals()]


async def _use_tokens(asked: Asked[Nothing, shapes.Anything]) -> Answer[str]:
    if not isinstance(asked.body.root, str):
        raise Problem(422, "send one JSON string: token[#trait,trait], separated by semicolons")
    await asked.site.use_tokens(asked.body.root)
    return Answer(value="OK", done={"principals": len(asked.site.principals())})


# Requests and queues ------------------------------------------------------------------------------------------


async def _push(asked: Asked[Nothing, shapes.Anything]) -> Answer[str]:
    site, root = asked.site, asked.body.root
    specs = root if isinstance(root, list) else [root]
    if not 0 < len(specs) <= MAX_REQUESTS:
        raise Problem(422, f"push 1–{MAX_REQUESTS} requests")
    queue = named(asked.path.get("queue") or "normal")
    policy = (await site.live.read()).settings.crawl.policy
    pushed = await push(site, [_request(site, spec, policy) for spec in specs], queue)
    return Answer(value="Created", status=201, done={"queued": pushed.queued, "bounced": pushed.bounced})


def _request(site: Site, spec: Any, policy: str) -> Request:
    """`org`, `org/repo`, `users/login`, or an object. Raises SpecError."""
    if isinstance(spec, str):
        place = f"{site.mounts[LEGACY_PLATFORM].base_url}/{spec}" if spec.startswith("users/") else spec
        return spec_request(site, place, policy)
    if not isinstance(spec, dict):
        raise SpecError("a request is a string such as org or org/repo, or an object with a type and a url")
    request = shapes.read_request(spec, site.clock, policy=policy)
    site.mounts.demand(request)
    return request


async def _peek(asked: Asked[Counting, None]) -> list[dict[str, Any]]:
    queue = named(asked.path["queue"])
    found = await asked.site.queue.peek(queue, limit=asked.query.count) if asked.query.count else ()
    return [shapes.request_json(request) for request in found]


async def _remove(asked: Asked[Counting, None]) -> list[dict[str, Any]]:
    queue = named(asked.path["queue"])
    removed: list[Request] = []
    lanes = [lane for lane in await asked.site.queue.depths() if lane.queue == queue]
    for _ in range(asked.query.count):
        delivery = await asked.site.queue.pop(lanes, patience_s=0.0)
        if delivery is None:
            break
        removed.append(delivery.request)
        await delivery.ack()
    return [shapes.request_json(request) for request in removed]


async def _flush(asked: Asked[Nothing, None]) -> Answer[str]:
    purged = await asked.site.queue.purge(named(asked.path["name"]))
    return Answer(value="OK", done={"purged": purged})


async def _info(asked: Asked[Nothing, None]) -> dict[str, Any]:
    name = named(asked.path["name"])
    depth = by_queue(await asked.site.queue.depths())[name]
    return {"count": depth.ready + depth.delayed, "metricsName": name}


# Deadletters --------------------------------------------------------------------------------------------------


async def _count(asked: Asked[Nothing, None]) -> Answer[None]:
    total = (await asked.site.deadletters.count(DeadletterFilter())).total
    return Answer(value=None, status=204, headers={TOTAL: str(total)})


async def _list(asked: Asked[Nothing, None]) -> Answer[list[Any]]:
    deadletters = asked.site.deadletters
    total = (await deadletters.count(DeadletterFilter())).total
    return Answer(value=list((await _shown(deadletters)).values()), headers={TOTAL: str(total)})


async def _shown(deadletters: Deadletters) -> Mapping[str, Any]:
    """URN → what is shown of it. Of the deadletters themselves there is one page in memory, and others have turns."""
    shown: dict[str, Any] = {}
    after = ""
    while len(shown) < MAX_LISTED:
        page = await deadletters.list(
            DeadletterFilter(), limit=min(LISTED_AT_ONCE, MAX_LISTED - len(shown)), after=after
        )
        new = {deadletter.urn: shapes.deadletter_json(deadletter) for deadletter in page if deadletter.urn not in shown}
        if not new:  # also where the last one was deleted meanwhile, and the list starts again
            break
        shown |= new
        after = page[-1].urn
        await asyncio.sleep(0)
    return shown


async def _show(asked: Asked[Nothing, None]) -> dict[str, Any]:
    return shapes.deadletter_document(await the(asked.site, asked.path["urn"]))


async def _delete(asked: Asked[Requeueing, None]) -> Answer[None]:
    site, deadletter = asked.site, await the(asked.site, asked.path["urn"])
    if asked.query.requeue is None:
        deleted = await site.deadletters.delete([deadletter.urn])
        return Answer(value=None, status=204, done={"deleted": deleted})
    done = await site.requeue(DeadletterFilter(urns=(deadletter.urn,)), asked.query.requeue)
    if done.unreadable:
        raise Problem(422, f"{deadletter.urn} is not a readable request and was kept")
    return Answer(value=None, status=204, done={"queued": done.queued, "bounced": done.bounced})


def _route(method: Method, path: str, handle: Handle) -> Route:
    return routed(handle, method, path, name=f"legacy {method} {path}", described=False)


ROUTES: Final = (
    _route("GET", "/", _root),
    _route("GET", "/status", _status),
    _route("GET", "/config", _config),
    _route("PATCH", "/config", _patch),
    _route("GET", "/config/tokens", _tokens),
    _route("PUT", "/config/tokens", _use_tokens),
    _route("POST", "/config/tokens", _use_tokens),
    _route("POST", "/requests", _push),
    _route("POST", "/requests/{queue}", _push),
    _route("GET", "/requests/{queue}", _peek),
    _route("DELETE", "/requests/{queue}", _remove),
    _route("PUT", "/queues/{name}", _flush),
    _route("GET", "/queues/{name}/info", _info),
    _route("HEAD", "/deadletters", _count),
    _route("GET", "/deadletters", _list),
    _route("GET", "/deadletters/{urn}", _show),
    _route("DELETE", "/deadletters/{urn}", _delete),
)
