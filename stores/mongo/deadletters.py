"""Deadletters in MongoDB, in one collection.

    {"_id": urn, "order": "lastAt|urn", "platform", "type", "kind", "host", "queue", "reason", "reasonFolded",
     "firstAt", "lastAt", "failures": […], "traceback", "request": {…the message…}, "raw"?}

Every deadletter can be stored. If one is too large, its request is compressed (`packed`); if that is still too large,
the request's payload is dropped and the reason says so. Requeued, such a request is fetched again.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, Self

from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import DecodeError, Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.requests import unreadable
from ghcrawl.values.times import moment, time_text
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores.deadletters import RequestCodec, failure_from, host_of
from stores.mongo.driver import OURS, Mongo
from stores.mongo.errors import opening
from stores.mongo.escaping import from_bson, plain_text, safe_text, to_bson
from stores.mongo.settings import Index
from stores.mongo.writes import Fields

DEADLETTERS: Final = f"{OURS}deadletters"
INDEXES: Final = (
    Index(name="order", fields=("order",)),
    Index(name="counted_by_platform", fields=("platform", "type", "kind", "host", "order")),
)
DELETED_AT_ONCE: Final = 1000
RAW_KEPT: Final = 1024 * 1024
"""Bytes that are kept of an undecodable message if the deadletter would be too large otherwise."""


class MongoDeadletters:
    """The deadletters in `mongo`. codec: encodes requests as the queue does."""

    def __init__(self, mongo: Mongo, codec: RequestCodec) -> None:
        self._mongo = mongo
        self._codec = codec

    @classmethod
    async def open(cls, mongo: Mongo, codec: RequestCodec) -> Self:
        """The deadletters, with their indexes. Raises ConfigError, StoreError."""
        with opening():
            await mongo.index(DEADLETTERS, *INDEXES)
        return cls(mongo, codec)

    async def bury(self, deadletter: Deadletter) -> None:
        """As the port says."""
        for row in self._rows(deadletter):
            try:
                await self._mongo.insert(DEADLETTERS, row)
            except Unstorable:
                continue
            return
        await self._mongo.insert(DEADLETTERS, self._row(_bare(deadletter)))

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """As the port says. If `after` was deleted meanwhile, starts with the newest again."""
        last = await self._mongo.find_one(DEADLETTERS, {"_id": safe_text(after)}, {"order": 1}) if after else None
        where = _where(which, behind=last["order"] if last else "")
        rows = await self._mongo.find(DEADLETTERS, where, newest="order", limit=limit) if limit else []
        return [self._deadletter(row) for row in rows]

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """As the port says."""
        by, index = ("platform", "type", "kind"), INDEXES[-1].name
        rows = await self._mongo.numbers(DEADLETTERS, _where(which), by, index=index)
        return DeadletterCounts.of(
            (
                TypeName(plain_text(row.get("platform") or LEGACY_PLATFORM), plain_text(row["type"])),
                plain_text(row["kind"]),
                row["number"],
            )
            for row in rows
        )

    async def get(self, urn: str) -> Deadletter | None:
        """As the port says."""
        row = await self._mongo.find_one(DEADLETTERS, {"_id": safe_text(urn)})
        return None if row is None else self._deadletter(row)

    async def delete(self, urns: Sequence[str]) -> int:
        """As the port says, a thousand at a time."""
        names, gone = [safe_text(urn) for urn in dict.fromkeys(urns)], 0
        for start in range(0, len(names), DELETED_AT_ONCE):
            which = {"_id": {"$in": names[start : start + DELETED_AT_ONCE]}}
            gone += await self._mongo.delete(DEADLETTERS, which)
        return gone

    def _rows(self, letter: Deadletter) -> Iterator[dict[str, Any]]:
        """The row of a deadletter, then the same with its request compressed."""
        row = self._row(letter)
        yield row
        yield {**row, "request": None, "packed": zlib.compress(self._codec.encode(letter.request))}

    def _row(self, letter: Deadletter) -> dict[str, Any]:
        """Raises Unstorable for a payload that is not JSON."""
        last_at = time_text(letter.last_at)
        row = {
            "_id": letter.urn,
            "order": f"{last_at}|{letter.urn}",
            "platform": letter.request.platform,
            "type": letter.request.type,
            "kind": letter.kind,
            "host": host_of(letter.request.url),
            "queue": letter.queue,
            "reason": letter.reason,
            "reasonFolded": _folded(letter.reason),
            "firstAt": time_text(letter.first_at),
            "lastAt": last_at,
            "failures": [failure.to_json(at=time_text(failure.at)) for failure in letter.failures],
            "traceback": letter.traceback,
            "request": json.loads(self._codec.encode(letter.request)),
        }
        stored = to_bson(row, letter.urn)
        return stored if letter.raw is None else {**stored, "raw": letter.raw}

    def _deadletter(self, row: Fields) -> Deadletter:
        letter = from_bson({name: item for name, item in row.items() if name not in ("raw", "packed")})
        raw, packed = row.get("raw"), row.get("packed")
        message = zlib.decompress(packed) if packed else json.dumps(letter["request"]).encode("ascii")
        try:
            request = self._codec.decode(message)
        except DecodeError:  # written by a newer version: shown, but this version cannot requeue it
            request, raw = unreadable(letter.get("platform") or LEGACY_PLATFORM, letter["type"]), raw or message
        return Deadletter(
            urn=letter["_id"],
            request=request,
            queue=next(name for name in QUEUES if name == letter["queue"]),
            kind=letter["kind"],
            reason=letter["reason"],
            failures=tuple(failure_from(value) for value in letter["failures"]),
            first_at=moment(letter["firstAt"]),
            last_at=moment(letter["lastAt"]),
            traceback=letter["traceback"],
            raw=raw,
        )


def _bare(letter: Deadletter) -> Deadletter:
    """The deadletter without its payload, and with at most `RAW_KEPT` bytes of its message."""
    reason = f"{letter.reason} (and its body was too large to be kept)"
    raw = None if letter.raw is None else letter.raw[:RAW_KEPT]
    return replace(letter, request=replace(letter.request, payload=None), reason=reason, raw=raw)


def _where(which: DeadletterFilter, *, behind: str = "") -> dict[str, Any]:
    """The MongoDB filter. behind: the `order` of a deadletter; admit only older ones."""
    where: dict[str, Any] = {}
    for name, values in (("_id", which.urns), ("kind", which.kinds)):
        if values:
            where[name] = {"$in": [safe_text(value) for value in values]}
    if which.platforms:
        where["platform"] = {"$in": [name for platform in which.platforms for name in _names_of(platform)]}
    if which.types:
        where["$or"] = [
            {"platform": {"$in": _names_of(type.platform)}, "type": safe_text(type.name)} for type in which.types
        ]
    if which.host:
        where["host"] = safe_text(which.host.lower())
    if which.reason:
        where["reasonFolded"] = {"$regex": re.escape(_folded(which.reason)).replace("\0", r"\x00")}
    bounds = [bound for bound in (time_text(which.before) if which.before else "", behind) if bound]
    if bounds:
        where["order"] = {"$lt": min(bounds)}
    return where


def _names_of(platform: str) -> list[str | None]:
    """The values that rows have for this platform. Old rows of the legacy platform have none."""
    return [safe_text(platform), *([None] if platform == LEGACY_PLATFORM else [])]


def _folded(text: str) -> str:
    """The text for case-insensitive search: casefolded, with lone surrogates replaced."""
    return text.casefold().encode("utf-8", "replace").decode()
