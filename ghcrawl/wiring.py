"""The composition root: settings become adapters, platforms and loops. It chooses, opens and closes; nothing else."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO
from uuid import uuid4

from msgspec import Struct

from ghcrawl.backend import Backend, open_backend
from ghcrawl.engine import batch_mismatches
from ghcrawl.engine.batch_mismatches import Differences
from ghcrawl.engine.decision import Mounted
from ghcrawl.engine.loop import Engine, Ports
from ghcrawl.engine.supervisor import Supervisor
from ghcrawl.engine.weighted_order import draw
from ghcrawl.fetch.call_budget import Budgeted, Spending
from ghcrawl.fetch.circuit_breaker import CircuitBreaker, HostCircuitBreakers
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.platforms.contract import HookAccess, Platform
from ghcrawl.platforms.credentials import CredentialHandling, LoadedCredential
from ghcrawl.platforms.kind import Batch
from ghcrawl.platforms.mount import Mount, Mounts
from ghcrawl.platforms.registry import PLATFORMS as PLATFORMS  # noqa: PLC0414  # only wiring may import it
from ghcrawl.platforms.simulation import Simulator
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.source import Credential, Source
from ghcrawl.ports.store import Store
from ghcrawl.redelivery.state import Run
from ghcrawl.redelivery.sweep import Pace
from ghcrawl.redelivery.sweep_schedule import Redelivery
from ghcrawl.schedule.budget import hourly
from ghcrawl.schedule.options import Options
from ghcrawl.schedule.ticker import Ticker
from ghcrawl.schedule.watching import WatchedHere
from ghcrawl.settings import loading
from ghcrawl.settings.sections import LogSection, Settings, logged_as
from ghcrawl.streams.producer import StreamPorts
from ghcrawl.streams.supervisor import Streamed, Streams
from ghcrawl.telemetry.instrumented import (
    InstrumentedQueue,
    InstrumentedUnitOfWork,
    Measure,
    MeasuredFetcher,
    PortOutage,
    measured,
)
from ghcrawl.telemetry.load_shedding import LoadShedding
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.telemetry.metrics import Observers
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.tuning import Tuning
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName, TypeNames, suggestion
from queues import codec
from queues.sqlite.queue import SqliteQueue

FIRST_THINGS_FIRST: Final[Mapping[QueueName, int]] = {name: 10_000**rank for rank, name in enumerate(reversed(QUEUES))}
"""Weights for a crawl with a limited number of calls: lists before single things, users last. So far apart that a queue
has its turn when those before it are empty."""
UNREACHED_CAP_S: Final = 30.0
"""Longest wait between two attempts to reach a platform that is down; a person may be waiting for it."""
HELD_S: Final = 1500.0
"""How long work on a request may take at the most before RabbitMQ, after half an hour, gives it to others as well."""


def settings_model(platforms: Sequence[Platform] = PLATFORMS) -> type[Settings]:
    """The settings with a section for each platform."""
    live = [f"{platform.name}.{name}" for platform in platforms for name in platform.live]
    variables = [platform.credentials.variable for platform in platforms if platform.credentials is not None]
    return loading.composed({platform.name: platform.section for platform in platforms}, live, variables)


SETTINGS: Final = settings_model()


load: Final = partial(loading.load, model=SETTINGS)
"""As `ghcrawl.settings.loading.load`, with a section for each platform."""
Credentials = Mapping[str, Sequence[Credential]]
"""Platform → its credentials. A platform that is not in it is asked without any."""


Breaker = CircuitBreaker | HostCircuitBreakers


class OpenPlatform(Struct, frozen=True, kw_only=True):
    """One mounted platform, open. breaker: the source behind its circuit breaker; fetcher: within the call budget."""

    mount: Mount
    source: Source
    breaker: Breaker
    fetcher: Fetcher

    @property
    def platform(self) -> Platform:
        """As its settings have it."""
        return self.mount.platform


class Service(Struct, frozen=True, kw_only=True):
    """Everything that one crawling process is made of, open and not yet started. opened: by the platform's name."""

    backend: Backend
    mounts: Mounts
    opened: Mapping[str, OpenPlatform]
    engine: Engine
    supervisor: Supervisor
    queue: InstrumentedQueue
    unit_of_work: InstrumentedUnitOfWork
    answering: LoadShedding
    streams: Streams
    tickers: Sequence[Ticker] = ()
    spending: Spending | None = None

    def tune(self, settings: Settings) -> None:
        """What may change while loops run is as `settings` say from now on."""
        self.supervisor.tune(_tuning(settings, self.spending))
        for name, opened in self.opened.items():
            opened.source.limit(settings.section(name))
        for ticker in self.tickers:
            ticker.options = _options(settings, self.mounts)

    async def look_again(self) -> None:
        """Ask what is watched and due, of every platform that can be asked; produce the streams.

        Raises StoreError, QueueError.
        """
        await self.streams.look()
        blocked = self.engine.blocked()
        for ticker in self.tickers:
            if ticker.platform not in blocked:
                await ticker.turn()

    async def differences(self) -> Mapping[str, Differences]:
        """By platform, what any replica found to differ between batches and the platform's own answers, if anything.

        Such batches are not asked for here either. Raises StoreError.
        """
        found: dict[str, Differences] = {}
        for name, opened in self.opened.items():
            if none := {kind.of: () for kind in opened.platform.kinds.values() if isinstance(kind, Batch)}:
                known = await batch_mismatches.read(self.backend.store, name, opened.mount.base_url)
                for type, fields in known.items():
                    opened.platform.disproved(opened.source, type, fields)
                found[name] = {**none, **known}
        return found

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """What is mounted, by name."""
        return {name: opened.platform for name, opened in self.opened.items()}

    @property
    def outage(self) -> PortOutage | None:
        """Since when nothing can be popped, or nothing can be made durable; None while both work."""
        return self.unit_of_work.outage or self.queue.outage


