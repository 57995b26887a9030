"""What all replicas saw and did, in three rings of points in the store: an hour, a day and a month.

Every replica adds what it did to the points of the hour; what it sees (depths, deadletters) is the same for all. The
points of a day are made of those of the hour, and those of a month of these, by whichever replica comes first: all
would make the same. So every replica can answer with all of it, and a restart loses nothing but its last seconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.store import Store

Span = Literal["1h", "24h", "30d"]
DONE: Final = ("settled", "saved", "calls", "failed", "throttled")
MAX_KINDS: Final = 8
"""Deadletter classes that are counted separately: the most frequent ones."""
MAX_TRIES: Final = 5
RETRY_S: Final = 0.2
LATE_S: Final = 60.0
"""A step of the coarser ring is made when the last of its points can no longer change."""


class Ring(Struct, frozen=True, kw_only=True):
    """`size` points, one every `step_s` seconds, aligned to the clock; kept as one object in the store."""

    step_s: int
    size: int

    def start(self, at_s: float) -> int:
        """The start of the step that contains this moment, in seconds since 1970."""
        return int(at_s) // self.step_s * self.step_s


RINGS: Final[Mapping[Span, Ring]] = {
    "1h": Ring(step_s=60, size=60),
    "24h": Ring(step_s=600, size=144),
    "30d": Ring(step_s=14_400, size=180),
}
_FINER: Final[Mapping[Span, Span]] = {"24h": "1h", "30d": "24h"}


class Seen(Struct, frozen=True, kw_only=True):
    """What there is at a moment, the same for every replica.

    queues: requests by queue; kinds: deadletters by class; quota: the share that is left of the least; None: unknown.
    """

    queues: Mapping[str, int]
    documents: int
    deadletters: int
    kinds: Mapping[str, int]
    quota: float | None = None


class Point(Struct, frozen=True, kw_only=True):
    """One step. at_s: its start, in seconds since 1970; done: what all replicas did in it, by the names in `DONE`.

    seen: at the end of the step, but the most of each queue and the least quota within it.
    """

    at_s: int
    seen: Seen
    done: Mapping[str, float] = {}

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "at": self.at_s,
            "queues": dict(self.seen.queues),
            "documents": self.seen.documents,
            "deadletters": self.seen.deadletters,
            "kinds": dict(self.seen.kinds),
            "quota": self.seen.quota,
            "done": {name: round(number, 2) for name, number in self.done.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Point:
        """What `to_json` wrote."""
        seen = {name: value[name] for name in ("queues", "documents", "deadletters", "kinds", "quota")}
        return cls(at_s=value["at"], seen=Seen(**seen), done=value["done"])


def combined(points: Sequence[Point], at_s: int) -> Point:
    """Those points, oldest first, as one that starts at `at_s`."""
    last = points[-1].seen
    queues = {name: max(point.seen.queues.get(name, 0) for point in points) for name in last.queues}
    quotas = [point.seen.quota for point in points if point.seen.quota is not None]
    seen = Seen(
        queues=queues,
        documents=last.documents,
        deadletters=last.deadletters,
        kinds=last.kinds,
        quota=min(quotas, default=None),
    )
    done = {name: sum(point.done.get(name, 0) for point in points) for name in DONE}
    return Point(at_s=at_s, seen=seen, done=done)


class History:
    """The rings of all replicas that share `store`. done: what this process did since it started, by name."""

    def __init__(self, store: Store, clock: Clock, done: Callable[[], Mapping[str, float]]) -> None:
        self._store = store
        self._clock = clock
        self._done = done
        self._told = done()
        self._told_at_s = clock.now().timestamp()

    async def record(self, seen: Seen) -> None:
        """Add what this process did since the last time, and what it sees now. Raises StoreError."""
        now_s, done = self._clock.now().timestamp(), dict(self._done())
        most = sorted(seen.kinds, key=lambda kind: -seen.kinds[kind])[:MAX_KINDS]
        bounded = Seen(
            queues=seen.queues,
            documents=seen.documents,
            deadletters=seen.deadletters,
            kinds={kind: seen.kinds[kind] for kind in most},
            quota=seen.quota,
        )
        grown = {name: max(0.0, done.get(name, 0) - self._told.get(name, 0)) for name in DONE}
        since_s = min(self._told_at_s, now_s)
        if await self._change("1h", lambda points: _added(points, bounded, grown, since_s, now_s)):
            self._told, self._told_at_s = done, now_s
        for span, finer in _FINER.items():
            await self._roll(span, finer, now_s - LATE_S)

    async def read(self, span: Span) -> Sequence[Point]:
        """The points of `span`, oldest first; the last one is not over yet. Raises StoreError."""
        now_s = self._clock.now().timestamp()
        kept = await self._kept(span)
        if span in _FINER:
            kept = {**_steps(await self.read(_FINER[span]), RINGS[span]), **kept}
        return _within(kept, RINGS[span], now_s)

    async def _roll(self, span: Span, finer: Span, until_s: float) -> None:
        """The steps that were over by then are in the ring of `span`."""
        ring = RINGS[span]
        made = _steps((await self._kept(finer)).values(), ring)
        over = {at_s: point for at_s, point in made.items() if at_s + ring.step_s <= until_s}
        if over.keys() - (await self._kept(span)).keys():
            await self._change(span, lambda points: {**over, **points})

    async def _kept(self, span: Span) -> Mapping[int, Point]:
        return _points(await self._store.read_state(_name(span)))

    async def _change(self, span: Span, change: Callable[[Mapping[int, Point]], Mapping[int, Point]]) -> bool:
        """False: others were always quicker; it is for the next time."""
        for tries in range(MAX_TRIES):
            before = await self._store.read_state(_name(span))
            points = _within(change(_points(before)), RINGS[span], self._clock.now().timestamp())
            if await self._store.swap_state(_name(span), before, {"points": [each.to_json() for each in points]}):
                return True
            await self._clock.sleep(random.random() * RETRY_S * (tries + 1))  # noqa: S311  # keeps rivals apart
        return False


def _name(span: Span) -> str:
    return f"history_{span}"


def _points(value: Mapping[str, Any] | None) -> Mapping[int, Point]:
    found = [Point.from_json(each) for each in (value or {}).get("points", ())]
    return {point.at_s: point for point in found}


def _within(points: Mapping[int, Point], ring: Ring, now_s: float) -> Sequence[Point]:
    """Those of the last `size` steps, oldest first."""
    oldest = ring.start(now_s) - (ring.size - 1) * ring.step_s
    return [points[at_s] for at_s in sorted(points) if oldest <= at_s <= now_s]


def _steps(points: Iterable[Point], ring: Ring) -> dict[int, Point]:
    """Points of a finer ring as steps of `ring`."""
    found: dict[int, list[Point]] = {}
    for point in points:
        found.setdefault(ring.start(point.at_s), []).append(point)
    return {at_s: combined(sorted(each, key=lambda one: one.at_s), at_s) for at_s, each in found.items()}


def _added(
    points: Mapping[int, Point], seen: Seen, grown: Mapping[str, float], since_s: float, now_s: float
) -> Mapping[int, Point]:
    """`points`, with what one process did from `since_s` to `now_s`, evenly, and with what is seen now."""
    ring, after = RINGS["1h"], dict(points)
    whole = now_s - since_s
    for at_s in range(ring.start(since_s), ring.start(now_s) + 1, ring.step_s):
        part = (min(now_s, at_s + ring.step_s) - max(since_s, at_s)) / whole if whole else 1.0
        before = after.get(at_s)
        done = {name: (before.done.get(name, 0) if before else 0) + number * part for name, number in grown.items()}
        now = seen if before is None else combined([before, Point(at_s=at_s, seen=seen)], at_s).seen
        after[at_s] = Point(at_s=at_s, seen=now, done=done)
    return after
