"""Dedup markers and crash counts in memory: for a process that has a broker to itself, and for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane


class MemoryDedupMarkers:
    """As the port says. Markers do not outlive the process: what waited before may be queued twice."""

    def __init__(self) -> None:
        self._markers: dict[str, DedupMarker] = {}

    async def find(self, keys: Sequence[str]) -> Mapping[str, DedupMarker]:
        """As the port says."""
        return {key: self._markers[key] for key in keys if key in self._markers}

    async def insert(self, markers: Sequence[DedupMarker]) -> frozenset[str]:
        """As the port says."""
        taken = frozenset([marker.key for marker in markers if marker.key in self._markers])
        self._markers.update({marker.key: marker for marker in markers if marker.key not in taken})
        return taken

    async def replace(self, pairs: Sequence[tuple[DedupMarker, DedupMarker]]) -> None:
        """As the port says."""
        for old, new in pairs:
            if self._has(old.key, old.token):
                self._markers[old.key] = new

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        """As the port says."""
        for key in keys:
            if self._has(key, token):
                self._markers[key] = replace(self._markers[key], queued=True)

    async def delete(self, key: str, token: str) -> bool:
        """As the port says."""
        return self._has(key, token) and self._markers.pop(key) is not None

    async def any_queued(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says."""
        return any(
            marker.queued and (platforms is None or marker.platform in platforms) for marker in self._markers.values()
        )

    async def delayed(self, now: datetime) -> Mapping[Lane, int]:
        """As the port says."""
        return Counter(
            marker.lane
            for marker in self._markers.values()
            if marker.not_before is not None and marker.not_before > now
        )

    async def written(self, before: datetime, lane: Lane | None = None) -> AsyncIterator[DedupMarker]:
        """As the port says."""
        for marker in list(self._markers.values()):
            if marker.at < before and (marker.not_before is not None if lane is None else marker.lane == lane):
                yield marker

    async def clear(self, lane: Lane) -> int:
        """As the port says."""
        return self._keep({key: marker for key, marker in self._markers.items() if marker.lane != lane})

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return self._keep({key: marker for key, marker in self._markers.items() if marker.at >= before})

    def _has(self, key: str, token: str) -> bool:
        return key in self._markers and self._markers[key].token == token

    def _keep(self, markers: dict[str, DedupMarker]) -> int:
        gone, self._markers = len(self._markers) - len(markers), markers
        return gone


class MemoryCrashCounter:
    """As `ghcrawl.ports.dedup.CrashCounter` says, except that a process which dies takes its memory along.

    So it does not protect from a message that kills the process; the broker's delivery limit does.
    """

    def __init__(self) -> None:
        self._begun: dict[str, tuple[int, datetime]] = {}

    async def count(self, message: str) -> int:
        """As the port says."""
        return self._begun[message][0] if message in self._begun else 0

    async def add(self, message: str, at: datetime) -> int:
        """As the port says."""
        times = await self.count(message) + 1
        self._begun[message] = (times, at)
        return times

    async def forget(self, message: str) -> None:
        """As the port says."""
        self._begun.pop(message, None)

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        old = [message for message, (_, at) in self._begun.items() if at < before]
        for message in old:
            del self._begun[message]
        return len(old)
