"""Dedup markers and crash counts in MongoDB, for all processes that share one broker.

    ghcrawl.tags    {"_id": key, "copy": "token key", "token", "queued", "queue", "at", "body", "platform"?, "askedAt"?,
                    "notBefore"?}
    ghcrawl.starts  {"_id": message, "starts": 2, "at"}

`copy` makes "this key with this token" one indexed field: with a second condition beside `_id`, simpler servers than
MongoDB would scan all markers. Tokens ascend with time, and requests are popped roughly in the order of their pushes,
so the index over them changes only at its two ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Self

from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.lanes import QUEUES, Lane
from ghcrawl.values.times import moment, time_text
from ghcrawl.values.type_names import LEGACY_PLATFORM
from stores.batcher import Batcher
from stores.mongo.batched import Shared
from stores.mongo.driver import OURS, Mongo
from stores.mongo.errors import opening
from stores.mongo.escaping import plain_text, safe_text
from stores.mongo.settings import Index
from stores.mongo.writes import replacing

MARKERS: Final = f"{OURS}tags"
STARTS: Final = f"{OURS}starts"
RECEIPTS: Final = f"{OURS}receipts"
"""Collection of the markers that serve as idempotency keys (`stores.idempotency_keys`)."""
INDEXES: Final = (
    Index(name="copy", fields=("copy",), unique=True),
    Index(name="notBefore", fields=("notBefore",), sparse=True),
)
"""The second is over one field, so that it stays small: a sparse index over two would hold all markers, not only
delayed ones."""
RECEIPT_INDEXES: Final = (*INDEXES, Index(name="at", fields=("at",)))
"""The keys of several days are kept, and every hour those that are too old are found by `at`."""

SLOW_S: Final = 600.0
"""Time limit of calls that scan all markers. No worker waits for them."""


class MongoDedupMarkers:
    """As `ghcrawl.ports.dedup.DedupMarkers` says. Every write survives a failover; every read is from the primary."""

    def __init__(self, mongo: Mongo, collection: str = MARKERS) -> None:
        self._mongo = mongo.strict()
        self._name = collection
        self._shared = Shared(self._mongo, collection, unique="copy")
        self._confirmations: Batcher[Sequence[str], None] = Batcher(self._confirm)

    @classmethod
    async def open(cls, mongo: Mongo, collection: str = MARKERS) -> Self:
        """The markers in `collection`, with their indexes. Raises ConfigError, StoreError."""
        with opening():
            await mongo.index(collection, *(RECEIPT_INDEXES if collection == RECEIPTS else INDEXES))
        return cls(mongo, collection)

    async def find(self, keys: Sequence[str]) -> Mapping[str, DedupMarker]:
        """As the port says."""
        which = {"_id": {"$in": list(map(safe_text, keys))}}
        found = await self._mongo.find(self._name, which, {"body": 0}) if keys else []
        return {marker.key: marker for marker in map(_marker, found)}

    async def insert(self, markers: Sequence[DedupMarker]) -> frozenset[str]:
        """As the port says."""
        kept = await self._shared.insert_all([_row(marker) for marker in markers])
        return frozenset(marker.key for marker, there in zip(markers, kept, strict=True) if not there)

    async def replace(self, pairs: Sequence[tuple[DedupMarker, DedupMarker]]) -> None:
        """As the port says."""
        writes = [replacing({"copy": _copy(old.key, old.token)}, _row(new)) for old, new in pairs]
        if writes:
            (await self._mongo.bulk(self._name, writes)).demand_taken()

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        """As the port says."""
        if keys:
            await self._confirmations.ask([_copy(key, token) for key in keys])

    async def _confirm(self, asked: Sequence[Sequence[str]]) -> Sequence[None]:
        copies = [copy for each in asked for copy in each]
        await self._mongo.update_many(self._name, {"copy": {"$in": copies}}, {"$set": {"queued": True}})
        return [None for _ in asked]

    async def delete(self, key: str, token: str) -> bool:
        """As the port says. If several callers delete the same marker at once, all of them may get False."""
        return await self._shared.delete(_copy(key, token))

    async def any_queued(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says."""
        which: dict[str, Any] = {"queued": True}
        if platforms is not None:
            which["platform"] = {"$in": [_stored(platform) for platform in platforms]}
        return await self._mongo.find_one(self._name, which, {"_id": 1}) is not None

    async def delayed(self, now: datetime) -> Mapping[Lane, int]:
        """As the port says."""
        which = {"notBefore": {"$gt": time_text(now)}}
        rows = await self._mongo.numbers(self._name, which, ["platform", "queue"], index="notBefore")
        return {Lane(_platform(row), row["queue"]): row["number"] for row in rows}

    async def written(self, before: datetime, lane: Lane | None = None) -> AsyncIterator[DedupMarker]:
        """As the port says."""
        which: dict[str, Any] = {"at": {"$lt": time_text(before)}}
        which |= {"notBefore": {"$exists": True}} if lane is None else _of(lane)
        async for row in self._mongo.by_id(self._name, {"$gte": ""}, which):
            yield _marker(row)

    async def clear(self, lane: Lane) -> int:
        """As the port says."""
        return await self._mongo.delete(self._name, _of(lane), timeout_s=SLOW_S)

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return await self._mongo.delete(self._name, {"at": {"$lt": time_text(before)}}, timeout_s=SLOW_S)