@asynccontextmanager
async def open_service(  # noqa: PLR0913  # the composition root takes all that its callers alone know
    settings: Settings,
    credentials: Credentials,
    observer: Observer,
    *,
    clock: Clock | None = None,
    worker: str = "",
    measure: Measure | None = None,
    max_calls: int | None = None,
    platforms: Sequence[Platform] = PLATFORMS,
) -> AsyncIterator[Service]:
    """A crawling process, until the block is left; the caller starts and drains the supervisor.

    An embedded file is this process's to crawl from now on; requests in flight of a dead process are ready again.

    max_calls: limit for all platforms together; then the calls that bring most come first.
    measure: told how long everything takes; then the service's `queue` knows what each loop does.
    Raises ConfigError, also where another process crawls the file; StoreError, QueueError.
    """
    mounted, phase = mounts(settings, platforms), measure.phase if measure else None
    names = [mount.name for mount in mounted]
    _demand_scenario(settings, mounted)
    async with AsyncExitStack() as stack:
        opening_backend = open_backend(settings, clock=clock, phase=phase, platforms=names)
        backend = await stack.enter_async_context(opening_backend)
        if isinstance(backend.queue, SqliteQueue):
            await backend.queue.take_over()
        if backend.broker is not None:
            await backend.broker.take_over()
        spending = Spending(max_calls) if max_calls is not None else None
        told = Observers(observer, spending) if spending else observer
        egress = Egress(quotas=backend.quotas, address=settings.crawl.address)
        opened = {}
        for mount in mounted:
            own = credentials.get(mount.name, ())
            opening = mount.platform.open(mount.section, own, backend.clock, told, egress)
            source = await stack.enter_async_context(opening)
            opened[mount.name] = _guarded(mount, source, settings, backend.clock, spending)
        service = _service(
            backend, mounted, opened, settings, observer, worker=worker, measure=measure, spending=spending
        )
        stack.push_async_callback(service.streams.stop)
        await service.differences()
        yield service


