"""Sources in MongoDB, shared by all replicas.

ghcrawl.sources  {"_id": key, "platform", "due", "read", "v": version, "data": bytes}
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final, Self

from ghcrawl.values.source import WatchedSource
from stores.mongo.driver import OURS, Mongo
from stores.mongo.errors import opening
from stores.mongo.settings import Index
from stores.sources import pack, read_at, unpack

SOURCES: Final = f"{OURS}sources"
INDEXES: Final = (
    Index(name="due", fields=("platform", "due")),
    Index(name="read", fields=("platform", "read")),
)
AT_ONCE: Final = 50
"""Concurrent writes."""


class MongoSources:
    """As the port says. Every write survives a failover: if a lease were rolled back, a source would be read twice."""

    def __init__(self, mongo: Mongo) -> None:
        self._mongo = mongo.strict()

    @classmethod
    async def open(cls, mongo: Mongo) -> Self:
        """The sources, with their indexes. Raises ConfigError, StoreError."""
        with opening():
            await mongo.index(SOURCES, *INDEXES)
        return cls(mongo)

    async def add(self, sources: Sequence[WatchedSource]) -> int:
        """As the port says."""
        added = 0
        for some in _batches(sources):
            added += sum(await asyncio.gather(*(self._mongo.insert(SOURCES, _row(each)) for each in some)))
        return added

    async def write(self, sources: Sequence[WatchedSource]) -> frozenset[str]:
        """As the port says."""
        written = set()
        for some in _batches(sources):
            done = await asyncio.gather(*(self._write(each) for each in some))
            written |= {each.key for each, there in zip(some, done, strict=True) if there}
        return frozenset(written)

    async def _write(self, source: WatchedSource) -> bool:
        row = {**_row(source), "v": source.version + 1}
        return await self._mongo.replace(SOURCES, {"_id": source.key, "v": source.version}, row)

    async def remove(self, keys: Collection[str]) -> int:
        """As the port says."""
        return await self._mongo.delete(SOURCES, {"_id": {"$in": sorted(set(keys))}}) if keys else 0

    async def get(self, key: str) -> WatchedSource | None:
        """As the port says."""
        row = await self._mongo.find_one(SOURCES, {"_id": key})
        return None if row is None else _source(row)

    async def due(self, platform: str, limit: int) -> Sequence[WatchedSource]:
        """As the port says."""
        return await self._find({"platform": platform}, "due", limit)

    async def oldest(self, platform: str, limit: int, *, before: float) -> Sequence[WatchedSource]:
        """As the port says."""
        return await self._find({"platform": platform, "read": {"$gte": 0.0, "$lt": before}}, "read", limit)

    async def list(self, platform: str = "", *, limit: int, after: str = "") -> Sequence[WatchedSource]:
        """As the port says."""
        which: dict[str, Any] = {"_id": {"$gt": after}}
        if platform:
            which["platform"] = platform
        return await self._find(which, "_id", limit)

    async def count(self, platform: str) -> int:
        """As the port says."""
        return await self._mongo.count(SOURCES, {"platform": platform})

    async def _find(self, which: dict[str, Any], by: str, limit: int) -> Sequence[WatchedSource]:
        if limit <= 0:  # which MongoDB takes for "no limit"
            return []
        return [_source(row) for row in await self._mongo.find(SOURCES, which, first=by, limit=limit)]


def _batches(sources: Sequence[WatchedSource]) -> list[Sequence[WatchedSource]]:
    return [sources[begin : begin + AT_ONCE] for begin in range(0, len(sources), AT_ONCE)]


def _row(source: WatchedSource) -> dict[str, Any]:
    return {
        "_id": source.key,
        "platform": source.platform,
        "due": source.due,
        "read": read_at(source),
        "v": source.version,
        "data": pack(source),
    }


def _source(row: dict[str, Any]) -> WatchedSource:
    return unpack(row["_id"], row["platform"], row["due"], row["read"], row["v"], bytes(row["data"]))