class MongoCrashCounter:
    """As `ghcrawl.ports.dedup.CrashCounter` says."""

    def __init__(self, mongo: Mongo) -> None:
        self._mongo = mongo.strict()

    async def count(self, message: str) -> int:
        """As the port says."""
        found = await self._mongo.find_one(STARTS, {"_id": safe_text(message)})
        return 0 if found is None else int(found["starts"])

    async def add(self, message: str, at: datetime) -> int:
        """As the port says. Compares and swaps, so each concurrent caller gets a number of its own."""
        name, text = safe_text(message), time_text(at)
        while True:
            starts = await self.count(message)
            if starts:
                change = {"$set": {"starts": starts + 1}, "$max": {"at": text}}
                added = await self._mongo.update(STARTS, {"_id": name, "starts": starts}, change)
            else:
                added = await self._mongo.insert(STARTS, {"_id": name, "starts": 1, "at": text})
            if added:
                return starts + 1

    async def forget(self, message: str) -> None:
        """As the port says."""
        await self._mongo.delete_one(STARTS, {"_id": safe_text(message)})

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return await self._mongo.delete(STARTS, {"at": {"$lt": time_text(before)}})


def _of(lane: Lane) -> dict[str, Any]:
    return {"platform": _stored(lane.platform), "queue": lane.queue}


def _copy(key: str, token: str) -> str:
    return f"{token} {safe_text(key)}"


def _stored(platform: str) -> str | None:
    """The value of the field `platform`; None, so no field, for the legacy platform."""
    return None if platform == LEGACY_PLATFORM else safe_text(platform)


def _platform(row: Mapping[str, Any]) -> str:
    stored = row.get("platform")
    return LEGACY_PLATFORM if stored is None else plain_text(stored)


def _row(marker: DedupMarker) -> dict[str, Any]:
    moments = {"askedAt": marker.asked_at, "notBefore": marker.not_before}
    return {
        "_id": safe_text(marker.key),
        "copy": _copy(marker.key, marker.token),
        "token": marker.token,
        "queued": marker.queued,
        "queue": marker.queue,
        "at": time_text(marker.at),
        **({} if marker.platform == LEGACY_PLATFORM else {"platform": _stored(marker.platform)}),
        **({"body": marker.body} if marker.body else {}),
        **{name: time_text(moment) for name, moment in moments.items() if moment is not None},
    }


def _marker(row: Mapping[str, Any]) -> DedupMarker:
    return DedupMarker(
        key=plain_text(row["_id"]),
        token=row["token"],
        queued=row["queued"],
        platform=_platform(row),
        queue=next(name for name in QUEUES if name == row["queue"]),
        asked_at=_moment(row.get("askedAt")),
        not_before=_moment(row.get("notBefore")),
        at=moment(row["at"]),
        body=row.get("body", b""),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else moment(text)
