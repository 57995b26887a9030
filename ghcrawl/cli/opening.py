"""From the common options to settings, and to an open file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from ghcrawl import settings as setting
from ghcrawl.cli import live, records
from ghcrawl.cli.options import Place
from ghcrawl.errors import ConfigError
from ghcrawl.settings import Origins, Settings
from ghcrawl.wiring import Backend, open_backend


def settings_of(place: Place, more: Mapping[str, Any] | None = None) -> tuple[Settings, Origins]:
    """The settings without the live ones. more: other options, as `section.name` → value. Raises ConfigError."""
    return setting.load(place.config, setting.environment(), {**place.overrides(), **(more or {})})


@asynccontextmanager
async def existing(place: Place) -> AsyncIterator[Backend]:
    """The file that was crawled into. Raises ConfigError where there is none: looking makes no file."""
    settings, _ = settings_of(place)
    demand(settings)
    async with open_backend(settings) as backend:
        yield backend


def demand(settings: Settings) -> None:
    """Raises ConfigError where there is no embedded file."""
    if settings.store.provider != "sqlite":
        raise ConfigError("these settings keep everything in memory, so there is nothing to look at afterwards")
    path = settings.sqlite.path
    if not path.exists():
        raise ConfigError(f"there is no file {path} here; `ghcrawl crawl` makes it, and --db names another")


async def with_memory(place: Place, more: Mapping[str, Any] | None = None) -> tuple[Settings, Origins, records.Records]:
    """The settings with the live ones that the file keeps, and the crawls it remembers, if it is there.

    Raises ConfigError, StoreError.
    """
    settings, origins = settings_of(place, more)
    if settings.store.provider != "sqlite" or not settings.sqlite.path.exists():
        return settings, origins, records.Records()
    async with open_backend(settings) as backend:
        kept = await live.kept(backend.store)
        remembered = await records.read(backend.store)
    if kept:
        settings, origins = live.applied(place, more or {}, kept)
    return settings, origins, remembered