def _guarded(mount: Mount, source: Source, settings: Settings, clock: Clock, spending: Spending | None) -> OpenPlatform:
    """The source behind a circuit breaker of its own, within the calls that may be made."""
    crawl = settings.crawl
    cap_s = min(crawl.retry_cap_s, UNREACHED_CAP_S)
    breaker: Breaker
    if mount.base_url:
        breaker = CircuitBreaker(source, mount.base_url, clock, base_s=crawl.retry_base_s, cap_s=cap_s)
    else:
        breaker = HostCircuitBreakers(source, clock, base_s=crawl.retry_base_s, cap_s=cap_s)
    fetcher: Fetcher = Budgeted(breaker, spending, clock) if spending else breaker
    return OpenPlatform(mount=mount, source=source, breaker=breaker, fetcher=fetcher)


def _service(  # noqa: PLR0913  # the same
    backend: Backend,
    mounted: Mounts,
    opened: Mapping[str, OpenPlatform],
    settings: Settings,
    observer: Observer,
    *,
    worker: str,
    measure: Measure | None,
    spending: Spending | None,
) -> Service:
    clock = backend.clock
    answering = LoadShedding()
    queue = InstrumentedQueue(backend.queue, clock, measure=measure, answering=answering)
    unit_of_work = InstrumentedUnitOfWork(backend.unit_of_work, clock, measure=measure)
    tickers = [_ticker(one, backend, queue, settings, mounted, worker) for one in opened.values()]
    ports = Ports(
        queue=queue,
        store=backend.store,
        unit_of_work=unit_of_work,
        clock=clock,
        observer=observer,
        draw=draw,
        on_settled={ticker.platform: ticker.read for ticker in tickers},
    )
    worked = [_worked(one, backend.store, measure) for one in opened.values()]
    engine = Engine(worked, ports, tuning=_tuning(settings, spending), worker=worker)
    return Service(
        backend=backend,
        mounts=mounted,
        opened=opened,
        engine=engine,
        supervisor=Supervisor(engine, clock),
        streams=_streams(opened.values(), backend, queue, worker),
        queue=queue,
        unit_of_work=unit_of_work,
        answering=answering,
        tickers=tickers,
        spending=spending,
    )


def _streams(opened: Iterable[OpenPlatform], backend: Backend, queue: Queue, worker: str) -> Streams:
    """What produces the streams of all platforms that have some."""
    ports = StreamPorts(queue=queue, store=backend.store, deadletters=backend.deadletters, clock=backend.clock)
    streamed = [
        Streamed(
            type=TypeName(one.platform.name, streaming.type),
            open=partial(streaming.open, one.source, one.mount.section),
        )
        for one in opened
        if (streaming := one.platform.streaming) is not None
    ]
    return Streams(streamed, ports, worker=worker or uuid4().hex)


def _ticker(  # the same
    opened: OpenPlatform, backend: Backend, queue: Queue, settings: Settings, mounted: Mounts, worker: str
) -> Ticker:
    """What decides when this platform's sources are asked again."""
    feed = opened.platform.feed
    ticker = Ticker(
        platform=opened.platform.name,
        feed=feed,
        sources=backend.sources,
        store=backend.store,
        queue=queue,
        clock=backend.clock,
        hourly=lambda: hourly(opened.source.principals(), backend.clock.now(), ticker.options.budget_share),
        worker=worker or uuid4().hex,
        options=_options(settings, mounted),
        free_now=lambda: bool(feed and feed.free) and any(not one.anonymous for one in opened.source.principals()),
    )
    return ticker


def watching(backend: Backend, mounted: Mounts, settings: Settings) -> WatchedHere:
    """What people do with the sources of an open backend."""
    return WatchedHere(
        sources=backend.sources,
        store=backend.store,
        mounts=mounted,
        clock=backend.clock,
        policy=settings.crawl.policy,
    )


def _options(settings: Settings, mounted: Mounts) -> Options:
    section = settings.schedule.model_dump()
    return Options(**{**section, "discover": _discovered(settings, mounted)})


def _worked(opened: OpenPlatform, store: Store, measure: Measure | None) -> Mounted:
    """What the engine works with."""
    platform, fetcher = opened.platform, opened.fetcher
    batched, disproved = partial(platform.batched, opened.source), partial(_disproved, opened, store)
    if measure is None:
        return Mounted(platform=platform, fetcher=fetcher, batched=batched, disproved=disproved)
    platform, fetcher = measured(platform, measure), MeasuredFetcher(fetcher, measure)
    return Mounted(platform=platform, fetcher=fetcher, batched=batched, disproved=disproved)


