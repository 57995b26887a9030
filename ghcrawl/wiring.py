"""The composition root: settings become adapters, platforms and loops. It chooses, opens and closes; nothing else."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

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
    checks,
    read_installation,
    read_tokens,
)
from ghcrawl.fetch.reach import Reach
from ghcrawl.model import QueueName, Request
from ghcrawl.platform import Platform
from ghcrawl.ports import Clock, DeadletterFilter, Deadletters, Ledger, Observer, Queue, Store
from ghcrawl.settings import GitHubSection, LogSection, Settings, logged_as
from ghcrawl.sqlite_file import SqliteFile
from ghcrawl.supervisor import Supervisor
from ghcrawl.telemetry import configure_logging
from ghcrawl.trouble import Trouble, WatchedLedger, WatchedQueue
from queues import codec
from queues import sqlite as sqlite_queue
from queues.memory import MemoryQueue
from queues.sqlite import SqliteQueue
from queues.weighted import draw
from stores import sqlite as sqlite_store
from stores import sqlite_deadletters
from stores.deadletters import Requeued, requeue
from stores.ledger import SequentialLedger, SqliteLedger
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sqlite import SqliteStore
from stores.sqlite_deadletters import SqliteDeadletters

Checked = checks.Checked
SCHEMA: Final = (*sqlite_queue.SCHEMA, *sqlite_store.SCHEMA, *sqlite_deadletters.SCHEMA)
PAGES_PER_MB: Final = 256
UNREACHED_CAP_S: Final = 30.0
"""How long a platform that cannot be reached is left alone at the most: whoever sits before it wants it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Queue, documents and deadletters, open."""

    queue: Queue
    store: Store
    deadletters: Deadletters
    ledger: Ledger
    clock: Clock

    async def requeue(self, which: DeadletterFilter, *, to: QueueName | None = None) -> Requeued:
        """What `which` means waits again as if it had never been tried. Raises QueueError, StoreError."""
        return await requeue(self.deadletters, self.queue, which, now=self.clock.now(), to=to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Everything that one crawling process is made of, open and not yet started."""

    backend: Backend
    github: GitHubFetcher
    reach: Reach
    platforms: Mapping[str, Platform]
    engine: Engine
    supervisor: Supervisor
    queue: WatchedQueue
    ledger: WatchedLedger

    @property
    def trouble(self) -> Trouble | None:
        """Since when nothing can be popped, or nothing can be made durable; None while both work."""
        return self.ledger.trouble or self.queue.trouble


@asynccontextmanager
async def open_backend(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Backend]:
    """What `settings` name, until the block is left. Raises ConfigError, StoreError, QueueError."""
    clock = clock or SystemClock()
    providers = (settings.queue.provider, settings.store.provider)
    if "sqlite" not in providers:
        yield _backend(None, settings, clock)
        return
    section = settings.sqlite
    file = await SqliteFile.open(
        section.path,
        schema=SCHEMA,
        synchronous="FULL" if section.synchronous == "full" else "NORMAL",
        max_pages=section.max_mb * PAGES_PER_MB,
    )
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

    An embedded file is this process's to crawl from now on, and what a dead one had in hand waits again.

    unhurried: keep GitHub's unwritten limits (calls a minute, summed response time). A simulator has none.
    Raises ConfigError, also where another process crawls the file; StoreError, QueueError.
    """
    async with open_backend(settings, clock=clock) as backend:
        if isinstance(backend.queue, SqliteQueue):
            await backend.queue.take_over()
        wanted = _github(settings.github, unhurried=unhurried)
        async with GitHubFetcher(wanted, credentials, backend.clock, observer) as github:
            yield _service(backend, github, settings, observer, worker=worker, api_url=wanted.api_url)


def _service(
    backend: Backend, github: GitHubFetcher, settings: Settings, observer: Observer, *, worker: str, api_url: str
) -> Service:
    crawl, clock = settings.crawl, backend.clock
    platform = processors.github.platform(commits=settings.github.commits)
    reach = Reach(github, api_url, clock, base_s=crawl.retry_base_s, cap_s=min(crawl.retry_cap_s, UNREACHED_CAP_S))
    queue, ledger = WatchedQueue(backend.queue, clock), WatchedLedger(backend.ledger, clock)
    ports = Ports(queue=queue, store=backend.store, ledger=ledger, clock=clock, observer=observer, draw=draw)
    mounted = (Mounted(platform=platform, fetcher=reach),)
    engine = Engine(mounted, ports, tuning=crawl.tuning(), worker=worker)
    return Service(
        backend=backend,
        github=github,
        reach=reach,
        platforms={platform.name: platform},
        engine=engine,
        supervisor=Supervisor(engine, clock),
        queue=queue,
        ledger=ledger,
    )


def crawled_by(path: Path) -> int | None:
    """The process that crawls the embedded file at `path`; None: none does.

    Asks the kernel only where a process with the number in the lock file is alive, so that looking hardly ever gets
    in the way of a crawl that begins at this very moment.
    """
    pid = 0
    try:
        with Path(f"{path}.lock").open(encoding="ascii") as lock:
            pid = int(lock.read(32) or 0)
            if pid and _alive(pid):
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return pid
    except (OSError, ValueError):
        pass
    return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def read_message(text: str) -> Request:
    """The request in a queue's message. Raises DecodeError."""
    return codec.decode(text.encode())


