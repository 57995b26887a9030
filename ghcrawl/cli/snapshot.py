"""A crawl at one moment, as values: what a screen shows and a log line says."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct

from ghcrawl.cli.words import counted, duration, number, time_of_day
from ghcrawl.fetch.circuit_breaker import Outage
from ghcrawl.ports.queue import Depth
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.tuning import FREE_QUEUES

WINDOW_S: Final = 15.0
SETTLED_IN_S: Final = 2.0
"""Rates of less time than this say nothing."""


class Quota(Struct, frozen=True, kw_only=True):
    """The budget of one principal. remaining None: nothing was heard of it yet.

    calls: made with it by this crawl. reserved: how much is left to others.
    trouble: why nothing is asked with it now, until when.
    """

    label: str
    calls: int = 0
    remaining: int | None = None
    limit: int = 0
    reset_at: datetime | None = None
    reserved: int = 0
    trouble: str = ""
    until: datetime | None = None

    @property
    def usable(self) -> int:
        """Calls left until the quota resets."""
        return max(0, (self.remaining or 0) - self.reserved)


class Snapshot(Struct, frozen=True, kw_only=True):
    """Everything about a running crawl that is worth showing.

    left: an estimate, in words. quota_until: no request that needs a call starts before. restarts: of loops that died,
    which only a bug makes them do. paused: the command that lets it go on. stopping: what is waited for before the end.
    """

    now: datetime
    title: str
    elapsed_s: float
    depths: Mapping[QueueName, Depth]
    settled: int = 0
    saved: int = 0
    unchanged: int = 0
    settled_per_s: float = 0.0
    saved_per_s: float = 0.0
    calls: int = 0
    free: int = 0
    charged: int = 0
    quotas: Sequence[Quota] = ()
    retried: Mapping[str, int] = {}
    throttles: Mapping[str, int] = {}
    buried: Mapping[str, int] = {}
    left: str = ""
    quota_until: datetime | None = None
    outage: Outage | None = None
    paused: str = ""
    trouble: str = ""
    restarts: int = 0
    stopping: str = ""

    @property
    def waiting(self) -> int:
        """What is not done."""
        return sum(depth.total for depth in self.depths.values())

    @property
    def delayed(self) -> int:
        """Delayed requests."""
        return sum(depth.delayed for depth in self.depths.values())

    @property
    def in_hand(self) -> int:
        """What is being worked on."""
        return sum(depth.in_flight for depth in self.depths.values())

    @property
    def notes(self) -> Mapping[str, str]:
        """Why nothing, or little, goes on: a word for the reason → a sentence."""
        notes = {
            "outage": _outage(self),
            "quota": _out_of_quota(self),
            "paused": f"paused; resume with: {self.paused}" if self.paused else "",
            "trouble": f"{self.trouble}; retrying" if self.trouble else "",
            "stopping": self.stopping,
        }
        return {reason: sentence for reason, sentence in notes.items() if sentence}


def _outage(snapshot: Snapshot) -> str:
    outage = snapshot.outage
    if outage is None:
        return ""
    again = max(0.0, (outage.until - snapshot.now).total_seconds())
    when = f"in {duration(again)}" if again >= 1 else "now"
    return f"cannot reach {outage.base_url} ({outage.reason}); next attempt {when}. Ctrl-C stops and loses nothing."


def _out_of_quota(snapshot: Snapshot) -> str:
    until = snapshot.quota_until
    if until is None or snapshot.outage is not None:
        return ""
    what = counted(snapshot.waiting, "request waits", "requests wait")
    if free := sum(depth.total for name, depth in snapshot.depths.items() if name in FREE_QUEUES):
        what += f", {number(free)} of which need no API call"
    why = why_nobody_is_asked(snapshot.quotas)
    return f"{why} until {time_of_day(until, snapshot.now)}; {what}. Ctrl-C stops and loses nothing."


def why_nobody_is_asked(quotas: Sequence[Quota]) -> str:
    """What every credential waits for: what it was told, the next minute, or the next hour."""
    troubles = [quota.trouble for quota in quotas]
    if troubles and all(troubles):
        return ", ".join(sorted(set(troubles)))
    if any(quota.usable and not quota.trouble for quota in quotas):
        return "rate limit per minute reached; waiting"
    return "quota exhausted; waiting"


class _Mark(NamedTuple):
    at_s: float
    settled: int
    saved: int
    waiting: int


class Pace:
    """How fast a crawl goes, over the last seconds."""

    def __init__(self) -> None:
        self._marks: deque[_Mark] = deque()

    def mark(self, at_s: float, *, settled: int, saved: int, waiting: int) -> None:
        """So much was done at `at_s` of some steady clock."""
        self._marks.append(_Mark(at_s, settled, saved, waiting))
        while self._marks[-1].at_s - self._marks[0].at_s > WINDOW_S:
            self._marks.popleft()

    @property
    def settled_per_s(self) -> float:
        """Requests."""
        return self._per_s(self._marks[-1].settled - self._marks[0].settled)

    @property
    def saved_per_s(self) -> float:
        """Documents."""
        return self._per_s(self._marks[-1].saved - self._marks[0].saved)

    @property
    def drained_per_s(self) -> float:
        """By how much less waits; negative while more is found than done."""
        return self._per_s(self._marks[0].waiting - self._marks[-1].waiting)

    def _per_s(self, difference: int) -> float:
        seconds = self._marks[-1].at_s - self._marks[0].at_s
        return difference / seconds if seconds >= SETTLED_IN_S else 0.0


def estimate(pace: Pace, *, waiting: int, calls: int, quota: int | None) -> str:
    """The estimated time left, in words; empty: unknown.

    calls: an estimate for the waiting requests, from the calls so far. quota: left; None: unknown.
    """
    if quota is not None and calls > quota:
        return f"about {calls:,} calls; {quota:,} left in the quota"
    if not pace.settled_per_s:
        return ""
    at_least = waiting / pace.settled_per_s
    if pace.drained_per_s <= pace.settled_per_s * 0.05:
        return f"more than {duration(max(1.0, at_least))}; still discovering requests"
    return f"about {duration(max(1.0, waiting / pace.drained_per_s))}"


def depth_line(depths: Mapping[QueueName, Depth]) -> str:
    """What each queue holds, in its order."""
    return " · ".join(f"{name} {depths[name].ready + depths[name].delayed:,}" for name in QUEUES if name in depths)
