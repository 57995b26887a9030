"""From the common options to settings, and to an open file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ghcrawl import settings as setting
from ghcrawl.cli import live, records
from ghcrawl.cli.desk import BackendLetters, Desk, Reading
from ghcrawl.cli.options import Place
from ghcrawl.cli.server.desk import read_by, served
from ghcrawl.cli.stderr import say
from ghcrawl.errors import ConfigError
from ghcrawl.settings import Origins, Settings
from ghcrawl.wiring import Backend, crawled_by, github_platform, open_backend


def settings_of(place: Place, more: Mapping[str, Any] | None = None) -> tuple[Settings, Origins]:
    """The settings without the live ones. more: other options, as `section.name` → value. Raises ConfigError."""
    return setting.load(place.config, setting.environment(), {**place.overrides(), **(more or {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A place that was crawled into. api_url: where what is in it comes from."""

    backend: Backend
    settings: Settings
    api_url: str

    @property
    def where(self) -> str:
        """The file, or the database, for a person."""
        return self.settings.kept_in


@asynccontextmanager
async def existing(place: Place, *, makes: bool = False) -> AsyncIterator[Opened]:
    """What is kept at `place`, open. Raises ConfigError where nothing is, since looking makes no file; StoreError."""
    settings, origins = settings_of(place)
    if settings.store.provider == "memory":
        raise ConfigError("these settings keep everything in memory, so there is nothing to look at afterwards")
    path = settings.sqlite.path
    if settings.embedded and not makes and not path.exists():
        raise ConfigError(f"there is no file {path} here; `ghcrawl crawl` makes one, and --db names another")
    async with open_backend(settings) as backend:
        remembered = await records.read(backend.store)
        latest = remembered.latest if "github.api_url" not in origins else None
        yield Opened(backend=backend, settings=settings, api_url=latest.api_url if latest else settings.github.api_url)


@asynccontextmanager
async def desk(place: Place, *, makes: bool = False) -> AsyncIterator[Desk]:
    """What is at `place`, to be looked at and acted upon. makes: a file that is not there is made.

    Raises ConfigError where nothing is there; StoreError.
    """
    if place.server:
        async with served(place.server) as found:
            yield found
        return
    async with existing(place, makes=makes) as opened:
        yield Desk(
            where=opened.where,
            api_url=opened.api_url,
            platform=github_platform(opened.settings),
            now=opened.backend.clock.now,
            queues=opened.backend.queue,
            documents=opened.backend.store,
            letters=BackendLetters(opened.backend),
            attended=opened.settings.queue.provider == "amqp" or crawled_by(opened.settings.sqlite.path) is not None,
        )


async def reading(place: Place, policy: str | None) -> Reading:
    """How specs are read for `place`, whether it is there or not. policy: for specs that name none.

    Raises ConfigError, StoreError.
    """
    if place.server:
        return await read_by(place.server, policy)
    settings, origins, remembered = await with_memory(place, {"crawl.policy": policy} if policy else {})
    latest = remembered.latest if "github.api_url" not in origins else None
    return Reading(
        platform=github_platform(settings),
        api_url=latest.api_url if latest else settings.github.api_url,
        policy=settings.crawl.policy,
    )


async def with_memory(place: Place, more: Mapping[str, Any] | None = None) -> tuple[Settings, Origins, records.Records]:
    """The settings with the live ones that are kept at `place`, and the crawls it remembers, if it is there.

    Raises ConfigError, StoreError.
    """
    settings, origins = settings_of(place, more)
    if settings.store.provider == "memory" or (settings.embedded and not settings.sqlite.path.exists()):
        return settings, origins, records.Records()
    async with open_backend(settings) as backend:
        kept = await live.kept(backend.store)
        remembered = await records.read(backend.store)
    if kept:
        applied = live.applied(place, more or {}, kept)
        settings, origins = applied.settings, applied.origins
        for name, why in applied.strange.items():
            say(f"{name}, which is set live, cannot be used by this version and is left as it is: {why}")
    return settings, origins, remembered


def asking(settings: Settings, api_url: str) -> Settings:
    """The same settings for the API at `api_url`: what was found there, nobody else can answer."""
    return settings.model_copy(update={"github": settings.github.model_copy(update={"api_url": api_url})})
