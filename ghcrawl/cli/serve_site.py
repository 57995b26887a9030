"""From an open service to what its HTTP surface works on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, get_args

from msgspec import Struct

from ghcrawl.admin.access import TOKENS, Access
from ghcrawl.admin.coalescing import Shared
from ghcrawl.admin.probes import CHECK_S, Probed, takes_pushes, why_not
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.sign_ins import SignIns, networks
from ghcrawl.admin.site import Site, UnreachableHost, Workers
from ghcrawl.admin.webhook import SECRETS, Intake, Result, Webhook
from ghcrawl.admin.write_check import WriteCheck
from ghcrawl.fetch.circuit_breaker import Outage
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter, Forgotten, Requeued
from ghcrawl.ports.queue import by_queue
from ghcrawl.ports.source import PrincipalView
from ghcrawl.redelivery.sweep_schedule import Redelivery
from ghcrawl.settings.live import LiveSettings
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.history import History, Seen
from ghcrawl.telemetry.metrics import Metrics
from ghcrawl.telemetry.rates import Rates
from ghcrawl.telemetry.service_metrics import ServiceMetrics
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import Service, read_message, use_text, watching, write_message

SCRAPE_S: Final = 3.0
"""Time limit of a scrape for queue and store, below the 10 s of Prometheus: a scrape that times out has no gauge,
not even the one that says what is unreachable."""

HOSTS_SHOWN: Final = 10
RECENTLY: Final = timedelta(minutes=2)
"""Longer than the longest wait between two attempts to reach a host."""


class Watching(Struct, frozen=True, kw_only=True):
    """Counts what a service does."""

    tally: Tally
    rates: Rates
    metrics: Metrics
    gauges: ServiceMetrics


@dataclass(slots=True, kw_only=True)
class Surface:
    """The HTTP surface of one open service. draining: it is being stopped."""

    settings: Settings
    environ: Mapping[str, str]
    service: Service
    watching: Watching
    live: LiveSettings
    worker: str
    applied: Callable[[], Awaitable[None]]
    redelivery: Redelivery | None = None
    draining: bool = False
    _stored: Shared[Mapping[TypeName, int]] = field(init=False)
    _buried: Shared[DeadletterCounts] = field(init=False)
    _writes: WriteCheck = field(init=False)
    _history: History = field(init=False)

    def __post_init__(self) -> None:
        backend = self.service.backend
        self._stored = Shared(backend.store.counts)
        self._buried = Shared(lambda: backend.deadletters.count(DeadletterFilter()))
        unit_of_work = self.service.unit_of_work
        self._writes = WriteCheck(backend.store, backend.clock, failed=unit_of_work.failed, worked=self._writable)
        self._history = History(backend.store, backend.clock, self.watching.tally.done_of_history)

    def access(self) -> Access:
        """Who may do what. Raises ConfigError for tokens that cannot be used."""
        text, file = self.environ.get(TOKENS.variable, ""), self.settings.service.admin_tokens_file
        lines = SecretLines(text, file, TOKENS, learn=lambda text: REDACTOR.add(text.partition("#")[0]))
        proxies = networks(self.settings.service.trusted_proxies)
        return Access(lines, SignIns(failed=self.watching.gauges.sign_in_failed, proxies=proxies))

    def webhook(self) -> Webhook:
        """Where deliveries are taken. Raises ConfigError for secrets that cannot be read."""
        text, file = self.environ.get(SECRETS.variable, ""), self.settings.service.webhook_secrets_file
        self.watching.gauges.expect(get_args(Result))
        backend, platforms = self.service.backend, self.service.platforms.values()
        intake = Intake(
            senders=[platform.deliveries for platform in platforms if platform.deliveries is not None],
            inbox=backend.inbox,
            idempotency_keys=backend.idempotency_keys,
            clock=backend.clock,
            secrets=SecretLines(text, file, SECRETS, learn=REDACTOR.add),
            count=self.watching.gauges.delivered,
            answering=self.service.answering,
            timeout_s=self.settings.service.webhook_timeout_s,
        )
        return Webhook(intake)

    def site(self) -> Site:
        """What the routes work on."""
        backend = self.service.backend
        return Site(
            queue=self.service.queue,
            store=backend.store,
            deadletters=backend.deadletters,
            idempotency_keys=backend.idempotency_keys,
            clock=backend.clock,
            mounts=self.service.mounts,
            live=self.live,
            requeue=self._requeue,
            forget=self._forget,
            write=write_message,
            read=read_message,
            workers=self.workers,
            principals=self.principals,
            use_tokens=self._use_tokens,
            figures=self.watching.tally.figures,
            rate=self.watching.rates.last_minute,
            stored=self._stored.now,
            buried=self._buried.now,
            applied=self.applied,
            history=self._history.read,
            watching=watching(backend, self.service.mounts, self.settings),
            redelivery=self.redelivery,
        )

    def probed(self) -> Probed:
        """What the probes look at."""
        backend, queue = self.service.backend, self.service.queue
        return Probed(
            queue=backend.queue,
            writes=self._writes,
            clock=backend.clock,
            registry=self.watching.metrics.registry,
            workers=self.workers,
            last_turn=lambda: queue.last_turn,
            timeout_s=lambda: self.service.supervisor.tuning.timeout_s,
            refresh=self._refresh,
            broker=backend.broker,
        )

    def workers(self) -> Workers:
        """The loops at this moment."""
        service, supervisor = self.service, self.service.supervisor
        blocked = self._blocked()
        return Workers(
            worker=self.worker,
            wanted=supervisor.tuning.loops,
            running=supervisor.running,
            busy=service.engine.busy,
            paused=supervisor.tuning.paused,
            draining=self.draining,
            restarts=supervisor.restarts + (service.backend.broker.restarts if service.backend.broker else 0),
            doing=tuple(service.queue.turns()),
            blocked_until=min(blocked.values()) if blocked.keys() == service.engine.platforms else None,
            blocked=blocked,
            unreachable={
                name: _unreachable(name, outage)
                for name, opened in sorted(service.opened.items())
                if (outage := opened.breaker.outage) is not None
            },
            unreachable_hosts=tuple(self._unreachable_hosts())[:HOSTS_SHOWN],
            trouble=str(service.outage.error) if service.outage else "",
        )

    def _unreachable_hosts(self) -> Iterator[UnreachableHost]:
        """Those that were asked recently: nothing waits for the others."""
        after = self.service.backend.clock.now() - RECENTLY
        for name, opened in self.service.opened.items():
            for outage in opened.breaker.outages:
                if outage.until > after:
                    yield _unreachable(name, outage)

    def principals(self) -> Sequence[PrincipalView]:
        """The credentials in use. Those without one are told apart by their platform or host."""
        found = [(name, view) for name, each in self.service.opened.items() for view in each.source.principals()]
        return [replace(view, platform=name, label=_label(view, name)) for name, view in found]

    async def check(self) -> None:
        """Try the store and the queue, so that an outage is noticed, and its end too, when no worker would notice."""
        backend, queue = self.service.backend, self.service.queue
        await self._writes.why_not(within_s=CHECK_S)
        if queue.outage is None or self._works:
            return
        if not await why_not(takes_pushes(backend.queue, backend.broker), within_s=CHECK_S):
            queue.worked()

    async def record(self) -> None:
        """Add this moment to the history of all replicas. Raises QueueError, StoreError."""
        depths = by_queue(await self.service.queue.depths())
        stored, buried = await asyncio.gather(self._stored.now(), self._buried.now())
        now = self.service.backend.clock.now()
        budgets = [b for one in self.principals() for b in one.budgets if b.main and b.limit]
        shares = [b.remaining / b.limit if b.reset_at > now else 1.0 for b in budgets]
        seen = Seen(
            queues={name: depth.total for name, depth in depths.items()},
            documents=sum(stored.values()),
            deadletters=buried.total,
            kinds=buried.by_kind,
            quota=round(min(shares), 4) if shares else None,
        )
        await self._history.record(seen)

    @property
    def _works(self) -> bool:
        """Whether workers take requests, and so notice an end of an outage themselves."""
        tuning = self.service.supervisor.tuning
        return not tuning.paused and tuning.loops > 0

    def _writable(self) -> None:
        if not self._works or not self.service.engine.busy:
            self.service.unit_of_work.worked()

    def _blocked(self) -> Mapping[str, datetime]:
        now = self.service.backend.clock.now()
        return {platform: until for platform, until in sorted(self.service.engine.blocked().items()) if until > now}

    async def _requeue(self, which: DeadletterFilter, to: QueueName | None) -> Requeued:
        try:
            return await self.service.backend.requeue(which, to)
        finally:
            self._buried.forget()

    async def _forget(self, which: DeadletterFilter) -> Forgotten:
        try:
            return await self.service.backend.forget(which)
        finally:
            self._buried.forget()

    async def _use_tokens(self, text: str) -> None:
        """Use these instead of the tokens file. Raises ConfigError, also where there is no token."""
        await use_text(self.service, self.settings, text)

    async def _refresh(self) -> None:
        """The gauges say what is now; what cannot be asked stays as it was, and is said to be away."""
        gauges, backend, workers = self.watching.gauges, self.service.backend, self.workers()
        gauges.workers(
            running=workers.running,
            busy=workers.busy,
            wanted=workers.wanted,
            restarts=workers.restarts,
            paused=workers.paused,
        )
        gauges.broker_blocked(backend.broker is not None and backend.broker.blocked)
        gauges.outages("queue", self.service.queue.outages)
        gauges.outages("store", self.service.unit_of_work.outages)
        found = self.principals()
        gauges.principals(found, self.service.engine.platforms)
        gauges.blocked({platform: workers.blocked.get(platform) for platform in self.service.engine.platforms})
        asking: list[Awaitable[object]] = [self._tell_store()]
        if backend.broker is None:
            asking.append(self._tell("queue", self._queued()))
        else:  # its depths need the store as well, which must not make it look unreachable
            asking += [self._tell("queue", backend.broker.answer()), why_not(self._queued(), within_s=SCRAPE_S)]
        await asyncio.gather(*asking)

    async def _tell(self, port: str, asking: Awaitable[None]) -> None:
        self.watching.gauges.reachable(port, answers=not await why_not(asking, within_s=SCRAPE_S))

    async def _tell_store(self) -> None:
        written, kept = await asyncio.gather(
            self._writes.why_not(within_s=SCRAPE_S), why_not(self._kept(), within_s=SCRAPE_S)
        )
        self.watching.gauges.reachable("store", answers=not written and not kept)

    async def _queued(self) -> None:
        self.watching.gauges.depths(await self.service.queue.depths(), self.service.engine.platforms)

    async def _kept(self) -> None:
        gauges = self.watching.gauges
        gauges.deadletters((await self._buried.now()).by_platform, self.service.engine.platforms)
        gauges.differences(await self.service.differences())
        if self.redelivery is not None:
            gauges.redelivery(await self.redelivery.read())


def _label(view: PrincipalView, platform: str) -> str:
    return f"{platform} {view.label}" if view.anonymous and not view.host else view.label


def _unreachable(platform: str, outage: Outage) -> UnreachableHost:
    return UnreachableHost(platform=platform, base_url=outage.base_url, since=outage.since, reason=outage.reason)
