"""Queues, documents and deadletters of a service, as `ghcrawl.cli.crawl_backend` wants them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec import convert

from ghcrawl.cli.server.client import Client, Parameters, segment
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter, Forgotten, Requeued
from ghcrawl.ports.queue import Depth, Pushed
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.jsontext import dumps, loads
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.times import iso, time_text
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from ghcrawl.wiring import read_message, write_message

AT_ONCE: Final = 500
"""As many as the service gives, or takes, in one answer."""


class ServerQueues:
    """The five queues of a service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def depths(self) -> Mapping[Lane, Depth]:
        """As the protocol says."""
        found = (await self._client.get("/api/v1/queues"))["queues"]
        return depths_of(found)

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """As the protocol says; a service shows 500 at the most."""
        parameters = [("limit", str(min(limit, AT_ONCE))), *_platform(platform)]
        found = await self._client.get(f"/api/v1/queues/{queue}/requests", parameters)
        return [_request(each) for each in found["requests"]]

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the protocol says."""
        queued = bounced = 0
        for queue, together in groupby(pushes, key=lambda push: push.queue):
            for some in _batches(list(together)):
                requests = [loads(write_message(push.request)) for push in some]
                done = await self._client.send("POST", "/api/v1/requests", {"requests": requests, "queue": queue})
                queued, bounced = queued + done["queued"], bounced + done["bounced"]
        return Pushed(queued=queued, bounced=bounced)

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """As the protocol says."""
        path = f"/api/v1/queues/{queue}/requests"
        return int((await self._client.send("DELETE", path, parameters=_platform(platform)))["purged"])


class ServerDocuments:
    """The documents of a service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, urn: str) -> Document | None:
        """As the protocol says."""
        found = await self._client.find(f"/api/v1/documents/{segment(urn)}")
        return None if found is None else Document.from_json(found)

    async def find(self, url: str) -> Sequence[Document]:
        """As the protocol says."""
        found = await self._client.get("/api/v1/documents", [("url", url)])
        return [Document.from_json(each) for each in found["documents"]]

    async def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """As the protocol says, in pages."""
        after: str | None = which.after
        while after is not None:
            page = await self._client.get("/api/v1/documents", [*_of_documents(which), ("after", after)])
            for each in page["documents"]:
                yield Document.from_json(each)
            after = page["next"]

    async def counts(self) -> Mapping[TypeName, int]:
        """As the protocol says."""
        return types_of(await self._client.get("/api/v1/document-counts"))

    async def store_id(self) -> str:
        """As `CrawlBackend` says."""
        return str((await self._client.get("/api/v1/document-counts")).get("store", ""))


class ServerDeadletters:
    """The deadletters of a service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """As the protocol says, in pages."""
        if which.urns:
            named = [await self.get(urn) for urn in which.urns]
            return [deadletter for deadletter in named if deadletter is not None][:limit]
        found: list[Deadletter] = []
        async for deadletter in self._pages(which, limit, after):
            found.append(deadletter)
            if len(found) == limit:
                break
        return found

    async def _pages(self, which: DeadletterFilter, limit: int, after: str) -> AsyncIterator[Deadletter]:
        behind: str | None = after
        while behind is not None:
            parameters = [*_of_deadletters(which), ("limit", str(min(limit, AT_ONCE))), ("after", behind)]
            page = await self._client.get("/api/v1/deadletters", parameters)
            for each in page["deadletters"]:
                yield _deadletter(each)
            behind = page["next"]

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """As the protocol says."""
        if which.urns:
            deadletters = await self.list(which, limit=len(which.urns))
            return DeadletterCounts.of((one.request.type_name, one.kind, 1) for one in deadletters)
        return counts_of(await self._client.get("/api/v1/deadletter-counts", _of_deadletters(which)))

    async def get(self, urn: str) -> Deadletter | None:
        """As the protocol says."""
        found = await self._client.find(f"/api/v1/deadletters/{segment(urn)}")
        return None if found is None else _deadletter(found)

    async def requeue(self, which: DeadletterFilter, to: QueueName | None) -> Requeued:
        """As `CrawlBackend` says."""
        done = await self._client.send("POST", "/api/v1/deadletters/requeue", {**_chosen(which), "to": to})
        return convert(done, Requeued)

    async def forget(self, which: DeadletterFilter) -> Forgotten:
        """As `CrawlBackend` says."""
        return convert(await self._client.send("POST", "/api/v1/deadletters/delete", _chosen(which)), Forgotten)


# Reading what it says -----------------------------------------------------------------------------------------


def depths_of(queues: Iterable[Mapping[str, Any]]) -> Mapping[Lane, Depth]:
    """What the service says of its queues."""
    return {
        Lane(platform, queue["name"]): convert(lane, Depth)
        for queue in queues
        for platform, lane in queue.get("platforms", {LEGACY_PLATFORM: queue}).items()
    }


def _platform(name: str | None) -> list[tuple[str, str]]:
    return [] if name is None else [("platform", name)]


def counts_of(value: Mapping[str, Any]) -> DeadletterCounts:
    """What the service says of its deadletters."""
    return DeadletterCounts(total=value["total"], by_type=types_of(value), by_kind=value["by_kind"])


def types_of(value: Mapping[str, Any]) -> Mapping[TypeName, int]:
    """Counts by type; a service of the version before names no platform."""
    if "types" not in value:
        return {TypeName(LEGACY_PLATFORM, type): count for type, count in value["by_type"].items()}
    return {TypeName(each["platform"], each["type"]): each["count"] for each in value["types"]}


def _request(value: Any) -> Request:
    return read_message(dumps(value))


def _deadletter(value: Mapping[str, Any]) -> Deadletter:
    return convert({**value, "request": _request(value["request"])}, Deadletter)


def _of_documents(which: DocumentFilter) -> Parameters:
    parameters = [*_of_types(which), ("limit", str(AT_ONCE))]
    if which.scope:
        parameters.append(("scope", which.scope))
    if which.since is not None:
        parameters.append(("since", iso(which.since)))
    if which.processed_since is not None:
        parameters.append(("processed_since", time_text(which.processed_since)))
    if which.deleted is not None:
        parameters.append(("deleted", str(which.deleted).lower()))
    return parameters


def _of_deadletters(which: DeadletterFilter) -> Parameters:
    parameters = [*_of_types(which), *(("kind", kind) for kind in which.kinds)]
    parameters += [(name, value) for name, value in (("reason", which.reason), ("host", which.host)) if value]
    return parameters if which.before is None else [*parameters, ("before", time_text(which.before))]


def _of_types(which: DocumentFilter | DeadletterFilter) -> Parameters:
    return [*(("type", str(type)) for type in which.types), *(("platform", name) for name in which.platforms)]


def _chosen(which: DeadletterFilter) -> dict[str, Any]:
    return {
        "urns": list(which.urns),
        "type": [str(type) for type in which.types],
        "platform": list(which.platforms),
        "kind": list(which.kinds),
        "reason": which.reason,
        "host": which.host,
        "before": None if which.before is None else time_text(which.before),
        "all": which == DeadletterFilter(),
    }


def _batches(pushes: Sequence[Push]) -> Iterable[Sequence[Push]]:
    for start in range(0, len(pushes), AT_ONCE):
        yield pushes[start : start + AT_ONCE]
