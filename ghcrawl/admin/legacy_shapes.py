"""The predecessor's JSON: requests, deadletters and configuration, read and written as its clients do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import RootModel

from ghcrawl.admin.shapes import FailureShape
from ghcrawl.ports.clock import Clock
from ghcrawl.settings.live import Holding
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import SpecError
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.policy import Freshness, parse
from ghcrawl.values.requests import Context, Payload, Request
from ghcrawl.values.times import iso, moment
from ghcrawl.values.type_names import LEGACY_PLATFORM


class Anything(RootModel[Any]):
    """A body that its route reads for itself."""


def request_json(request: Request) -> dict[str, Any]:
    """A request as it waited in the predecessor's queues."""
    policy = parse(request.policy)
    freshness: str | int = policy.days if policy.freshness is Freshness.DAYS else policy.freshness.value
    value: dict[str, Any] = {
        "type": request.type,
        "url": request.url,
        "attemptCount": request.attempt,
        "context": {
            "qualifier": request.context.qualifier,
            "history": [str(ancestor) for ancestor in request.context.history],
        },
        "policy": {
            "fetch": policy.fetch.value,
            "freshness": freshness,
            "map": {"name": policy.map or request.type, "path": f"/{'/'.join(policy.path)}"},
        },
    }
    if request.payload is not None:
        value["payload"] = {"body": request.payload.body, "fetchedAt": iso(request.payload.observed_at)}
    return value


def read_request(value: JsonObject, clock: Clock, *, policy: str) -> Request:
    """The request in an object of the predecessor's. policy: for one that names none. Raises SpecError."""
    type, url = value.get("type"), value.get("url")
    if not isinstance(type, str) or not isinstance(url, str) or not url:
        raise SpecError("a request has a type and a url")
    context = value.get("context")
    context = context if isinstance(context, Mapping) else {}
    qualifier = context.get("qualifier")
    return Request(
        platform=LEGACY_PLATFORM,
        type=type,
        url=url,
        policy=_policy(value.get("policy"), policy),
        context=Context(qualifier=qualifier if isinstance(qualifier, str) else ""),
        payload=_payload(value.get("payload"), clock),
    )


def _policy(value: Any, default: str) -> str:
    """`default:self`, or `{fetch, freshness, map: {name, path}}`, as a spec."""
    if isinstance(value, str):
        return value or default
    if not isinstance(value, Mapping) or not value:
        return default
    freshness = value.get("freshness", "match")
    days = f"{freshness}d" if isinstance(freshness, int) else str(freshness)
    name = f"{value.get('fetch', 'mutables')}+{days}"
    position = value.get("map")
    if not isinstance(position, Mapping) or not position.get("name"):
        return name
    path = str(position.get("path") or "/").strip("/")
    return f"{name}:{position['name']}{f'@/{path}' if path else ''}"


def _payload(value: Any, clock: Clock) -> Payload | None:
    if not isinstance(value, Mapping) or not isinstance(value.get("body"), Mapping):
        return None
    try:
        observed_at = moment(str(value["fetchedAt"])) if value.get("fetchedAt") else clock.now()
    except ValueError as error:
        raise SpecError(f"payload.fetchedAt: {error}") from error
    return Payload.of(value["body"], origin="event", observed_at=observed_at)


def deadletter_json(deadletter: Deadletter) -> dict[str, Any]:
    """What its list of deadletters shows: the metadata alone."""
    request = deadletter.request
    parts = urlsplit(request.url)
    return {
        "type": "deadletter",
        "url": parts._replace(netloc=f"deadletter.{parts.netloc}").geturl(),
        "urn": deadletter.urn,
        "links": {"self": {"href": deadletter.urn, "type": "resource"}},
        "fetchedAt": iso(deadletter.first_at),
        "processedAt": iso(deadletter.last_at),
        "version": 1,
        "extra": {"type": request.type, "url": request.url, "reason": f"{deadletter.kind}: {deadletter.reason}"},
    }


def deadletter_document(deadletter: Deadletter) -> dict[str, Any]:
    """One deadletter: the request, and the metadata beside it."""
    meta = deadletter_json(deadletter)
    failures = [FailureShape.of(each).model_dump(exclude={"worker"}) for each in deadletter.failures]
    meta["meta"] = {"failures": failures}
    meta["errorMessage"] = deadletter.reason
    meta["errorStack"] = deadletter.traceback
    return {**request_json(deadletter.request), "_metadata": meta}


def config_json(holding: Holding, worker: str) -> dict[str, Any]:
    """The settings under the names that its dashboard and its client show."""
    crawl, fetching = holding.settings.crawl, holding.settings.section(LEGACY_PLATFORM).model_dump()
    return {
        "crawler": {
            "name": worker,
            "count": 0 if crawl.paused else crawl.loops,
            "orgList": list(crawl.allow),
            "maxRequeueAttemptCount": crawl.max_attempts,
        },
        "fetcher": {name: fetching[name] for name in ("concurrency", "reserve")},
        "queuing": {"provider": holding.settings.queue.provider, "weights": dict(crawl.weights)},
        "storage": {"provider": holding.settings.store.provider},
        "locker": {"provider": "none"},
    }


_PATHS: Final[Mapping[str, str]] = {
    "/crawler/orgList": "crawl.allow",
    "/crawler/maxRequeueAttemptCount": "crawl.max_attempts",
    "/fetcher/concurrency": f"{LEGACY_PLATFORM}.concurrency",
    "/fetcher/reserve": f"{LEGACY_PLATFORM}.reserve",
    **{f"/queuing/weights/{name}": f"crawl.weights.{name}" for name in QUEUES},
}


def changes(patches: Any) -> Mapping[str, Any]:
    """What a JSON patch of its configuration means for our settings. Raises SpecError, and then nothing is changed."""
    if not isinstance(patches, list):
        raise SpecError("a JSON patch is a list of operations")
    wanted: dict[str, Any] = {}
    for patch in patches:
        if not isinstance(patch, Mapping) or not isinstance(patch.get("path"), str):
            raise SpecError("an operation of a JSON patch is an object with op, path and value")
        wanted |= _change(str(patch.get("op")), patch["path"].removesuffix("/value"), patch.get("value"))
    return wanted


def _change(operation: str, path: str, value: Any) -> Mapping[str, Any]:
    if operation not in ("add", "replace", "remove"):
        raise SpecError(f"{path}: unknown operation {operation!r}; use add, replace or remove")
    if path == "/crawler/count":
        return _count(None if operation == "remove" else value)
    if path == "/queuing/weights":
        return _weights(None if operation == "remove" else value)
    if path not in _PATHS:
        known = ", ".join(("/crawler/count", "/queuing/weights", *_PATHS))
        raise SpecError(f"unknown path {path[:200]}; known paths: {known}")
    return {_PATHS[path]: None if operation == "remove" else value}


def _count(value: Any) -> Mapping[str, Any]:
    """Its way to stop was to have no loops; ours is to pause."""
    if value is None:
        return {"crawl.loops": None, "crawl.paused": None}
    try:
        count = int(value)
    except (TypeError, ValueError):
        raise SpecError(f"/crawler/count: {str(value)[:50]!r} is not a number") from None
    return {"crawl.paused": True} if count <= 0 else {"crawl.loops": count, "crawl.paused": False}


def _weights(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {f"crawl.weights.{name}": None for name in QUEUES}
    if not isinstance(value, Mapping) or any(name not in QUEUES for name in value):
        raise SpecError(f"/queuing/weights: an object with {', '.join(QUEUES)}")
    return {f"crawl.weights.{name}": weight for name, weight in value.items()}
