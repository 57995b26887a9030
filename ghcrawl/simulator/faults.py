"""What goes wrong on request: by chance and seed, by script, and on pages that are too heavy."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct

from ghcrawl.simulator.answers import Answer


class Broken(Struct, frozen=True):
    """A 500, 502, 503 (a page for people instead of JSON) or 504."""

    status: int = 502


class Limited(Struct, frozen=True):
    """A secondary limit, saying how long to stay away or (None) not saying it; the principal stays benched."""

    retry_after_s: int | None = 60
    status: int = 403


class Dropped(Struct, frozen=True):
    """The connection is lost: before anything was sent, or in the middle of the body."""

    mid_body: bool = False


class Truncated(Struct, frozen=True):
    """A whole answer as far as HTTP goes, but its JSON ends half-way."""


class Slow(Struct, frozen=True):
    """The true answer, after `seconds` of the server's clock."""

    seconds: float


class Scripted(Struct, frozen=True):
    """Any answer at all."""

    answer: Answer


Fault: TypeAlias = Broken | Limited | Dropped | Truncated | Slow | Scripted

BAD_WEATHER: tuple[Fault, ...] = (
    Broken(500),
    Broken(502),
    Broken(503),
    Broken(504),
    Dropped(),
    Dropped(mid_body=True),
    Truncated(),
)


class Faults:
    """Decides what goes wrong.

    chances: probability and fault, for every call. What a call draws depends on the seed, its URL and how often that
        was asked, never on the order in which calls of different URLs arrive.
    streak: no URL fails more often than that in a row, so that patience always leads somewhere.
    heavy: path pattern → the largest per_page that is answered in time; more is a 502.
    """

    def __init__(
        self,
        chances: Sequence[tuple[float, Fault]] = (),
        *,
        seed: int = 0,
        streak: int = 2,
        heavy: Mapping[str, int] | None = None,
    ) -> None:
        self.heavy = dict(heavy or {})
        self._chances = tuple(chances)
        self._seed = seed
        self._streak = streak
        self._asked: Counter[str] = Counter()
        self._in_a_row: Counter[str] = Counter()
        self._scripts: dict[str, deque[Fault | None]] = defaultdict(deque)

    @classmethod
    def weather(cls, rate: float, *, seed: int = 0) -> Faults:
        """Faults of every kind but limits, which befall that share of all calls."""
        share = rate / len(BAD_WEATHER)
        return cls([(share, fault) for fault in BAD_WEATHER], seed=seed)

    def script(self, pattern: str, *faults: Fault | None) -> None:
        """The next calls whose path matches `pattern` go wrong like this, one after another; None: that one is fine."""
        self._scripts[pattern].extend(faults)

    def draw(self, path: str, target: str, per_page: int) -> Fault | None:
        """What happens to this call. target: path and query."""
        for pattern, faults in self._scripts.items():
            if faults and fnmatchcase(path, pattern):
                return faults.popleft()
        if any(per_page > most and fnmatchcase(path, pattern) for pattern, most in self.heavy.items()):
            return Broken(502)
        return self._by_chance(target) if self._chances else None

    def _by_chance(self, target: str) -> Fault | None:
        self._asked[target] += 1
        if self._in_a_row[target] >= self._streak:
            self._in_a_row[target] = 0
            return None
        seed = f"{self._seed}\0{target}\0{self._asked[target]}".encode()
        drawn = int.from_bytes(blake2b(seed, digest_size=8).digest(), "big") / 2**64
        for chance, fault in self._chances:
            drawn -= chance
            if drawn < 0:
                self._in_a_row[target] += not isinstance(fault, Slow)
                return fault
        self._in_a_row[target] = 0
        return None