async def _disproved(opened: OpenPlatform, store: Store, type: str, fields: Sequence[str]) -> None:
    opened.platform.disproved(opened.source, type, fields)
    await batch_mismatches.remember(store, opened.platform.name, opened.mount.base_url, {type: fields})


def _tuning(settings: Settings, spending: Spending | None) -> Tuning:
    """As the settings say; with a limited number of calls, those that bring most come first.

    Work on a request ends before RabbitMQ's acknowledgement limit of half an hour.
    """
    tuning = settings.crawl.tuning()
    if settings.queue.provider == "amqp":
        tuning = replace(tuning, timeout_s=min(tuning.timeout_s, HELD_S))
    return tuning if spending is None else replace(tuning, weights=FIRST_THINGS_FIRST)


def open_redelivery(
    service: Service, settings: Settings, *, worker: str = "", tell: Callable[[Run], None] = lambda _: None
) -> Redelivery | None:
    """Requests deliveries that did not arrive; None: the settings name no webhook owner.

    tell: told of every sweep of this process. Raises ConfigError for an App that is not among the credentials.
    """
    section = settings.service
    if not section.redeliver:
        return None
    mount, access = _hooked(settings, service.mounts)
    source = service.opened[mount.platform.name].source
    hooks = access.open(source, mount.section, section.redeliver, section.webhook_url)
    pace = Pace(every_s=section.redeliver_every_s)
    return Redelivery(hooks, service.backend.store, service.backend.clock, pace, worker=worker, tell=tell)


def _hooked(settings: Settings, mounted: Mounts) -> tuple[Mount, HookAccess]:
    """The platform that `service.redeliver` asks. Raises ConfigError for a name that it cannot be asked for."""
    section = settings.service
    for mount in mounted:
        if (access := mount.platform.hooks) is not None:
            access.check(mount.section, section.redeliver, section.webhook_url)
            return mount, access
    raise ConfigError("service.redeliver: no platform here can be asked for deliveries again")


def crawled_by(path: Path) -> int | None:
    """The process that crawls the embedded file at `path`; None: none does.

    Asks the kernel only where a process with the number in the lock file is alive, so that looking hardly ever gets
    in the way of a crawl that starts at this very moment.
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


read_message: Final = codec.decode
"""The request in a queue's message. Raises DecodeError."""
write_message: Final = codec.encode
"""The message of a request, as queues keep it. Raises Unstorable."""


def start_logging(section: LogSection, stream: TextIO) -> None:
    """From now on logs go to `stream`, and no credential with them."""
    format = logged_as(section, terminal=stream.isatty())
    configure_logging(level=section.level, format=format, redact=(REDACTOR,), stream=stream)


def mounts(settings: Settings, platforms: Sequence[Platform] = PLATFORMS) -> Mounts:
    """Every platform, as these settings have it: reads specs, and knows whose a URL is."""
    return Mounts(
        Mount(platform=platform.configured(platform, section), section=section)
        for platform in platforms
        for section in (settings.section(platform.name),)
    )


def mounts_of(shown: Mapping[str, Any]) -> Mounts:
    """The same for the settings that a service shows, perhaps of another version: only base URLs are taken."""
    bases = {each.name: shown.get(each.name, {}).get(each.base, "") for each in PLATFORMS}
    return mounts(based(SETTINGS(), bases))


def demand_runnable(settings: Settings) -> None:
    """Raises ConfigError for what the settings themselves cannot know to be wrong."""
    mounted = mounts(settings)
    _demand_scenario(settings, mounted)
    _discovered(settings, mounted)
    if settings.service.redeliver:
        _hooked(settings, mounted)


def _demand_scenario(settings: Settings, mounted: Mounts) -> None:
    scenario = settings.crawl.scenario
    known = dict.fromkeys(name for mount in mounted for name in mount.platform.scenarios.names)
    if scenario and scenario not in known:
        raise loading.wrong("crawl.scenario", f"unknown scenario {scenario}; known scenarios: {', '.join(known)}")


