"""From the common options to settings, and to an open file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from ghcrawl.backend import Backend, open_backend
from ghcrawl.cli import live, records
from ghcrawl.cli.crawl_backend import CrawlBackend, Reading
from ghcrawl.cli.options import Place
from ghcrawl.cli.server.crawl_backend import read_by, served
from ghcrawl.cli.stderr import say
from ghcrawl.ports.store import store_id
from ghcrawl.settings import loading as setting
from ghcrawl.settings.loading import Origins
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import PLATFORMS, based, crawled_by, load, mounts, watching


def settings_of(place: Place, more: Mapping[str, Any] | None = None) -> tuple[Settings, Origins]:
    """The settings without the live ones. more: other options, as `section.name` → value. Raises ConfigError."""
    return load(place.config, setting.environment(), {**place.overrides(), **(more or {})})


class Opened(Struct, frozen=True, kw_only=True):
    """A place that was crawled into. settings: with the base URLs that it was crawled from."""

    backend: Backend
    settings: Settings


@asynccontextmanager
async def existing(place: Place, *, makes: bool = False) -> AsyncIterator[Opened]:
    """What is kept at `place`, open. Raises ConfigError where nothing is, since looking makes no file; StoreError."""
    settings, origins = settings_of(place)
    if settings.store.provider == "memory":
        raise ConfigError("the settings keep all data in memory, so none is left; set store.provider")
    path = settings.sqlite.path
    if settings.embedded and not makes and not path.exists():
        raise ConfigError(f"file {path} not found; create it with `ghcrawl crawl`, or choose another with --db")
    async with open_backend(settings, platforms=[platform.name for platform in PLATFORMS]) as backend:
        remembered = await records.read(backend.store)
        yield Opened(backend=backend, settings=remembering(settings, origins, remembered))


@asynccontextmanager
async def backend(place: Place, *, makes: bool = False) -> AsyncIterator[CrawlBackend]:
    """What is at `place`, to be looked at and acted upon. makes: a file that is not there is made.

    Raises ConfigError where nothing is there; StoreError.
    """
    if place.server:
        async with served(place.server) as found:
            yield found
        return
    async with existing(place, makes=makes) as opened:
        mounted = mounts(opened.settings)
        yield CrawlBackend(
            where=opened.settings.kept_in,
            mounts=mounted,
            now=opened.backend.clock.now,
            queues=opened.backend.queue,
            documents=opened.backend.store,
            deadletters=opened.backend.deadletters,
            requeue=opened.backend.requeue,
            forget=opened.backend.forget,
            watching=watching(opened.backend, mounted, opened.settings),
            store_id=lambda: store_id(opened.backend.store),
            attended=opened.settings.queue.provider == "amqp" or crawled_by(opened.settings.sqlite.path) is not None,
        )


async def reading(place: Place, policy: str | None) -> Reading:
    """How specs are read for `place`, whether it is there or not. policy: for specs that name none.

    Raises ConfigError, StoreError.
    """
    if place.server:
        return await read_by(place.server, policy)
    settings, origins, remembered = await with_memory(place, {"crawl.policy": policy} if policy else {})
    return Reading(mounts=mounts(remembering(settings, origins, remembered)), policy=settings.crawl.policy)


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
            say(f"ignoring the live setting {name}, which this version does not support: {why}")
    return settings, origins, remembered


def remembering(settings: Settings, origins: Origins, remembered: records.Records) -> Settings:
    """The same settings for the APIs that the latest crawl asked: others cannot answer what was found there.

    A base URL that a person has set wins.
    """
    return settings if remembered.latest is None else based(settings, remembered.latest.bases, but=origins)
