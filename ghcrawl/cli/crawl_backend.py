"""What commands ask of a place where crawls happen, be it a file, a broker with a database, or a service.

`documents`, `deadletters`, `queue` and `requests` work on a `CrawlBackend` and on nothing else; `cli.opening.backend`
opens it. Where queue and store are opened here, the ports of the backend are these protocols already. The client of a
service (`ghcrawl.cli.server`) has these few methods too, and raises ConfigError for what a person can put right and
StoreError for the rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ghcrawl.platforms.mount import Mounts
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter, Forgotten, Requeued
from ghcrawl.ports.queue import Depth, Pushed
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.schedule.watching import Watching
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import TypeName


class Queues(Protocol):
    """The five queues, for a person. As `ghcrawl.ports.Queue` says of each method."""

    async def depths(self) -> Mapping[Lane, Depth]:
        """Every lane that holds something."""

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """Up to `limit` requests that wait in `queue`; of one platform, where one is named."""

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """All of them are durable when this returns."""

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """Delete the waiting requests of `queue`; of one platform, where one is named. Returns how many."""


class Documents(Protocol):
    """The documents, for a person. As `ghcrawl.ports.Store` says of each method."""

    async def get(self, urn: str) -> Document | None:
        """The document with this URN."""

    async def find(self, url: str) -> Sequence[Document]:
        """The documents of any type known under this URL."""

    def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """The documents that `which` admits, by URN, without holding them all in memory."""

    async def counts(self) -> Mapping[TypeName, int]:
        """Type → number of documents that are not tombstones."""


class Deadletters(Protocol):
    """The deadletters, for a person. As `ghcrawl.ports.Deadletters` says of each method."""

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """Up to `limit` of them, newest first; `after` continues behind that URN."""

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """How many there are, by type and class."""

    async def get(self, urn: str) -> Deadletter | None:
        """One of them."""


class Reading(Struct, frozen=True, kw_only=True):
    """How specs are read for a place. mounts: with the base URLs it was crawled from. policy: the default."""

    mounts: Mounts
    policy: str


class CrawlBackend(Struct, frozen=True, kw_only=True):
    """One place, open. where: its name in sentences. mounts: with the base URLs that it was crawled from.

    requeue, forget: as many deadletters as there is time for in one answer; `ghcrawl.cli.bulk_deadletters` asks again
    for what is left. Requeued ones wait as if never tried, in the queue that is given or, for None, where each was.
    attended: as far as is known, another process works on the waiting requests; false: none does now.
    store_id: as `ghcrawl.ports.store` says; empty: a service of an earlier version.
    """

    where: str
    mounts: Mounts
    now: Callable[[], datetime]
    queues: Queues
    documents: Documents
    deadletters: Deadletters
    requeue: Callable[[DeadletterFilter, QueueName | None], Awaitable[Requeued]]
    forget: Callable[[DeadletterFilter], Awaitable[Forgotten]]
    watching: Watching
    attended: bool
    store_id: Callable[[], Awaitable[str]]
