"""A running service as the backend of commands, and how it reads specs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from ghcrawl.cli.crawl_backend import CrawlBackend, Reading
from ghcrawl.cli.server.client import connected
from ghcrawl.cli.server.ports import ServerDeadletters, ServerDocuments, ServerQueues
from ghcrawl.cli.server.sources import ServerSources
from ghcrawl.settings import loading as setting
from ghcrawl.wiring import mounts_of


@asynccontextmanager
async def served(url: str) -> AsyncIterator[CrawlBackend]:
    """The service at `url`, to be looked at and acted upon. Raises ConfigError, StoreError."""
    async with connected(url, setting.environment()) as client:
        shown = await client.get("/api/v1/settings")
        documents, deadletters = ServerDocuments(client), ServerDeadletters(client)
        yield CrawlBackend(
            where=client.url,
            mounts=mounts_of(shown["settings"]),
            now=lambda: datetime.now(UTC),
            queues=ServerQueues(client),
            documents=documents,
            deadletters=deadletters,
            requeue=deadletters.requeue,
            forget=deadletters.forget,
            watching=ServerSources(client),
            attended=True,
            store_id=documents.store_id,
        )


async def read_by(url: str, policy: str | None) -> Reading:
    """How the service at `url` reads specs. Raises ConfigError, StoreError."""
    async with connected(url, setting.environment()) as client:
        shown = (await client.get("/api/v1/settings"))["settings"]
    return Reading(mounts=mounts_of(shown), policy=policy or shown["crawl"]["policy"])
