"""Sources as compact rows, and a memory adapter."""

from __future__ import annotations

import struct
from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from typing import Final

from ghcrawl.values.errors import StoreError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps, loads
from ghcrawl.values.source import HOURS, TRACE_DAYS, Estimate, Trace, WatchedSource

_FORM: Final = 1
_NUMBERS: Final = struct.Struct("<Bdddddddd ffII HI ?H 24e")
"""Form; estimate; not_before, gap, asked, news; weight, pin; calls, items; errors, day; free, page; table."""
_NEVER: Final = -1.0
"""`read` of a source that was never read."""
_LARGEST: Final = 60_000.0
"""Upper bound for half-precision floats, whose maximum is 65,504."""


def read_at(source: WatchedSource) -> float:
    """The column `read`: when the source was last read, or -1 if never."""
    return _NEVER if source.estimate.last is None else source.estimate.last


def pack(source: WatchedSource) -> bytes:
    """A source as bytes, without key, platform, due, last reading and version, which have columns of their own."""
    estimate, trace = source.estimate, source.trace
    numbers = _NUMBERS.pack(
        _FORM,
        estimate.slow_items,
        estimate.slow_days,
        estimate.fast_items,
        estimate.fast_days,
        source.not_before,
        source.gap,
        source.asked,
        source.news,
        source.weight,
        source.pin,
        min(source.calls, 2**32 - 1),
        min(source.items, 2**32 - 1),
        source.errors,
        max(trace.day, 0),
        source.free,
        min(source.page, 2**16 - 1),
        *(min(slot, _LARGEST) for slot in trace.table),
    )
    texts = dumps([source.type, source.url, source.policy, source.scope, source.named_by])
    return numbers + trace.days + trace.hours + texts


def unpack(key: str, platform: str, due: float, read: float, version: int, data: bytes) -> WatchedSource:
    """The inverse of `pack`. Raises StoreError for a row in another format."""
    if not data or data[0] != _FORM:
        raise StoreError(f"the source {key} was written by another version of ghcrawl")
    numbers = _NUMBERS.unpack_from(data)
    days = _NUMBERS.size
    hours, texts = days + TRACE_DAYS, days + TRACE_DAYS + HOURS
    type, url, policy, scope, named_by = loads(data[texts:])
    return WatchedSource(
        key=key,
        platform=platform,
        type=type,
        url=url,
        policy=policy,
        scope=scope,
        named_by=named_by,
        estimate=Estimate(None if read < 0 else read, *numbers[1:5]),
        trace=Trace(numbers[14], data[days:hours], data[hours:texts], tuple(numbers[17:])),
        page=numbers[16],
        free=numbers[15],
        due=due,
        not_before=numbers[5],
        gap=numbers[6],
        weight=numbers[9],
        pin=numbers[10],
        asked=numbers[7],
        version=version,
        errors=numbers[13],
        calls=numbers[11],
        items=numbers[12],
        news=numbers[8],
    )


class MemorySources:
    """The reference implementation."""

    def __init__(self) -> None:
        self._rows: dict[str, WatchedSource] = {}
        self._due: dict[str, list[tuple[float, str]]] = {}
        self._read: dict[str, list[tuple[float, str]]] = {}
        self._keys: list[str] = []

    async def add(self, sources: Sequence[WatchedSource]) -> int:
        """As the port says."""
        before = len(self._rows)
        for each in sources:
            if each.key not in self._rows:
                insort(self._keys, each.key)
                self._place(each)
        return len(self._rows) - before

    async def write(self, sources: Sequence[WatchedSource]) -> frozenset[str]:
        """As the port says."""
        written = set()
        for each in sources:
            stored = self._rows.get(each.key)
            if stored is not None and stored.version == each.version:
                self._displace(stored)
                self._place(replace(each, version=each.version + 1))
                written.add(each.key)
        return frozenset(written)

    async def remove(self, keys: Collection[str]) -> int:
        """As the port says."""
        gone = [self._rows.pop(key) for key in set(keys) if key in self._rows]
        for each in gone:
            self._displace(each)
            del self._keys[bisect_left(self._keys, each.key)]
        return len(gone)

    async def get(self, key: str) -> WatchedSource | None:
        """As the port says."""
        return self._rows.get(key)

    async def due(self, platform: str, limit: int) -> Sequence[WatchedSource]:
        """As the port says."""
        return [self._rows[key] for _, key in self._due.get(platform, [])[:limit]]

    async def oldest(self, platform: str, limit: int, *, before: float) -> Sequence[WatchedSource]:
        """As the port says."""
        rows = self._read.get(platform, [])
        begin = bisect_left(rows, (0.0, ""))
        return [self._rows[key] for read, key in rows[begin : begin + limit] if read < before]

    async def list(self, platform: str = "", *, limit: int, after: str = "") -> Sequence[WatchedSource]:
        """As the port says."""
        begin = bisect_left(self._keys, after + "\0") if after else 0
        rows = (self._rows[key] for key in self._keys[begin:])
        return [each for each in rows if platform in {"", each.platform}][:limit]

    async def count(self, platform: str) -> int:
        """As the port says."""
        return len(self._due.get(platform, []))

    def _place(self, source: WatchedSource) -> None:
        self._rows[source.key] = source
        insort(self._due.setdefault(source.platform, []), (source.due, source.key))
        insort(self._read.setdefault(source.platform, []), (read_at(source), source.key))

    def _displace(self, source: WatchedSource) -> None:
        for rows, value in ((self._due, source.due), (self._read, read_at(source))):
            mine = rows[source.platform]
            del mine[bisect_left(mine, (value, source.key))]
