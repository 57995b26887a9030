"""Budgets as the server reports them: one per principal and resource. Pure: time comes in as epoch seconds."""

from __future__ import annotations

from collections import deque
from typing import Final, Literal

from msgspec import Struct

CORE: Final = "core"
GRAPHQL: Final = "graphql"
WaitReason = Literal["primary", "secondary", "budget", "busy", "no_principal"]
SAME_WINDOW_S: Final = 1
"""GitHub's answers differ by a second about when one and the same window ends."""
MAX_WINDOW_S: Final = 86_400.0
"""No window is longer: a report that says so is a mistake, and believing it would stop the crawl for good."""
MAX_WINDOWS_AHEAD: Final = 3
MAX_CALL_S: Final = 600.0
"""No call is longer in flight."""


class Wait(Struct, frozen=True):
    """Not now. settles: a call in flight decides when; `until` is then a guess."""

    until: float
    reason: WaitReason
    settles: bool = False


class Quota(Struct, frozen=True, kw_only=True):
    """What an answer's `x-ratelimit-*` headers say. resets: the server's epoch seconds."""

    resource: str
    limit: int
    remaining: int
    resets: int


class Budget:
    """Calls left in the present window of one resource.

    Until an answer has told what is left, and again after each window, one call at a time: the first answer of a
    window says how far one may go. `remaining` never rises within a window: answers overtake each other.
    """

    def __init__(self, reserve: float) -> None:
        self.limit = 0
        self.floor = 0
        self.remaining = 0
        self.until = 0.0
        self.in_flight = 0
        self.known = False
        self._reserve = reserve
        self._resets = 0
        self._span = 0.0
        self._metered = True
        self._told = False
        self._put_off = 0
        self._unreported: deque[float] = deque()

    def wait(self, now: float) -> Wait | None:
        """Why a call must wait; None: it need not."""
        if self.known and now >= self.until:
            self.lapse()
        if not self.known:
            return Wait(now, "busy", settles=True) if self._metered and self.in_flight else None
        spare = self.remaining - self.floor
        if spare > self.in_flight:
            return None
        if spare > 0:  # some of what is in flight may cost nothing
            return Wait(now, "busy", settles=True)
        return Wait(self.until, "primary" if self._told else "budget")

    def keep(self, reserve: float) -> None:
        """Leave so much of each window untouched, from now on."""
        self._reserve = reserve
        self.floor = self._floor(self.limit)

    def _floor(self, limit: int) -> int:
        return int(limit * self._reserve + 1e-9)

    def lapse(self) -> None:
        """The window is over, or nothing known about it holds any more."""
        self.known = False
        self._told = False
        self._put_off = 0

    def observe(self, quota: Quota, *, until: float, started: float, now: float) -> None:
        """A call that began at `started` reported `quota`; its window is certainly over at `until`.

        Calls of which nothing was heard, and that ended after this one began, may have come in behind it.
        """
        self._metered = True
        remaining = max(0, quota.remaining - sum(ended > started for ended in self._unreported))
        late = self.known and quota.resets < self._resets - SAME_WINDOW_S
        if late or not now < until <= now + MAX_WINDOW_S:
            return
        same = self.known and quota.resets <= self._resets + SAME_WINDOW_S
        self.remaining = min(self.remaining, remaining) if same else remaining
        if not same:
            self._told = False
            self._put_off = 0
        self.known = True
        self.limit = quota.limit
        self.floor = self._floor(quota.limit)  # what is left untouched
        self.until = max(self.until, until) if same else until
        self._resets = max(self._resets, quota.resets) if same else quota.resets
        self._span = max(self._span, until - now)

    def unreported(self, now: float, *, unmetered: bool) -> None:
        """An answer without a report, or none: reckoned as charged, unless this server meters nothing."""
        if self.known:
            self.remaining = max(0, self.remaining - 1)
        elif unmetered:
            self._metered = False
        if not self._metered:
            return
        while self._unreported and self._unreported[0] < now - MAX_CALL_S:
            self._unreported.popleft()
        self._unreported.append(now)

    def exhaust(self, until: float) -> None:
        """The server said that nothing is left, until `until` at least."""
        self.until = max(self.until, until) if self.known else until
        self.known, self._told, self.remaining = True, True, 0

    def put_off(self) -> float:
        """When one more request that finds nothing left should come back.

        Not all at the reset: a window serves only so much, and a call that comes too early is only deferred again.
        """
        windows = min(self._put_off // max(1, self.limit - self.floor), MAX_WINDOWS_AHEAD)
        self._put_off += 1
        return self.until + windows * self._span
