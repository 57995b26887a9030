"""Tags and starts in this process's memory: for one process that has a broker to itself, and for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.frozen import replace
from ghcrawl.values.model import Lane


class MemoryDedupMarkers:
    """As the port says. Markers do not outlive the process: what waited before may be queued twice."""

    def __init__(self) -> None:
        self._tags: dict[str, DedupMarker] = {}

    async def find(self, keys: Sequence[str]) -> Mapping[str, DedupMarker]:
        """As the port says."""
        return {key: self._tags[key] for key in keys if key in self._tags}

    async def insert(self, tags: Sequence[DedupMarker]) -> frozenset[str]:
        """As the port says."""
        taken = frozenset([tag.key for tag in tags if tag.key in self._tags])
        self._tags.update({tag.key: tag for tag in tags if tag.key not in taken})
        return taken

    async def replace(self, pairs: Sequence[tuple[DedupMarker, DedupMarker]]) -> None:
        """As the port says."""
        for old, new in pairs:
            if self._has(old.key, old.token):
                self._tags[old.key] = new

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        """As the port says."""
        for key in keys:
            if self._has(key, token):
                self._tags[key] = replace(self._tags[key], queued=True)

    async def delete(self, key: str, token: str) -> bool:
        """As the port says."""
        return self._has(key, token) and self._tags.pop(key) is not None

    async def any_queued(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says."""
        return any(tag.queued and (platforms is None or tag.platform in platforms) for tag in self._tags.values())

    async def delayed(self, now: datetime) -> Mapping[Lane, int]:
        """As the port says."""
        return Counter(tag.lane for tag in self._tags.values() if tag.not_before is not None and tag.not_before > now)

    async def written(self, before: datetime, lane: Lane | None = None) -> AsyncIterator[DedupMarker]:
        """As the port says."""
        for tag in list(self._tags.values()):
            if tag.at < before and (tag.not_before is not None if lane is None else tag.lane == lane):
                yield tag

    async def clear(self, lane: Lane) -> int:
        """As the port says."""
        return self._keep({key: tag for key, tag in self._tags.items() if tag.lane != lane})

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return self._keep({key: tag for key, tag in self._tags.items() if tag.at >= before})

    def _has(self, key: str, token: str) -> bool:
        return key in self._tags and self._tags[key].token == token

    def _keep(self, tags: dict[str, DedupMarker]) -> int:
        gone, self._tags = len(self._tags) - len(tags), tags
        return gone


class MemoryCrashCounter:
    """As `ghcrawl.ports.dedup.Starts` says, except that a process which dies takes its memory along.

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
