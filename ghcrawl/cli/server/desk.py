"""A service as a desk, and how it reads specs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from ghcrawl import settings as setting
from ghcrawl.cli.desk import Desk, Reading
from ghcrawl.cli.server.client import connected
from ghcrawl.cli.server.ports import ServerDocuments, ServerLetters, ServerQueues
from ghcrawl.settings import Settings
from ghcrawl.wiring import github_platform


@asynccontextmanager
async def served(url: str) -> AsyncIterator[Desk]:
    """The service at `url`, to be looked at and acted upon. Raises ConfigError, StoreError."""
    async with connected(url, setting.environment()) as client:
        shown = await client.get("/api/v1/settings")
        yield Desk(
            where=client.url,
            api_url=shown["settings"]["github"]["api_url"],
            platform=github_platform(Settings()),
            now=lambda: datetime.now(UTC),
            queues=ServerQueues(client),
            documents=ServerDocuments(client),
            letters=ServerLetters(client),
            attended=True,
        )


async def read_by(url: str, policy: str | None) -> Reading:
    """How the service at `url` reads specs. Raises ConfigError, StoreError."""
    async with connected(url, setting.environment()) as client:
        shown = (await client.get("/api/v1/settings"))["settings"]
    return Reading(
        platform=github_platform(Settings()),
        api_url=shown["github"]["api_url"],
        policy=policy or shown["crawl"]["policy"],
    )
