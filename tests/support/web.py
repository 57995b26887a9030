"""Crawls of blogs in this process, what they came to, and sites that behave as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from ghcrawl.platforms.web import WEB
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.loading import load
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.wiring import open_service, settings_model

PATIENCE_S = 60.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def site(handler: Handler) -> AsyncIterator[tuple[str, list[str]]]:
    """Answers all paths; yields its URL and the paths that were asked for."""
    paths: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        paths.append(request.path_qs)
        return web.Response(status=404) if request.path == "/robots.txt" else await handler(request)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield "http://{}:{}/".format(*runner.addresses[0][:2]), paths
    finally:
        await runner.cleanup()


@dataclass(kw_only=True)
class Crawled:
    """What one crawl left behind. documents: by URN."""

    tally: Tally
    documents: Mapping[str, Document]
    deadletters: list[Deadletter]

    def of(self, type: str) -> list[Document]:
        return [each for each in self.documents.values() if each.type == type]


async def crawl(db: Path, *urls: str, patience_s: float = PATIENCE_S, **settings: Any) -> Crawled:
    """A whole crawl, as the command line makes it."""
    overrides: dict[str, Any] = {"sqlite.path": db, "sqlite.synchronous": "normal", "crawl.retry_base_s": 0.1}
    overrides |= {name.replace("__", "."): value for name, value in settings.items()}
    made, _ = load(None, {}, overrides, model=settings_model((WEB,)))
    tally = Tally()
    async with open_service(made, {}, tally, platforms=(WEB,)) as service:
        now = SystemClock().now()
        roots = [service.mounts.read_spec(f"web:{url}", "default") for url in urls]
        await service.backend.queue.push(
            [Push(request=replace(root, asked_at=now), queue="immediate") for root in roots]
        )
        service.supervisor.start()
        try:
            async with asyncio.timeout(patience_s):
                while service.engine.busy or not await service.backend.queue.is_empty():  # noqa: ASYNC110  # nobody tells
                    await asyncio.sleep(0.02)
        finally:
            await service.supervisor.drain(5)
        documents = {each.urn: each async for each in service.backend.store.list(DocumentFilter())}
        dead = list(await service.backend.deadletters.list(DeadletterFilter(), limit=100))
    return Crawled(tally=tally, documents=documents, deadletters=dead)
