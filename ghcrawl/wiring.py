"""The composition root: settings become adapters, platforms and loops. It chooses, opens and closes; nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import processors.github
from ghcrawl.clock import SystemClock
from ghcrawl.decision import Mounted
from ghcrawl.engine import Engine, Ports
from ghcrawl.errors import ConfigError
from ghcrawl.fetch.github import (
    REDACTOR,
    Credential,
    GitHubFetcher,
    GitHubSettings,
    Traits,
    read_installation,
    read_tokens,
)
from ghcrawl.platform import Platform
from ghcrawl.ports import Clock, Deadletters, Ledger, Observer, Queue, Store
from ghcrawl.settings import GitHubSection, Settings
from ghcrawl.sqlite_file import SqliteFile
from ghcrawl.supervisor import Supervisor
from queues import codec
from queues import sqlite as sqlite_queue
from queues.memory import MemoryQueue
from queues.sqlite import SqliteQueue
from queues.weighted import draw
from stores import sqlite as sqlite_store
from stores import sqlite_deadletters
from stores.ledger import SequentialLedger, SqliteLedger
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sqlite import SqliteStore
from stores.sqlite_deadletters import SqliteDeadletters

SCHEMA: Final = (*sqlite_queue.SCHEMA, *sqlite_store.SCHEMA, *sqlite_deadletters.SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Queue, documents and deadletters, open."""

    queue: Queue
    store: Store
    deadletters: Deadletters
    ledger: Ledger
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Everything that one crawling process is made of, open and not yet started."""

    backend: Backend
    github: GitHubFetcher
    platforms: Mapping[str, Platform]
    engine: Engine
    supervisor: Supervisor


@asynccontextmanager
async def open_backend(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Backend]:
    """What `settings` name, until the block is left. Raises ConfigError, StoreError, QueueError."""
    clock = clock or SystemClock()
    providers = (settings.queue.provider, settings.store.provider)
    if "sqlite" not in providers:
        yield _backend(None, settings, clock)
        return
    path, cautious = settings.sqlite.path, settings.sqlite.synchronous == "full"
    file = await SqliteFile.open(path, schema=SCHEMA, synchronous="FULL" if cautious else "NORMAL")
    try:
        yield _backend(file, settings, clock)
    finally:
        await file.close()


def _backend(file: SqliteFile | None, settings: Settings, clock: Clock) -> Backend:
    """The adapters that were chosen. Queue and store in one file settle in one transaction."""
    deadletters: Deadletters = MemoryDeadletters()
    store: Store = MemoryStore()
    queue: Queue = MemoryQueue(clock)
    ledger: Ledger | None = None
    if file is not None:
        letters, documents = SqliteDeadletters(file, codec), SqliteStore(file)
        if settings.store.provider == "sqlite":
            deadletters, store = letters, documents
        if settings.queue.provider == "sqlite":
            requests = SqliteQueue(file, clock, bury=letters.burying)
            queue = requests
            if settings.store.provider == "sqlite":
                ledger = SqliteLedger(file, requests, documents, letters)
    ledger = ledger or SequentialLedger(queue, store, deadletters)
    return Backend(queue=queue, store=store, deadletters=deadletters, ledger=ledger, clock=clock)


@asynccontextmanager
async def open_service(
    settings: Settings,
    credentials: Sequence[Credential],
    observer: Observer,
    *,
    clock: Clock | None = None,
    worker: str = "",
    unhurried: bool = True,
) -> AsyncIterator[Service]:
    """A crawling process, until the block is left; whoever opens it starts and drains the supervisor.

    unhurried: keep GitHub's unwritten limits (calls a minute, summed response time). A simulator has none.
    Raises ConfigError, StoreError, QueueError.
    """
    async with open_backend(settings, clock=clock) as backend:
        github = GitHubFetcher(_github(settings.github, unhurried=unhurried), credentials, backend.clock, observer)
        async with github:
            platform = processors.github.platform(commits=settings.github.commits)
            ports = Ports(
                queue=backend.queue,
                store=backend.store,
                ledger=backend.ledger,
                clock=backend.clock,
                observer=observer,
                draw=draw,
            )
            mounted = (Mounted(platform=platform, fetcher=github),)
            engine = Engine(mounted, ports, tuning=settings.crawl.tuning(), worker=worker)
            yield Service(
                backend=backend,
                github=github,
                platforms={platform.name: platform},
                engine=engine,
                supervisor=Supervisor(engine, backend.clock),
            )


def github_platform(settings: Settings) -> Platform:
    """GitHub as these settings crawl it, for reading specs without a crawl."""
    return processors.github.platform(commits=settings.github.commits)


def _github(section: GitHubSection, *, unhurried: bool) -> GitHubSettings:
    pace = {} if unhurried else {"burst_per_s": None, "response_s_per_min": None}
    return GitHubSettings(
        api_url=section.api_url,
        api_version=section.api_version,
        concurrency=section.concurrency,
        reserve=section.reserve,
        timeout_s=section.timeout_s,
        max_body_bytes=section.max_body_mb * 1_000_000,
        **pace,  # type: ignore[arg-type]  # both are optional numbers
    )


def read_credentials(settings: Settings, environ: Mapping[str, str]) -> tuple[Credential, ...]:
    """The tokens of GHCRAWL_TOKENS and of the tokens file, and the Apps. None at all: GitHub is asked anonymously.

    From now on none of them can appear in a log. Raises ConfigError, which never shows one.
    """
    texts = [environ.get("GHCRAWL_TOKENS", "")]
    if settings.github.tokens_file:
        texts.append(_read_secret(Path(settings.github.tokens_file).expanduser(), "tokens file"))
    credentials: list[Credential] = list(read_tokens("\n".join(texts)))
    for app in settings.github.apps:
        orgs = frozenset(name.lower() for name in app.orgs)
        traits = Traits(public=app.public, private=app.private, orgs=orgs)
        key_file = app.private_key_file.expanduser()
        credentials.append(read_installation(app.app_id, app.installation_id, key_file, traits))
    for credential in credentials:
        REDACTOR.add(getattr(credential, "secret", ""))
    return tuple(credentials)


def _read_secret(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"there is no {what} {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the {what} {path} cannot be read: {type(error).__name__}") from None
