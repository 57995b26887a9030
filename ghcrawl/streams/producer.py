"""Queues what one stream tells, reconnects for as long as that can help, and says so where it cannot."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct

from ghcrawl.engine.tombstones import tombstone
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.deadletters import Deadletters
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.store import Store
from ghcrawl.ports.stream import Batch, Stream, StreamObserver
from ghcrawl.streams.lease import Lease
from ghcrawl.values.cancellation import run_to_end
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import CrawlError, StreamRefused
from ghcrawl.values.requests import Failure, Payload, Push, Request

log = structlog.stdlib.get_logger(__name__)

RENEW_S: Final = 20.0
BACKOFF_S: Final = 0.5
MAX_BACKOFF_S: Final = 30.0
LISTS_LAG: Final = timedelta(seconds=30)
"""How far lists may be behind a stream. They are asked for what happened before it began after this time."""


class StreamPorts(Struct, frozen=True, kw_only=True):
    """The outside, as a producer needs it."""

    queue: Queue
    store: Store
    deadletters: Deadletters
    clock: Clock


class LeaseLostError(CrawlError):
    """Another replica produces this stream now."""


class Producer:
    """Produces one stream for as long as it runs and holds the lease. jitter: a number in [0, 1) at each call."""

    def __init__(
        self,
        subscription: Document,
        stream: Stream,
        ports: StreamPorts,
        *,
        worker: str,
        observer: StreamObserver | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._subscription = subscription
        self._stream = stream
        self._ports = ports
        self._worker = worker
        self._observer = observer or StreamObserver()
        self._jitter = jitter
        self._lease = Lease(ports.store, ports.clock, subscription.urn, worker)
        self._failures = 0

    async def run(self) -> None:
        """Until it is cancelled, another replica produces it, or the platform refuses it. Raises StoreError."""
        if not await self._lease.take():
            return
        log.info("stream_taken", stream=self._subscription.url, cursor=self._lease.state.cursor)
        self._observer.held(*self._name, since=self._ports.clock.now())
        try:
            while await self._connected():
                pass
        except LeaseLostError:
            log.info("stream_taken_over", stream=self._subscription.url)
        finally:
            self._observer.left(*self._name)
            await run_to_end(self._lease.leave())

    @property
    def _name(self) -> tuple[str, str]:
        return self._subscription.platform, self._subscription.urn

    async def _connected(self) -> bool:
        """One connection from start to end, and the wait after it. False: there will be no other."""
        error = ""
        try:
            async with aclosing(self._stream.read(self._lease.state.cursor)) as batches:
                await self._produce(batches)
        except LeaseLostError:
            raise
        except StreamRefused as refusal:
            await run_to_end(self._bury(refusal))
            return False
        except CrawlError as trouble:
            error = str(trouble)
        await self._wait(error or "the connection was closed")
        return True

    async def _produce(self, batches: AsyncGenerator[Batch, None]) -> None:
        """Every batch is durable before its cursor is; the lease is kept while nothing comes."""
        loop = asyncio.get_running_loop()
        coming = loop.create_task(anext(batches, None), name="stream-batch")
        try:
            while (batch := await self._next(coming)) is not None:
                await run_to_end(self._settle(batch))
                self._failures = 0
                coming = loop.create_task(anext(batches, None), name="stream-batch")
        finally:
            coming.cancel()
            await asyncio.wait([coming])

    async def _next(self, coming: asyncio.Task[Batch | None]) -> Batch | None:
        while not coming.done():
            renewal = asyncio.ensure_future(self._ports.clock.sleep(RENEW_S))
            try:
                await asyncio.wait([coming, renewal], return_when=asyncio.FIRST_COMPLETED)
            finally:
                renewal.cancel()
            if not coming.done():
                await self._keep()
        return coming.result()

    async def _settle(self, batch: Batch) -> None:
        later = self._ports.clock.now() + LISTS_LAG
        missed = [Push(request=each, queue="soon", not_before=later) for each in batch.missed]
        if pushes := [*batch.pushes, *missed]:
            await self._ports.queue.push(pushes)
        if batch.lost:
            log.warning("stream_lost", stream=self._subscription.url, why=batch.lost)
        await self._keep(cursor=batch.cursor, items=len(batch.pushes), error="", lost=batch.lost)
        payloads = [push.request.payload for push in batch.pushes if push.request.payload]
        happened_at = payloads[-1].observed_at if payloads else None
        now = self._ports.clock.now()
        self._observer.queued(*self._name, len(batch.pushes), at=now, happened_at=happened_at)

    async def _keep(self, **changes: str | int) -> None:
        if not await self._lease.keep(**changes):  # type: ignore[arg-type]  # as it takes them
            raise LeaseLostError(f"another replica produces {self._subscription.url}")

    async def _wait(self, error: str) -> None:
        """Longer after every failure, and never all replicas at once."""
        most_s = min(MAX_BACKOFF_S, BACKOFF_S * 2.0 ** min(self._failures, 10))
        self._failures += 1
        self._observer.disconnected(self._subscription.platform)
        log.warning("stream_disconnected", stream=self._subscription.url, error=error, failures=self._failures)
        await self._ports.clock.sleep(self._jitter() * most_s)
        await self._keep(error=error)

    async def _bury(self, refusal: StreamRefused) -> None:
        """A deadletter with its story. The subscription has ended until the deadletter is requeued."""
        document, now = self._subscription, self._ports.clock.now()
        cause = f"http_{refusal.status}" if refusal.status else type(refusal).__name__
        failure = Failure(at=now, cause=cause, message=str(refusal), status=refusal.status, worker=self._worker)
        payload = Payload.of(document.body, origin="event", observed_at=now)  # so that requeued it subscribes again
        request = Request(
            platform=document.platform, type=document.type, url=document.url, root=document.root, payload=payload
        )
        await self._ports.deadletters.bury(Deadletter.of(request, "immediate", failure))
        reason = f"refused: {refusal}"
        await self._ports.store.save(tombstone(document, deleted_at=now, reason=reason, processed_at=now))
        log.error("stream_refused", stream=document.url, error=str(refusal))
