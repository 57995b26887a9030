"""Prometheus metrics of the streams: subscriptions, holders, lag and disconnections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge

from ghcrawl.ports.stream import StreamObserver

LABELS: Final = ["platform"]


class StreamMetrics(StreamObserver):
    """Metric objects in `registry`. `subscribed` is what all replicas share; everything else is this process's own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._subscribed = Gauge(
            "ghcrawl_streams_subscribed", "Streams that are subscribed to", LABELS, registry=registry
        )
        self._held = Gauge("ghcrawl_streams_held", "Streams that this process reads", LABELS, registry=registry)
        self._cursor = Gauge(
            "ghcrawl_stream_cursor_timestamp_seconds",
            "When the cursor last moved, of the stream of this process where that is longest ago",
            LABELS,
            registry=registry,
        )
        self._lag = Gauge(
            "ghcrawl_stream_lag_seconds",
            "Age of the last item when it was queued, of the stream of this process where that is most",
            LABELS,
            registry=registry,
        )
        self._items = Counter("ghcrawl_stream_items", "Items queued from streams", LABELS, registry=registry)
        self._breaks = Counter("ghcrawl_stream_disconnects", "Connections that broke", LABELS, registry=registry)
        self._moved: dict[str, dict[str, datetime]] = {}
        self._late_s: dict[str, dict[str, float]] = {}

    def expect(self, platforms: Iterable[str]) -> None:
        """These have streams: they are counted from 0."""
        for name in platforms:
            for metric in (self._subscribed, self._held, self._items, self._breaks):
                metric.labels(name)

    def subscribed(self, by_platform: Mapping[str, int]) -> None:
        """As `StreamObserver` says."""
        for platform, number in by_platform.items():
            self._subscribed.labels(platform).set(number)

    def held(self, platform: str, stream: str, *, since: datetime) -> None:
        """As `StreamObserver` says."""
        self._moved.setdefault(platform, {})[stream] = since
        self._show(platform)

    def left(self, platform: str, stream: str) -> None:
        """As `StreamObserver` says."""
        self._moved.get(platform, {}).pop(stream, None)
        self._late_s.get(platform, {}).pop(stream, None)
        self._show(platform)

    def queued(self, platform: str, stream: str, items: int, *, at: datetime, happened_at: datetime | None) -> None:
        """As `StreamObserver` says."""
        self._moved.setdefault(platform, {})[stream] = at
        self._items.labels(platform).inc(items)
        if happened_at is not None:
            self._late_s.setdefault(platform, {})[stream] = max(0.0, (at - happened_at).total_seconds())
        self._show(platform)

    def disconnected(self, platform: str) -> None:
        """As `StreamObserver` says."""
        self._breaks.labels(platform).inc()

    def _show(self, platform: str) -> None:
        moved, late_s = self._moved[platform], self._late_s.get(platform)
        self._held.labels(platform).set(len(moved))
        if moved:
            self._cursor.labels(platform).set(min(moved.values()).timestamp())
        else:  # nothing is late where nothing is read
            self._cursor.remove(platform)
        if late_s:
            self._lag.labels(platform).set(max(late_s.values()))
        else:
            self._lag.remove(platform)
