"""From an open service to what its HTTP surface works on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, get_args

from ghcrawl.admin.access import TOKENS, Access
from ghcrawl.admin.probes import Probed, why_not
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.shared import Shared
from ghcrawl.admin.site import Budget, Crew, Doing, Principal, Site
from ghcrawl.admin.webhook import SECRETS, Intake, Result, Webhook
from ghcrawl.errors import ConfigError
from ghcrawl.live import STATE, LiveSettings
from ghcrawl.model import QueueName
from ghcrawl.ports import DeadletterCounts, DeadletterFilter
from ghcrawl.rates import Rates
from ghcrawl.redelivery import Redelivery
from ghcrawl.service_metrics import ServiceMetrics
from ghcrawl.settings import Settings
from ghcrawl.tally import Tally
from ghcrawl.telemetry import Metrics
from ghcrawl.wiring import Forgotten, Requeued, Service, conceal, read_credentials, read_message, write_message

SCRAPE_S: Final = 3.0
"""How long a scrape waits for queue and store. Prometheus waits for 10 s, and where it gives up it sees no gauge at
all: neither that something is away nor what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Whoever counts what a service does."""

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
    _stored: Shared[Mapping[str, int]] = field(init=False)
    _buried: Shared[DeadletterCounts] = field(init=False)

    def __post_init__(self) -> None:
        backend = self.service.backend
        self._stored = Shared(backend.store.counts)
        self._buried = Shared(lambda: backend.deadletters.count(DeadletterFilter()))

    def access(self) -> Access:
        """Who may do what. Raises ConfigError for tokens that cannot be used."""
        text, file = self.environ.get(TOKENS.variable, ""), self.settings.service.admin_tokens_file
        return Access(SecretLines(text, file, TOKENS, learn=lambda text: conceal(text.partition("#")[0])))

    def webhook(self) -> Webhook:
        """Where deliveries are taken. Raises ConfigError for secrets that cannot be read."""
        text, file = self.environ.get(SECRETS.variable, ""), self.settings.service.webhook_secrets_file
        self.watching.gauges.expect(get_args(Result))
        backend, platforms = self.service.backend, self.service.platforms.values()
        sending = [platform for platform in platforms if platform.deliveries is not None]
        intake = Intake(
            platform=next(iter(sending or platforms)),
            taking=backend.taking,
            receipts=backend.receipts,
            clock=backend.clock,
            secrets=SecretLines(text, file, SECRETS, learn=conceal),
            count=self.watching.gauges.delivered,
            answering=self.service.answering,
            timeout_s=self.settings.service.webhook_timeout_s,
        )
        return Webhook(intake)

    def site(self) -> Site:
        """What the routes work on."""
        backend = self.service.backend
        return Site(
            queue=self.service.measured or backend.queue,
            store=backend.store,
            deadletters=backend.deadletters,
            receipts=backend.receipts,
            clock=backend.clock,
            platforms=self.service.platforms,
            api_url=self.settings.github.api_url.rstrip("/"),
            live=self.live,
            requeue=self._requeue,
            forget=self._forget,
            write=write_message,
            read=lambda message: read_message(message.decode()),
            crew=self.crew,
            principals=self.principals,
            use_tokens=self._use_tokens,
            figures=self.watching.tally.figures,
            rate=self.watching.rates.last_minute,
            stored=self._stored.now,
            buried=self._buried.now,
            applied=self.applied,
            redelivery=self.redelivery,
        )

    def probed(self) -> Probed:
        """What the probes look at."""
        backend, measured = self.service.backend, self.service.measured
        assert measured is not None
        return Probed(
            queue=backend.queue,
            store=backend.store,
            clock=backend.clock,
            registry=self.watching.metrics.registry,
            crew=self.crew,
            last_turn=lambda: measured.last_turn,
            timeout_s=lambda: self.service.supervisor.tuning.timeout_s,
            refresh=self._refresh,
            broker=backend.broker,
        )

    def crew(self) -> Crew:
        """The loops at this moment."""
        service, supervisor = self.service, self.service.supervisor
        turns = service.measured.turns() if service.measured else ()
        doing = [Doing(loop=turn.loop, since=turn.since, request=turn.request, queue=turn.queue) for turn in turns]
        return Crew(
            worker=self.worker,
            wanted=supervisor.tuning.loops,
            running=supervisor.running,
            busy=service.engine.busy,
            paused=supervisor.tuning.paused,
            draining=self.draining,
            restarts=supervisor.restarts,
            doing=tuple(doing),
            blocked_until=self._blocked_until(),
            trouble=str(service.trouble.error) if service.trouble else "",
        )

    def principals(self) -> Sequence[Principal]:
        """Whoever the platform is asked as."""
        return [
            Principal(
                id=view.id,
                label=view.label,
                traits=view.traits,
                budgets=tuple(
                    Budget(resource=b.resource, limit=b.limit, remaining=b.remaining, reset_at=b.reset_at)
                    for b in view.budgets
                ),
                calls=view.calls,
                in_flight=view.in_flight,
                benched_until=view.benched_until,
                benched_for=view.benched_for,
                retired=view.retired,
            )
            for view in self.service.github.principals()
        ]

    def _blocked_until(self) -> datetime | None:
        until = self.service.engine.blocked_until()
        return until if until is not None and until > self.service.backend.clock.now() else None

    async def _requeue(self, which: DeadletterFilter, to: QueueName | None) -> Requeued:
        try:
            return await self.service.backend.requeue(which, to=to)
        finally:
            self._buried.forget()

    async def _forget(self, which: DeadletterFilter) -> Forgotten:
        try:
            return await self.service.backend.forget(which)
        finally:
            self._buried.forget()

    async def _use_tokens(self, text: str) -> None:
        """Ask as these and the Apps. Raises ConfigError, also where there is no token."""
        section = self.settings.github
        alone = self.settings.model_copy(update={"github": section.model_copy(update={"tokens_file": ""})})
        credentials = read_credentials(alone, {"GHCRAWL_TOKENS": text}, source="this")
        if len(credentials) == len(section.apps):
            raise ConfigError("there is no token in this; what was used before is still used")
        await self.service.github.use(credentials)

    async def _refresh(self) -> None:
        """The gauges say what is now; what cannot be asked stays as it was, and is said to be away."""
        gauges, backend, crew = self.watching.gauges, self.service.backend, self.crew()
        gauges.crew(
            running=crew.running, busy=crew.busy, wanted=crew.wanted, restarts=crew.restarts, paused=crew.paused
        )
        gauges.broker_blocked(backend.broker is not None and backend.broker.blocked)
        gauges.outages("queue", self.service.queue.outages)
        gauges.outages("store", self.service.ledger.outages)
        found = self.principals()
        gauges.principals(
            benched=len({one.id for one in found if one.benched_until}),
            retired=sum(bool(one.retired) for one in found),
            blocked_until=crew.blocked_until,
        )
        asking: list[Awaitable[object]] = [self._tell("store", self._kept())]
        if backend.broker is None:
            asking.append(self._tell("queue", self._queued()))
        else:  # its depths need the store as well, which must not make it look unreachable
            asking += [self._tell("queue", backend.broker.answer()), why_not(self._queued(), within_s=SCRAPE_S)]
        await asyncio.gather(*asking)

    async def _tell(self, port: str, asking: Awaitable[None]) -> None:
        self.watching.gauges.reachable(port, answers=not await why_not(asking, within_s=SCRAPE_S))

    async def _queued(self) -> None:
        self.watching.gauges.depths(await (self.service.measured or self.service.backend.queue).depths())

    async def _kept(self) -> None:
        gauges = self.watching.gauges
        await self.service.backend.store.read_state(STATE)  # whether it answers, the count may be too old to tell
        gauges.deadletters((await self._buried.now()).by_kind)
        if self.redelivery is not None:
            gauges.redelivery(await self.redelivery.read())
