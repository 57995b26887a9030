"""`ghcrawl serve`: loops and an HTTP surface, until stopped."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

import structlog
from prometheus_client import ProcessCollector

from ghcrawl.admin.connections import Connections, Limits, raise_descriptor_limit, within
from ghcrawl.admin.routing import Bounds
from ghcrawl.admin.server import Addresses, Listening, application, serving
from ghcrawl.admin.webhook import Webhook
from ghcrawl.cli.background import Beside, unless_told_to_stop
from ghcrawl.cli.options import Place
from ghcrawl.cli.serve_site import Surface, Watching
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.tokens_file import rotations
from ghcrawl.settings import loading as setting
from ghcrawl.settings.live import Base, Holding, LiveSettings
from ghcrawl.settings.sections import LogSection, Settings
from ghcrawl.telemetry.logs import SettledLog, log_suppressed
from ghcrawl.telemetry.metrics import Metrics, Observers
from ghcrawl.telemetry.rates import Rates
from ghcrawl.telemetry.schedule_metrics import ScheduleMetrics
from ghcrawl.telemetry.service_metrics import ServiceMetrics
from ghcrawl.telemetry.stream_metrics import StreamMetrics
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import CrawlError
from ghcrawl.wiring import (
    SETTINGS,
    Service,
    demand_runnable,
    open_redelivery,
    open_service,
    read_credentials,
    start_logging,
)

log = structlog.stdlib.get_logger(__name__)

TICK_S: Final = 1.0
"""How often live settings and files of secrets are looked at."""
SWEEP_S: Final = 3600.0
CHECK_S: Final = 10.0
"""How often each replica checks that the store takes writes, asked or not."""
RECORD_S: Final = 20.0
"""How often each replica adds to the history that the console shows."""
SCHEDULE_S: Final = 10.0
"""How often each replica looks whether a tick of the schedule is due."""


async def serve(place: Place, more: Mapping[str, Any]) -> int:
    """Returns the exit status once it is stopped: 0. Raises CrawlError where it could not start.

    more: settings from the command line besides those of `place`.
    """
    environ = setting.environment()
    base = Base(path=place.config, environ=environ, overrides={**place.overrides(), **more}, model=SETTINGS)
    settings = base.holding({}).settings
    start_logging(settings.log, sys.stderr)
    loop = asyncio.get_running_loop()
    metrics, settled = Metrics(), SettledLog()
    ProcessCollector(registry=metrics.registry)  # among others since when it runs, which the alerts ask for
    gauges, schedule = ServiceMetrics(metrics.registry), ScheduleMetrics(metrics.registry)
    streams = StreamMetrics(metrics.registry)
    watching = Watching(tally=Tally(), rates=Rates(loop.time), metrics=metrics, gauges=gauges)
    observer = Observers(metrics, watching.tally, watching.rates, settled)
    worker = f"{socket.gethostname()}:{os.getpid()}"
    with Signals() as signals:
        opening = open_service(
            settings,
            read_credentials(settings, environ),
            observer,
            worker=worker,
            measure=gauges.measure,
        )
        async with opening as service:
            for name, platform in service.platforms.items():
                metrics.expect(name, platform.kinds)
            for ticker in service.tickers:
                schedule.follow(ticker)
            streams.expect(service.streams.platforms)
            service.streams.observer = streams
            serving = _Serving(base, settings, service, watching, _Logging(settled, settings.log), worker)
            return await serving.run(signals)


class _Logging:
    """What is logged, as it was last asked for."""

    def __init__(self, settled: SettledLog, section: LogSection) -> None:
        self._settled = settled
        self._section = section

    def follow(self, section: LogSection) -> None:
        if section != self._section:
            self._section = section
            start_logging(section, sys.stderr)
            self._settled.renew()


class _Serving:
    """One service while it runs."""

    def __init__(
        self, base: Base, settings: Settings, service: Service, watching: Watching, logging: _Logging, worker: str
    ) -> None:
        self._service = service
        self._settings = settings
        self._logging = logging
        self._live = LiveSettings(service.backend.store, service.backend.clock, base, demand=demand_runnable)
        self._overrides = base.overrides
        self._holding: Holding | None = None
        self._strange: Mapping[str, str] = {}
        self._rotations = rotations(service, settings, base.environ)
        self._redelivery = open_redelivery(service, settings, worker=worker, tell=watching.gauges.swept)
        self._redelivering = Beside("redelivery")
        self._sweeping = Beside("sweep of receipts", every_s=SWEEP_S)
        self._scheduling = Beside("schedule", every_s=SCHEDULE_S)
        self._checking = Beside("write check", every_s=CHECK_S)
        self._recording = Beside("history", every_s=RECORD_S)
        self._surface = Surface(
            settings=settings,
            environ=base.environ,
            service=service,
            watching=watching,
            live=self._live,
            worker=worker,
            applied=self._follow,
            redelivery=self._redelivery,
        )

    async def run(self, signals: Signals) -> int:
        section, surface = self._settings.service, self._surface
        addresses = Addresses(
            host=section.host, port=section.port, probe_host=section.probed_at, probe_port=section.metrics_port
        )
        webhook = surface.webhook()
        bounds = Bounds(max_bytes=section.max_body_mb * 1_000_000, timeout_s=section.request_timeout_s)
        app = application(surface.site(), surface.access(), webhook, bounds)
        limits = Limits(in_all=section.max_connections, of_address=section.max_connections_per_address)
        connections = Connections(within(limits, raise_descriptor_limit()), surface.watching.gauges.closed)
        async with AsyncExitStack() as stack:
            listening = await stack.enter_async_context(serving(app, surface.probed(), addresses, connections))
            try:
                await unless_told_to_stop(signals, self._attend(webhook))
                if not signals.received:
                    self._service.supervisor.start()
                    self._introduce(listening)
                    await unless_told_to_stop(signals, self._go_on_attending(webhook))
            finally:
                await self._drain(signals.received)
        return 0

    def _introduce(self, listening: Listening) -> None:
        log.info(
            "service_started",
            url=listening.url,
            probes=listening.probe_url,
            loops=self._service.supervisor.tuning.loops,
            queue=self._settings.queue.provider,
            store=self._settings.store.provider,
        )

    async def _drain(self, received: str) -> None:
        """Start no new requests; finish those in flight in time, or make them ready again. The API keeps answering."""
        self._surface.draining = True
        grace_s = self._settings.crawl.shutdown_grace_s
        log.info("service_draining", signal=received, busy=self._service.engine.busy, grace_s=grace_s)
        finished, *_ = await asyncio.gather(
            self._service.supervisor.drain(grace_s),
            self._service.streams.stop(),
            *(
                work.stop(grace_s)
                for work in (self._redelivering, self._sweeping, self._scheduling, self._checking, self._recording)
            ),
        )
        log.info("service_stopped", finished=finished)

    # Meanwhile ----------------------------------------------------------------------------------------------

    async def _go_on_attending(self, webhook: Webhook) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            await self._attend(webhook)

    async def _attend(self, webhook: Webhook) -> None:
        """Apply what changed outside. What cannot be read now is read again in a moment."""
        for look in (self._follow, *(rotation.follow for rotation in self._rotations)):
            try:
                await look()
            except CrawlError as error:
                log.warning("service_attending_failed", error=str(error), kind=type(error).__name__)
        log_suppressed()
        self._sweeping.go_on(webhook.sweep)
        self._checking.go_on(self._surface.check)
        self._recording.go_on(self._surface.record)
        if not self._service.supervisor.tuning.paused:
            self._scheduling.go_on(self._service.look_again)
        if self._redelivery is not None:
            self._redelivering.go_on(self._redelivery.turn)

    async def _follow(self) -> None:
        """The live settings of this moment hold in this process. Raises StoreError, ConfigError."""
        holding, before = await self._live.read(), self._holding
        self._tell_of(holding.strange)
        if before is not None and holding.settings == before.settings:
            return
        if before is None:
            self._tell_of_overridden(holding.live)
        self._service.tune(holding.settings)
        self._logging.follow(holding.settings.log)
        self._holding = holding
        if before is not None:
            names = {*holding.live, *before.live}
            changed = sorted(name for name in names if holding.live.get(name) != before.live.get(name))
            log.info("settings_applied", changed=changed)

    def _tell_of(self, strange: Mapping[str, str]) -> None:
        """What is set live and cannot be used here is said once for as long as it is so."""
        for name in sorted({*strange} - {*self._strange}):
            log.warning("live_setting_not_understood", name=name, why=strange[name])
        self._strange = strange

    def _tell_of_overridden(self, live: Mapping[str, Any]) -> None:
        """Options of the command line that have no effect, because the setting was changed live."""
        for name, typed in sorted(self._overrides.items()):
            if name in live and live[name] != typed:
                log.warning(
                    "live_setting_wins",
                    name=name,
                    live=live[name],
                    command_line=typed,
                    remove_with=f"ghcrawl config set {name} --unset",
                )
