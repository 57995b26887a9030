"""Keeps a producer running for every subscription that there is."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from msgspec import Struct

from ghcrawl.ports.store import DocumentFilter, Store
from ghcrawl.ports.stream import Stream, StreamObserver
from ghcrawl.streams.producer import Producer, StreamPorts
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.type_names import TypeName

log = structlog.stdlib.get_logger(__name__)

STOP_S: Final = 2.0


class Streamed(Struct, frozen=True, kw_only=True):
    """The type of the documents that subscribe to a platform's streams, and how the stream of one is opened."""

    type: TypeName
    open: Callable[[Document], Stream]


class Streams:
    """The streams of one replica. `look` is called periodically. observer: is told of all of them."""

    def __init__(self, streamed: Sequence[Streamed], ports: StreamPorts, *, worker: str) -> None:
        self.observer = StreamObserver()
        self._streamed = {each.type: each for each in streamed}
        self._ports = ports
        self._worker = worker
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped = False

    @property
    def platforms(self) -> tuple[str, ...]:
        """Those that have streams."""
        return tuple(type.platform for type in self._streamed)

    @property
    def running(self) -> int:
        """Subscriptions that are produced here, or would be if no other replica did."""
        return sum(not task.done() for task in self._running.values())

    async def look(self) -> None:
        """Start the streams that are subscribed to, and stop the others. Raises StoreError."""
        wanted = await _subscriptions(self._ports.store, tuple(self._streamed))
        self.observer.subscribed(dict.fromkeys(self.platforms, 0) | Counter(each.platform for each in wanted))
        for document in wanted if not self._stopped else ():
            task = self._running.get(document.urn)
            if task is None or task.done():
                self._running[document.urn] = self._begin(document)
        urns = {document.urn for document in wanted}
        gone = [self._running.pop(urn) for urn in [*self._running] if urn not in urns]
        await _ended(gone)

    async def stop(self) -> None:
        """Stop all streams here. Items already told are durable; the next holder is told the rest again."""
        self._stopped = True
        tasks = [*self._running.values()]
        self._running.clear()
        await _ended(tasks)

    def _begin(self, document: Document) -> asyncio.Task[None]:
        stream = self._streamed[document.type_name].open(document)
        producer = Producer(document, stream, self._ports, worker=self._worker, observer=self.observer)
        task = asyncio.get_running_loop().create_task(producer.run(), name=f"stream {document.url}")
        task.add_done_callback(_told)
        return task


async def _subscriptions(store: Store, types: tuple[TypeName, ...]) -> Sequence[Document]:
    if not types:
        return ()
    return [document async for document in store.list(DocumentFilter(types=types, deleted=False))]


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=STOP_S)


def _told(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if isinstance(error, CrawlError):
        log.warning("stream_failed", error=str(error), kind=type(error).__name__)
    elif error is not None:
        log.error("stream_broken", exc_info=error)
