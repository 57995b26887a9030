"""Metrics: Prometheus objects in a registry of their own, fed by an observer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ghcrawl import __version__
from ghcrawl.ports.observer import Call, Observer, Settled
from ghcrawl.values.type_names import TypeName

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

M = TypeVar("M", Counter, Gauge, Histogram)


MAX_CHILDREN: Final = 2000
THROTTLES: Final = ("primary", "secondary")
"""The kinds of an answer that says: not now."""
OTHER: Final = "other"
_OTHER_TYPE: Final = TypeName(OTHER, OTHER)


class _Labelled(Generic[M]):
    """A metric whose children are looked up by their values alone: these run several times in every turn of a loop.

    The number of children is bounded: values beyond the bound are counted together.
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
        self._types: set[TypeName] = set()
        counter, gauge = self._counter, self._gauge
        self._settled = _Labelled(counter("requests_settled", "Requests settled", "platform", "type", "outcome"))
        self._skipped = _Labelled(
            counter("requests_skipped", "Requests settled without a document to save", "platform", "reason")
        )
        self._failed = _Labelled(counter("failures", "Failed attempts, by class", "platform", "cause"))
        self._buried = _Labelled(counter("deadletters_buried", "Requests dead-lettered, by class", "platform", "cause"))
        self._saved = _Labelled(counter("documents_saved", "Documents written", "platform", "type"))
        self._queued = counter("requests_queued", "Follow-up requests queued")
        self._bounced = counter("requests_bounced", "Follow-up requests dropped as duplicates of waiting requests")
        self._calls = _Labelled(counter("calls", "API responses, by status", "platform", "status", "resource"))
        self._throttled = _Labelled(counter("throttles", "API responses that signal a rate limit", "platform", "kind"))
        self._call_s = _Labelled(self._seconds("call_seconds", "Duration of an API call, in seconds", "platform"))
        self._fetch_s = _Labelled(
            self._seconds("fetch_seconds", "Time to fetch and process a request, in seconds", "platform")
        )
        self._write_s = self._seconds("write_seconds", "Time to persist an outcome, in seconds")
        quota = ("platform", "principal", "resource")
        self._remaining = _Labelled(
            gauge("quota_remaining", "Calls remaining in the rate limit window of the principal", *quota)
        )
        self._reset = _Labelled(gauge("quota_reset_timestamp_seconds", "End of the rate limit window", *quota))
        gauge("build_info", "The running version", "version").labels(__version__).set(1)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"ghcrawl_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"ghcrawl_{name}", text, labels, registry=self.registry)

    def _seconds(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(f"ghcrawl_{name}", text, labels, buckets=_SECONDS, registry=self.registry)

    def expect(self, platform: str, types: Iterable[str]) -> None:
        """Requests of types other than those expected are counted together, of any origin.

        What `platform` may say is counted from 0: a rise from nothing to one is none to Prometheus.
        """
        self._types.update(TypeName(platform, type) for type in types)
        for kind in THROTTLES:
            self._throttled(platform, kind)

    def settled(self, settled: Settled) -> None:
        """Count it."""
        type, outcome = settled.request.type_name, settled.outcome
        if self._types and type not in self._types:
            type = _OTHER_TYPE
        platform = type.platform
        self._settled(*type, outcome).inc()
        if outcome == "skip":
            self._skipped(platform, settled.reason).inc()
        elif outcome in ("retry", "bury"):
            self._failed(platform, settled.cause).inc()
            if outcome == "bury":
                self._buried(platform, settled.cause).inc()
        if settled.saved == "saved":
            self._saved(*type).inc()
        if settled.pushed.queued or settled.pushed.bounced:
            self._queued.inc(settled.pushed.queued)
            self._bounced.inc(settled.pushed.bounced)
        self._fetch_s(platform).observe(settled.fetch_s)
        self._write_s.observe(settled.write_s)

    def called(self, call: Call) -> None:
        """Count it."""
        self._calls(call.platform, str(call.status), call.resource).inc()
        self._call_s(call.platform).observe(call.seconds)
        if call.throttle:
            self._throttled(call.platform, call.throttle).inc()
        if call.remaining is not None:
            self._remaining(call.platform, call.principal, call.resource).set(call.remaining)
        if call.reset_at is not None:
            self._reset(call.platform, call.principal, call.resource).set(call.reset_at.timestamp())


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