def _discovered(settings: Settings, mounted: Mounts) -> frozenset[TypeName]:
    """The types of `schedule.discover`. Raises ConfigError for one that no platform has, or several have."""
    names, found = TypeNames(mounted.types), set[TypeName]()
    for text in settings.schedule.discover:
        try:
            type = names.read(text)
        except SpecError as error:
            raise loading.wrong("schedule.discover", str(error)) from error
        if type is None:
            known = [each.name for each in mounted.types]
            raise loading.wrong("schedule.discover", f"unknown type {text!r}; {suggestion(text, known)}")
        found.add(type)
    return frozenset(found)


def based(settings: Settings, bases: Mapping[str, str], *, but: Container[str] = ()) -> Settings:
    """`settings` with these base URLs, by platform. but: names of settings that stay as they are."""
    for platform in PLATFORMS:
        url = bases.get(platform.name)
        if url and platform.base and f"{platform.name}.{platform.base}" not in but:
            section = settings.section(platform.name).model_copy(update={platform.base: url})
            settings = settings.model_copy(update={platform.name: section})
    return settings


def option_settings(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options of the command line that belong to a platform (`--api-url`) → the settings that they are.

    Where several platforms declare one, the first of them means it. None: not given.
    """
    found = {}
    for option, value in options.items():
        if value is None:
            continue
        owner = next(platform for platform in PLATFORMS if option in platform.options)
        found[f"{owner.name}.{owner.options[option]}"] = value
    return found


# Credentials --------------------------------------------------------------------------------------------------


def read_credentials(settings: Settings, environ: Mapping[str, str]) -> Credentials:
    """Those of every platform, from its variable and its file.

    From now on none of them can appear in a log. Raises ConfigError, which never shows one.
    """
    found = source_credentials(settings, environ)
    return {name: [each.credential for each in sourced] for name, sourced in found.items()}


def source_credentials(settings: Settings, environ: Mapping[str, str]) -> Mapping[str, Sequence[LoadedCredential]]:
    """The same, each with where it comes from."""
    found = {}
    for platform in PLATFORMS:
        if (mine := platform.credentials) is None:
            continue
        text = environ.get(mine.variable, "")
        found[platform.name] = mine.read(settings.section(platform.name), text, mine.variable)
        for each in found[platform.name]:
            REDACTOR.add(mine.secret(each.credential))
    return found


def simulator(name: str) -> tuple[Platform, Simulator]:
    """The platform called `name`, and what simulates it; empty: the first that can be. Raises ConfigError."""
    known = {platform.name: (platform, platform.simulator) for platform in PLATFORMS if platform.simulator is not None}
    if name and name not in known:
        raise ConfigError(f"--platform: no simulator of {name!r}; choose {' or '.join(known)}")
    return known[name or next(iter(known))]


def credentials_of(name: str) -> CredentialHandling:
    """Where those of platform `name` come from, how they are checked, and what to tell a person about them."""
    mine = next(platform.credentials for platform in PLATFORMS if platform.name == name)
    assert mine is not None, "they are its credentials"
    return mine


def credential_file(settings: Settings, name: str) -> str:
    """The file that holds credentials of platform `name`, as typed; empty: none is set."""
    mine = credentials_of(name)
    return str(getattr(settings.section(name), mine.file)) if mine.file else ""


async def use_text(service: Service, settings: Settings, text: str) -> None:
    """Use the credentials in `text` instead of those of the file: of the platform that the predecessor knew.

    Raises ConfigError, also where there are none.
    """
    opened = service.opened[LEGACY_PLATFORM]
    mine = opened.platform.credentials
    assert mine is not None, "it has some"
    section = settings.section(LEGACY_PLATFORM).model_copy(update={mine.file: ""})
    with_text, without = (mine.read(section, words, "this") for words in (text, ""))
    if len(with_text) == len(without):
        raise ConfigError("no token given; keeping the previous tokens")
    for each in with_text:
        REDACTOR.add(mine.secret(each.credential))
    await opened.source.use([each.credential for each in with_text])
