"""Logs and metrics: structlog set up once, Prometheus objects in a registry of their own."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence
from typing import Final, Generic, Literal, TextIO, TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from structlog.typing import FilteringBoundLogger, Processor

from ghcrawl import __version__
from ghcrawl.ports import Call, Observer, Settled

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


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
    # A plain traceback: a rich one would show locals, after everything that redacts has run.
    return structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)


_LEVELS: Final = {"retry": logging.WARNING, "bury": logging.ERROR}


class SettledLog:
    """One INFO line for every settled request; what failed is a WARNING, what was buried an ERROR.

    Made after `configure_logging`: its level is decided once, so that a line nobody wants costs nothing.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Logging was configured again."""
        self._log: FilteringBoundLogger = structlog.get_logger("ghcrawl").bind()

    def settled(self, settled: Settled) -> None:
        """Write the line."""
        level = _LEVELS.get(settled.outcome, logging.INFO)
        if not self._log.is_enabled_for(level):
            return
        self._log.log(
            level,
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
        if not self._log.is_enabled_for(logging.DEBUG):
            return
        self._log.debug(
            "platform_called",
            status=call.status,
            principal=call.principal,
            remaining=call.remaining,
            seconds=round(call.seconds, 3),
        )


M = TypeVar("M", Counter, Gauge, Histogram)


MAX_CHILDREN: Final = 2000
THROTTLES: Final = ("primary", "secondary")
"""The kinds of an answer that says: not now."""
OTHER: Final = "other"


class _Labelled(Generic[M]):
    """A metric whose children are looked up by their values alone: these run several times in every turn of a loop.

    However many values come, there are never more than so many children: the rest is counted together.
    """

    def __init__(self, metric: M) -> None:
        self._metric: M = metric
        self._children: dict[tuple[str, ...], M] = {}

    def __call__(self, *values: str) -> M:
        child = self._children.get(values)
        if child is None:
            if len(self._children) >= MAX_CHILDREN:
                values = (OTHER,) * len(values)
            child = self._children[values] = self._metric.labels(*values)
        return child


class Metrics:
    """What Prometheus scrapes. Label values are few and never a URL, a login or free text."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._types: set[str] = set()
        counter, gauge = self._counter, self._gauge
        self._settled = _Labelled(counter("requests_settled", "Requests settled", "type", "outcome"))
        self._skipped = _Labelled(counter("requests_skipped", "Requests with nothing to save", "reason"))
        self._failed = _Labelled(counter("failures", "Attempts that failed, by class", "cause"))
        self._buried = _Labelled(counter("deadletters_buried", "Requests given up, by class", "cause"))
        self._saved = _Labelled(counter("documents_saved", "Documents written", "type"))
        self._queued = counter("requests_queued", "Follow-ups queued")
        self._bounced = counter("requests_bounced", "Follow-ups that were waiting already")
        self._calls = _Labelled(counter("calls", "Answers of a platform", "platform", "status", "resource"))
        self._throttled = _Labelled(counter("throttles", "Answers that said: not now", "platform", "kind"))
        self._call_s = _Labelled(self._seconds("call_seconds", "Until a platform's answer was read", "platform"))
        self._fetch_s = self._seconds("fetch_seconds", "Time to retrieve and process a request")
        self._write_s = self._seconds("write_seconds", "Time to make an outcome durable")
        quota = ("principal", "resource")
        self._remaining = _Labelled(gauge("quota_remaining", "Calls left in the principal's window", *quota))
        self._reset = _Labelled(gauge("quota_reset_timestamp_seconds", "When that window ends", *quota))
        gauge("build_info", "The running version", "version").labels(__version__).set(1)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"ghcrawl_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"ghcrawl_{name}", text, labels, registry=self.registry)

    def _seconds(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(f"ghcrawl_{name}", text, labels, buckets=_SECONDS, registry=self.registry)

    def expect(self, platform: str, types: Iterable[str]) -> None:
        """Requests of other types than those that were expected are counted together, whoever asked for them.

        What `platform` may say is counted from 0: a rise from nothing to one is none to Prometheus.
        """
        self._types.update(types)
        for kind in THROTTLES:
            self._throttled(platform, kind)

    def settled(self, settled: Settled) -> None:
        """Count it."""
        type, outcome = settled.request.type, settled.outcome
        if self._types and type not in self._types:
            type = OTHER
        self._settled(type, outcome).inc()
        if outcome == "skip":
            self._skipped(settled.reason).inc()
        elif outcome in ("retry", "bury"):
            self._failed(settled.cause).inc()
            if outcome == "bury":
                self._buried(settled.cause).inc()
        if settled.saved == "saved":
            self._saved(type).inc()
        if settled.pushed.queued or settled.pushed.bounced:
            self._queued.inc(settled.pushed.queued)
            self._bounced.inc(settled.pushed.bounced)
        self._fetch_s.observe(settled.fetch_s)
        self._write_s.observe(settled.write_s)

    def called(self, call: Call) -> None:
        """Count it."""
        self._calls(call.platform, str(call.status), call.resource).inc()
        self._call_s(call.platform).observe(call.seconds)
        if call.throttle:
            self._throttled(call.platform, call.throttle).inc()
        if call.remaining is not None:
            self._remaining(call.principal, call.resource).set(call.remaining)
        if call.reset_at is not None:
            self._reset(call.principal, call.resource).set(call.reset_at.timestamp())


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
