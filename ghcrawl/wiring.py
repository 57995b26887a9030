"""The composition root: settings become adapters, platforms and loops. It chooses, opens and closes; nothing else."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal, TextIO

import processors.github
from ghcrawl.backend import Backend, Forgotten, Requeued, check_servers, open_backend, read_secret
from ghcrawl.clock import SystemClock
from ghcrawl.decision import Mounted
from ghcrawl.engine import Engine, Ports
from ghcrawl.errors import ConfigError
from ghcrawl.fetch.github import (
    REDACTOR,
    Credential,
    GitHubFetcher,
    GitHubSettings,
    Token,
    Traits,
    checks,
    read_installation,
    read_tokens,
)
from ghcrawl.fetch.github.hooks import APP, GitHubHooks
from ghcrawl.fetch.reach import Reach
from ghcrawl.fetch.spending import Budgeted, Spending
from ghcrawl.measured import Measure, MeasuredFetcher, MeasuredLedger, MeasuredQueue, measured
from ghcrawl.model import QueueName, Request
from ghcrawl.platform import Platform
from ghcrawl.ports import Clock, Fetcher, Observer
from ghcrawl.redelivery import Pace, Redelivery, Run
from ghcrawl.settings import GitHubSection, LogSection, Settings, logged_as
from ghcrawl.standing_aside import Answering, StandingAside
from ghcrawl.supervisor import Supervisor
from ghcrawl.telemetry import Observers, configure_logging
from ghcrawl.trouble import Trouble, WatchedLedger, WatchedQueue
from ghcrawl.tuning import Tuning
from processors.github.estimate import Estimate, Question, Reply, survey
from processors.github.scenarios import narrow
from queues import codec
from queues.amqp import AmqpQueue
from queues.sqlite import SqliteQueue
from queues.weighted import draw

__all__ = [
    "Backend",
    "Checked",
    "Estimate",
    "Forgotten",
    "Question",
    "Reply",
    "Requeued",
    "Service",
    "Sourced",
    "check_credentials",
    "check_servers",
    "conceal",
    "crawled_by",
    "demand_runnable",
    "github_platform",
    "narrow",
    "open_backend",
    "open_redelivery",
    "open_service",
    "read_credentials",
    "read_message",
    "redacted",
    "source_credentials",
    "start_logging",
    "survey",
    "write_message",
]

Checked = checks.Checked
FIRST_THINGS_FIRST: Final[Mapping[QueueName, int]] = {
    "event": 10_000,
    "immediate": 1_000,
    "soon": 100,
    "normal": 10,
    "later": 1,
}
"""Weights for whoever may make only so many calls: lists before single things, and people last."""
VARIABLE: Final = "GHCRAWL_TOKENS"
"""Where tokens are looked for in the environment."""
UNREACHED_CAP_S: Final = 30.0
"""How long a platform that cannot be reached is left alone at the most: whoever sits before it wants it back."""


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
    answering: Answering
    measured: MeasuredQueue | None = None
    spending: Spending | None = None

    def tune(self, settings: Settings) -> None:
        """What may change while loops run is as `settings` say from now on."""
        self.supervisor.tune(_tuning(settings, self.spending))
        self.github.limit(concurrency=settings.github.concurrency, reserve=settings.github.reserve)

    @property
    def trouble(self) -> Trouble | None:
        """Since when nothing can be popped, or nothing can be made durable; None while both work."""
        return self.ledger.trouble or self.queue.trouble


@asynccontextmanager
async def open_service(  # noqa: PLR0913  # the composition root takes all that its callers alone know
    settings: Settings,
    credentials: Sequence[Credential],
    observer: Observer,
    *,
    clock: Clock | None = None,
    worker: str = "",
    unhurried: bool = True,
    measure: Measure | None = None,
    max_calls: int | None = None,
) -> AsyncIterator[Service]:
    """A crawling process, until the block is left; whoever opens it starts and drains the supervisor.

    An embedded file is this process's to crawl from now on, and what a dead one had in hand waits again.

    unhurried: keep GitHub's unwritten limits (calls a minute, summed response time). A simulator has none.
    max_calls: so many at the most; what matters most comes first then.
    measure: told how long everything takes; then the service's `measured` knows what each loop does.
    Raises ConfigError, also where another process crawls the file; StoreError, QueueError.
    """
    async with open_backend(settings, clock=clock, phase=measure.phase if measure else None) as backend:
        if isinstance(backend.queue, SqliteQueue | AmqpQueue):
            await backend.queue.take_over()
        wanted = _github(settings.github, unhurried=unhurried)
        spending = Spending(max_calls) if max_calls is not None else None
        heard_by = Observers(observer, spending) if spending else observer
        async with GitHubFetcher(wanted, credentials, backend.clock, heard_by) as github:
            service = _service(backend, github, settings, observer, worker=worker, measure=measure, spending=spending)
            yield service


def _service(  # noqa: PLR0913  # the same
    backend: Backend,
    github: GitHubFetcher,
    settings: Settings,
    observer: Observer,
    *,
    worker: str,
    measure: Measure | None,
    spending: Spending | None,
) -> Service:
    demand_runnable(settings)
    crawl, clock = settings.crawl, backend.clock
    platform = github_platform(settings)
    api_url, cap_s = settings.github.api_url, min(crawl.retry_cap_s, UNREACHED_CAP_S)
    reach = Reach(github, api_url, clock, base_s=crawl.retry_base_s, cap_s=cap_s)
    popped = MeasuredQueue(backend.queue, clock, measure) if measure else None
    queue = WatchedQueue(popped or backend.queue, clock)
    ledger = WatchedLedger(MeasuredLedger(backend.ledger, measure) if measure else backend.ledger, clock)
    answering = Answering()
    popping = StandingAside(queue, answering)
    ports = Ports(queue=popping, store=backend.store, ledger=ledger, clock=clock, observer=observer, draw=draw)
    fetcher: Fetcher = Budgeted(reach, spending, clock) if spending else reach
    mounted = (Mounted(platform=platform, fetcher=fetcher),)
    if measure:
        mounted = (Mounted(platform=measured(platform, measure), fetcher=MeasuredFetcher(fetcher, measure)),)
    engine = Engine(mounted, ports, tuning=_tuning(settings, spending), worker=worker)
    return Service(
        backend=backend,
        github=github,
        reach=reach,
        platforms={platform.name: platform},
        engine=engine,
        supervisor=Supervisor(engine, clock),
        queue=queue,
        ledger=ledger,
        answering=answering,
        measured=popped,
        spending=spending,
    )


def _tuning(settings: Settings, spending: Spending | None) -> Tuning:
    """As the settings say; but whoever may make only so many calls makes those first that matter most."""
    tuning = settings.crawl.tuning()
    return tuning if spending is None else replace(tuning, weights=FIRST_THINGS_FIRST)


def open_redelivery(
    service: Service, settings: Settings, *, worker: str = "", tell: Callable[[Run], None] = lambda _: None
) -> Redelivery | None:
    """Who asks for deliveries that did not arrive; None where the settings name nobody whose they are.

    tell: told of every sweep of this process. Raises ConfigError for an App that is not among the credentials.
    """
    section = settings.service
    known = {f"{APP}{app.app_id}" for app in settings.github.apps}
    unknown = [name for name in section.redeliver if name.startswith(APP) and name not in known]
    if unknown:
        raise ConfigError(f"service.redeliver: github.apps has no {unknown[0]}; it needs the App's key")
    if not section.redeliver:
        return None
    hooks = GitHubHooks(service.github, settings.github.api_url, section.redeliver, section.webhook_url)
    pace = Pace(every_s=section.redeliver_every_s)
    return Redelivery(hooks, service.backend.store, service.backend.clock, pace, worker=worker, tell=tell)


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


def write_message(request: Request) -> bytes:
    """The message of a request, as queues keep it. Raises Unstorable."""
    return codec.encode(request)


def start_logging(section: LogSection, stream: TextIO) -> None:
    """From now on logs go to `stream`, and no credential with them."""
    format = logged_as(section, terminal=stream.isatty())
    configure_logging(level=section.level, format=format, redact=(REDACTOR,), stream=stream)


def conceal(secret: str) -> None:
    """From now on `secret` appears in no log."""
    REDACTOR.add(secret)


def redacted(text: str) -> str:
    """`text` without credentials."""
    return REDACTOR.text(text)


def github_platform(settings: Settings) -> Platform:
    """GitHub as these settings crawl it, for reading specs without a crawl."""
    return _platform(settings.github.commits)


@cache
def _platform(commits: Literal["list", "full"]) -> Platform:
    return processors.github.platform(commits=commits)


def demand_runnable(settings: Settings) -> None:
    """Raises ConfigError for what the settings themselves cannot know to be wrong."""
    scenario, known = settings.crawl.scenario, github_platform(settings).scenarios.names
    if scenario and scenario not in known:
        raise ConfigError(f"crawl.scenario: no scenario is called {scenario}; there are {', '.join(known)}")


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


def read_credentials(
    settings: Settings, environ: Mapping[str, str], *, source: str = VARIABLE
) -> tuple[Credential, ...]:
    """The tokens of GHCRAWL_TOKENS and of the tokens file, and the Apps. None at all: GitHub is asked anonymously.

    From now on none of them can appear in a log. source: where those of `environ` really are from, for a person.
    Raises ConfigError, which never shows one.
    """
    return tuple(sourced.credential for sourced in source_credentials(settings, environ, source=source))


def source_credentials(
    settings: Settings, environ: Mapping[str, str], *, source: str = VARIABLE
) -> tuple[Sourced, ...]:
    """The same, each with where it comes from."""
    variable = read_tokens(environ.get(VARIABLE, ""), source=source)
    listed = _tokens_file(settings.github.tokens_file, variable) if settings.github.tokens_file else ()
    credentials: list[Credential] = [*variable, *listed]
    sources = [source] * len(variable) + [settings.github.tokens_file] * len(listed)
    for app in settings.github.apps:
        sources.append("github.apps")
        orgs = frozenset(name.lower() for name in app.orgs)
        traits = Traits(public=app.public, private=app.private, orgs=orgs)
        key_file = app.private_key_file.expanduser()
        credentials.append(read_installation(app.app_id, app.installation_id, key_file, traits))
    for credential in credentials:
        REDACTOR.add(getattr(credential, "secret", ""))
    return tuple(Sourced(credential=one, source=source) for one, source in zip(credentials, sources, strict=True))


def _tokens_file(name: str, earlier: Sequence[Token]) -> Sequence[Token]:
    """The tokens in that file. Raises ConfigError, also where there is none."""
    path = Path(name).expanduser()
    found = read_tokens(read_secret(path, "tokens file"), source=f"the tokens file {path}", earlier=earlier)
    if not found:
        raise ConfigError(
            f"there is no token in the tokens file {path}; write one a line, or do not set github.tokens_file"
        )
    return found


def check_credentials(settings: Settings, credentials: Sequence[Credential]) -> AsyncIterator[Checked]:
    """What the API says about each. Raises ConfigError, and FetchError where it cannot be reached."""
    return checks.check(_github(settings.github, unhurried=True), credentials, SystemClock())
