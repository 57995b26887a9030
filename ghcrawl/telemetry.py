"""Logs and metrics: structlog set up once, Prometheus objects in a registry of their own."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Final, Literal, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from structlog.typing import FilteringBoundLogger, Processor

from ghcrawl import __version__
from ghcrawl.ports import Call, Observer, Settled

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

log: FilteringBoundLogger = structlog.get_logger("ghcrawl")


def configure_logging(
    *, level: LogLevel, format: LogFormat, redact: Sequence[Processor] = (), stream: TextIO = sys.stderr
) -> None:
    """From now on, logs of ours and of the libraries go to `stream` in one format, each line redacted.

    redact: structlog processors that remove what must not be read; they run last before rendering.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendered: list[Processor] = [structlog.processors.format_exc_info, *redact, _renderer(format, stream)]
    if format == "console":
        rendered = [*redact, _renderer(format, stream)]
    structlog.configure(
        processors=[*shared, *rendered],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(logging.WARNING, getattr(logging, level.upper())), force=True)


def _renderer(format: LogFormat, stream: TextIO) -> Processor:
    if format == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(colors=stream.isatty())


class SettledLog:
    """One INFO line for every settled request; what failed is a WARNING, what was buried an ERROR."""

    def settled(self, settled: Settled) -> None:
        """Write the line."""
        write = {"retry": log.warning, "bury": log.error}.get(settled.outcome, log.info)
        write(
            "request_settled",
            outcome=settled.outcome,
            type=settled.request.type,
            url=settled.request.url,
            queue=settled.queue,
            attempt=settled.request.attempt,
            fetch_ms=round(settled.fetch_s * 1000, 1),
            write_ms=round(settled.write_s * 1000, 1),
            pushed=settled.pushed.queued,
            **{name: getattr(settled, name) for name in ("reason", "cause", "detail") if getattr(settled, name)},
        )

    def called(self, call: Call) -> None:
        """Write a line for whoever looks closely."""
        log.debug(
            "platform_called",
            status=call.status,
            principal=call.principal,
            remaining=call.remaining,
            seconds=round(call.seconds, 3),
        )


class Metrics:
    """What Prometheus scrapes. Label values are few and never a URL, a login or free text."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._settled = self._counter("requests_settled", "Requests settled", ("type", "outcome"))
        self._skipped = self._counter("requests_skipped", "Requests with nothing to save", ("reason",))
        self._failed = self._counter("failures", "Attempts that failed, by class", ("cause",))
        self._buried = self._counter("deadletters_buried", "Requests given up, by class", ("cause",))
        self._saved = self._counter("documents_saved", "Documents written", ("type",))
        self._queued = self._counter("requests_queued", "Follow-ups queued", ())
        self._bounced = self._counter("requests_bounced", "Follow-ups that were waiting already", ())
        self._calls = self._counter("calls", "Answers of a platform", ("platform", "status", "resource"))
        self._throttled = self._counter("throttles", "Answers that said: not now", ("platform", "kind"))
        self._call_s = self._histogram("call_seconds", "Time until a platform's answer was read", ("platform",))
        self._fetch_s = self._histogram("fetch_seconds", "Time to retrieve and process a request", ())
        self._write_s = self._histogram("write_seconds", "Time to make an outcome durable", ())
        quota = ("principal", "resource")
        self._remaining = self._gauge("quota_remaining", "Calls left in the principal's window", quota)
        self._reset = self._gauge("quota_reset_timestamp_seconds", "When that window ends", quota)
        self._gauge("build_info", "The running version", ("version",)).labels(__version__).set(1)

    def _counter(self, name: str, text: str, labels: Sequence[str]) -> Counter:
        return Counter(f"ghcrawl_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, labels: Sequence[str]) -> Gauge:
        return Gauge(f"ghcrawl_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, labels: Sequence[str]) -> Histogram:
        return Histogram(f"ghcrawl_{name}", text, labels, buckets=_SECONDS, registry=self.registry)

    def settled(self, settled: Settled) -> None:
        """Count it."""
        type = settled.request.type
        self._settled.labels(type, settled.outcome).inc()
        if settled.outcome == "skip":
            self._skipped.labels(settled.reason).inc()
        if settled.outcome in ("retry", "bury"):
            self._failed.labels(settled.cause).inc()
        if settled.outcome == "bury":
            self._buried.labels(settled.cause).inc()
        if settled.saved == "saved":
            self._saved.labels(type).inc()
        self._queued.inc(settled.pushed.queued)
        self._bounced.inc(settled.pushed.bounced)
        self._fetch_s.observe(settled.fetch_s)
        self._write_s.observe(settled.write_s)

    def called(self, call: Call) -> None:
        """Count it."""
        self._calls.labels(call.platform, str(call.status), call.resource).inc()
        self._call_s.labels(call.platform).observe(call.seconds)
        if call.throttle:
            self._throttled.labels(call.platform, call.throttle).inc()
        if call.remaining is not None:
            self._remaining.labels(call.principal, call.resource).set(call.remaining)
        if call.reset_at is not None:
            self._reset.labels(call.principal, call.resource).set(call.reset_at.timestamp())


class Observers:
    """Tells several observers."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def settled(self, settled: Settled) -> None:
        """Tell all of them."""
        for observer in self._observers:
            observer.settled(settled)

    def called(self, call: Call) -> None:
        """Tell all of them."""
        for observer in self._observers:
            observer.called(call)
