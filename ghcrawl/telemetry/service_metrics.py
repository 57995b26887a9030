"""What Prometheus scrapes of a service besides `telemetry.metrics`: phases, queues, deadletters, loops, deliveries.

Label values are few and never a URL, a login or free text. Values from outside are bounded here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from ghcrawl.ports.queue import Depth, by_queue
from ghcrawl.ports.source import PrincipalView
from ghcrawl.redelivery.state import Run, State
from ghcrawl.telemetry.instrumented import SAMPLED, Measure, Phase
from ghcrawl.values.lanes import Lane, QueueName

MAX_EVENTS: Final = 120
"""Event names that get a label of their own: a sender who knows a secret can send any name."""
OTHER: Final = "other"
NOT_MOUNTED: Final = "not_mounted"
"""The label of all platforms that this version does not have, whose names anybody may have pushed."""
_SECONDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_BYTES: Final = (1e2, 1e3, 1e4, 1e5, 1e6, 1e7)

disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it


class ServiceMetrics:
    """Metric objects in `registry`. Gauges say what they were last told."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events: set[str] = set()
        phase = Histogram(
            "ghcrawl_phase_seconds",
            "Time in each phase of a worker's turn, in seconds",
            ["phase"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._phases = {name: phase.labels(name) for name in get_args(Phase)}
        self._bytes = Histogram(
            "ghcrawl_document_bytes",
            f"Bodies written, one in every {SAMPLED}: how large they are, not how many",
            buckets=_BYTES,
            registry=registry,
        )
        self._deliveries = Counter(
            "ghcrawl_webhook_deliveries", "Webhook deliveries, by result", ["event", "result"], registry=registry
        )
        self._answers = Counter(
            "ghcrawl_webhook_answers", "Webhook deliveries of all events, by result", ["result"], registry=registry
        )
        self._depth = Gauge(
            "ghcrawl_queue_requests", "Requests in a queue", ["platform", "queue", "state"], registry=registry
        )
        self._oldest = Gauge(
            "ghcrawl_queue_oldest_timestamp_seconds",
            "Time at which the next request was made; on RabbitMQ, the request that this process popped last",
            ["platform", "queue"],
            registry=registry,
        )
        self._restarts_told = 0
        self._outages_told: dict[str, int] = {}
        self._describe_process(registry)
        self._describe_callers(registry)
        self._describe_redelivery(registry)

    def _describe_process(self, registry: CollectorRegistry) -> None:
        self._deadletters = Gauge(
            "ghcrawl_deadletters", "Deadletters, by class", ["platform", "class"], registry=registry
        )
        self._loops = Gauge("ghcrawl_loops", "Workers of this process", ["state"], registry=registry)
        self._restarts = Counter(
            "ghcrawl_loop_restarts", "Workers restarted after a crash, since startup", registry=registry
        )
        self._paused = Gauge("ghcrawl_paused", "1 while crawling is paused", registry=registry)
        self._benched = Gauge(
            "ghcrawl_principals_benched", "Principals that are rate-limited", ["platform"], registry=registry
        )
        self._retired = Gauge(
            "ghcrawl_principals_retired", "Credentials that are rejected", ["platform"], registry=registry
        )
        self._reachable = Gauge("ghcrawl_reachable", "1 while the port is reachable", ["port"], registry=registry)
        self._broker_blocked = Gauge(
            "ghcrawl_broker_blocked",
            "1 while the broker blocks publishing: it is short of memory or disk",
            registry=registry,
        )
        self._outages = Counter("ghcrawl_outages", "Failures that began after a success", ["port"], registry=registry)
        self._differ = Gauge(
            "ghcrawl_batches_differ",
            "1 once batches of a type differed from the platform's own answers, until the version changes",
            ["platform", "type"],
            registry=registry,
        )
        self._blocked = Gauge(
            "ghcrawl_blocked_until_timestamp_seconds",
            "Time of the next API call while the platform is blocked; 0: not blocked",
            ["platform"],
            registry=registry,
        )

    def _describe_callers(self, registry: CollectorRegistry) -> None:
        self._closed = Counter(
            "ghcrawl_connections_closed", "Connections closed because of a limit", ["limit"], registry=registry
        )
        for limit in ("headers", "address", "all"):
            self._closed.labels(limit)
        self._failed_sign_ins = Counter(
            "ghcrawl_sign_ins_failed", "Requests to the admin API with an unknown token", registry=registry
        )

    def _describe_redelivery(self, registry: CollectorRegistry) -> None:
        self._sweeps = Counter(
            "ghcrawl_redelivery_sweeps", "Checks for failed deliveries", ["result"], registry=registry
        )
        for result in ("partial", "complete"):
            self._sweeps.labels(result)
        self._redelivered = Counter(
            "ghcrawl_redelivery_deliveries",
            "Failed deliveries, by result of a check",
            ["result"],
            registry=registry,
        )
        self._lost = Gauge("ghcrawl_redelivery_waiting", "Failed deliveries still pending", registry=registry)
        self._swept_at = Gauge(
            "ghcrawl_redelivery_last_timestamp_seconds",
            "Time of the last check for failed deliveries by any replica",
            registry=registry,
        )

    @property
    def measure(self) -> Measure:
        """What `ghcrawl.wiring.open_service` tells how long everything takes."""
        return Measure(phase=self._phase, document=self._bytes.observe)

    def _phase(self, phase: Phase, seconds: float) -> None:
        self._phases[phase].observe(seconds)

    def expect(self, results: Iterable[str]) -> None:
        """Each result of a delivery is counted from 0: Prometheus does not see a rise from nothing to one."""
        for result in results:
            self._answers.labels(result)

    def delivered(self, event: str, result: str) -> None:
        """One delivery came to `result`. event: as its sender called it, if the sender was known."""
        if event not in self._events and len(self._events) >= MAX_EVENTS:
            event = OTHER
        self._events.add(event)
        self._deliveries.labels(event, result).inc()
        self._answers.labels(result).inc()

    def closed(self, why: str) -> None:
        """A connection was closed because of a limit: `headers`, `address` or `all`."""
        self._closed.labels(why).inc()

    def sign_in_failed(self) -> None:
        """A request came with an unknown token."""
        self._failed_sign_ins.inc()

    def swept(self, run: Run) -> None:
        """This process looked for deliveries that did not arrive."""
        self._sweeps.labels("partial" if run.troubles else "complete").inc()
        for result in ("lost", "asked", "refused", "arrived", "given_up"):
            self._redelivered.labels(result).inc(getattr(run, result))

    def redelivery(self, state: State) -> None:
        """What all replicas know of deliveries that did not arrive."""
        self._lost.set(len(state.lost))
        self._swept_at.set(state.last.at.timestamp() if state.last else 0)

    def reachable(self, port: str, *, answers: bool) -> None:
        """Whether the queue, or the store, could be asked for what is shown of it."""
        self._reachable.labels(port).set(answers)

    def broker_blocked(self, blocked: bool) -> None:
        """Whether the broker, where there is one, accepts nothing."""
        self._broker_blocked.set(blocked)

    def outages(self, port: str, count: int) -> None:
        """How often the queue, or the store, began to fail since the start."""
        self._outages.labels(port).inc(count - self._outages_told.get(port, 0))
        self._outages_told[port] = count

    def depths(self, depths: Mapping[Lane, Depth], mounted: Collection[str]) -> None:
        """How much the queues hold, of each platform that is mounted and of all the others together."""
        self._oldest.clear()
        self._depth.clear()
        others = {lane: depth for lane, depth in depths.items() if lane.platform not in mounted}
        for platform in mounted:
            self._queues(
                platform, by_queue({lane: depth for lane, depth in depths.items() if lane.platform == platform})
            )
        if others:
            self._queues(NOT_MOUNTED, by_queue(others))

    def _queues(self, platform: str, depths: Mapping[QueueName, Depth]) -> None:
        for name, depth in depths.items():
            if depth.oldest_at is not None:
                self._oldest.labels(platform, name).set(depth.oldest_at.timestamp())
            for state in ("ready", "delayed", "in_flight"):
                self._depth.labels(platform, name, state).set(getattr(depth, state))

    def deadletters(self, by_platform: Mapping[str, Mapping[str, int]], mounted: Collection[str]) -> None:
        """Platform → class → number of deadletters; those of platforms that are not mounted are counted together."""
        self._deadletters.clear()
        for platform, by_kind in by_platform.items():
            label = platform if platform in mounted else NOT_MOUNTED
            for kind, number in by_kind.items():
                self._deadletters.labels(label, kind).inc(number)

    def workers(self, *, running: int, busy: int, wanted: int, restarts: int, paused: bool) -> None:
        """What the loops do."""
        for state, number in (("running", running), ("busy", busy), ("wanted", wanted)):
            self._loops.labels(state).set(number)
        self._restarts.inc(restarts - self._restarts_told)
        self._restarts_told = restarts
        self._paused.set(paused)

    def principals(self, principals: Sequence[PrincipalView], mounted: Iterable[str]) -> None:
        """Those of each mounted platform that cannot be used just now, and those that are rejected."""
        for platform in mounted:
            mine = [one for one in principals if one.platform == platform]
            self._benched.labels(platform).set(len({one.id for one in mine if one.benched_until}))
            self._retired.labels(platform).set(sum(bool(one.retired) for one in mine))

    def differences(self, found: Mapping[str, Mapping[str, Collection[str]]]) -> None:
        """Platform → type → the fields in which batches of it differ from the platform's own answers."""
        for platform, types in found.items():
            for type, fields in types.items():
                self._differ.labels(platform, type).set(1 if fields else 0)

    def blocked(self, until: Mapping[str, datetime | None]) -> None:
        """When each platform can be asked again; None: now."""
        for platform, moment in until.items():
            self._blocked.labels(platform).set(moment.timestamp() if moment else 0)
