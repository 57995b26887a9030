"""The port of what is asked again and again: sources in order of when they are due. Contract: `sources_contract.py`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ghcrawl.values.source import WatchedSource


class Sources(Protocol):
    """Sources by key. Every call is atomic for each source; none looks at more sources than it returns.

    Implementations raise StoreError.
    """

    async def add(self, sources: Sequence[WatchedSource]) -> int:
        """Add those that are not there yet; the others stay as they are. Returns how many were added."""

    async def write(self, sources: Sequence[WatchedSource]) -> frozenset[str]:
        """Replace each whose stored version is that of the argument; stored, its version is one higher.

        Returns the keys of those that were written. The others were changed or removed meanwhile: read them again.
        """

    async def remove(self, keys: Collection[str]) -> int:
        """Remove these. Returns how many there were."""

    async def get(self, key: str) -> WatchedSource | None:
        """The source called `key`."""

    async def due(self, platform: str, limit: int) -> Sequence[WatchedSource]:
        """Those of a platform that are due first, in order of `due`; also those that are not due yet."""

    async def oldest(self, platform: str, limit: int, *, before: float) -> Sequence[WatchedSource]:
        """Those of a platform that were read longest ago, before a moment in days, the longest ago first."""

    async def list(self, platform: str = "", *, limit: int, after: str = "") -> Sequence[WatchedSource]:
        """Sources by key, behind `after`; empty platform: of all. Keys are spread evenly: any range is a sample."""

    async def count(self, platform: str) -> int:
        """How many a platform has."""