def start_logging(section: LogSection, stream: TextIO) -> None:
    """From now on logs go to `stream`, and no credential with them."""
    format = logged_as(section, terminal=stream.isatty())
    configure_logging(level=section.level, format=format, redact=(REDACTOR,), stream=stream)


def redacted(text: str) -> str:
    """`text` without credentials."""
    return REDACTOR.text(text)


def github_platform(settings: Settings) -> Platform:
    """GitHub as these settings crawl it, for reading specs without a crawl."""
    return processors.github.platform(commits=settings.github.commits)


def _github(section: GitHubSection, *, unhurried: bool) -> GitHubSettings:
    pace = {} if unhurried else {"calls_per_min": None, "response_s_per_min": None}
    return GitHubSettings(
        api_url=section.api_url,
        api_version=section.api_version,
        concurrency=section.concurrency,
        reserve=section.reserve,
        timeout_s=section.timeout_s,
        max_body_bytes=section.max_body_mb * 1_000_000,
        **pace,  # type: ignore[arg-type]  # both are optional numbers
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """A credential, and where it comes from, for a person."""

    credential: Credential
    source: str


def read_credentials(settings: Settings, environ: Mapping[str, str]) -> tuple[Credential, ...]:
    """The tokens of GHCRAWL_TOKENS and of the tokens file, and the Apps. None at all: GitHub is asked anonymously.

    From now on none of them can appear in a log. Raises ConfigError, which never shows one.
    """
    return tuple(sourced.credential for sourced in source_credentials(settings, environ))


def source_credentials(settings: Settings, environ: Mapping[str, str]) -> tuple[Sourced, ...]:
    """The same, each with where it comes from."""
    variable, file = environ.get("GHCRAWL_TOKENS", ""), ""
    if settings.github.tokens_file:
        file = _read_secret(Path(settings.github.tokens_file).expanduser(), "tokens file")
    of_variable = len(read_tokens(variable))
    credentials: list[Credential] = list(read_tokens(f"{variable}\n{file}"))
    sources = [
        "GHCRAWL_TOKENS" if place < of_variable else settings.github.tokens_file for place in range(len(credentials))
    ]
    for app in settings.github.apps:
        sources.append("github.apps")
        orgs = frozenset(name.lower() for name in app.orgs)
        traits = Traits(public=app.public, private=app.private, orgs=orgs)
        key_file = app.private_key_file.expanduser()
        credentials.append(read_installation(app.app_id, app.installation_id, key_file, traits))
    for credential in credentials:
        REDACTOR.add(getattr(credential, "secret", ""))
    return tuple(Sourced(credential=one, source=source) for one, source in zip(credentials, sources, strict=True))


def check_credentials(settings: Settings, credentials: Sequence[Credential]) -> AsyncIterator[Checked]:
    """What the API says about each. Raises ConfigError, and FetchError where it cannot be reached."""
    return checks.check(_github(settings.github, unhurried=True), credentials, SystemClock())


def _read_secret(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"there is no {what} {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the {what} {path} cannot be read: {type(error).__name__}") from None
