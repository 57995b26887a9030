"""Limits that the server does not report, kept from our side. Pure: time comes in as epoch seconds."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

from ghcrawl.fetch.github.budget import Wait


class Allowance:
    """At most `calls` that begin or end within any `period_s`: no window of the server's can hold more of them.

    Counted from the end of a call, because it may have reached the server at any moment until then.
    """

    def __init__(self, calls: int, period_s: float) -> None:
        self._calls = calls
        self._period_s = period_s
        self._open = 0
        self._ended: deque[float] = deque()

    def wait(self, now: float) -> float | None:
        """When there is room: None: now; infinity: when a call in flight has ended and its time is over."""
        ended = self._ended
        while ended and ended[0] + self._period_s <= now:
            ended.popleft()
        excess = self._open + len(ended) - self._calls
        if excess < 0:
            return None
        return ended[excess] + self._period_s if excess < len(ended) else math.inf

    def take(self) -> None:
        """A call begins."""
        self._open += 1

    def finish(self, now: float) -> None:
        """A call has ended."""
        self._open -= 1
        self._ended.append(now)

    def cancel(self) -> None:
        """A call was not made after all."""
        self._open -= 1


class Load:
    """Summed response time within the last minute, which is how GitHub bids us to estimate its CPU time."""

    WINDOW_S: Final = 60.0

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._total_s = 0.0
        self._mean_s = 0.0
        self._spent: deque[tuple[float, float]] = deque()

    def wait(self, now: float, in_flight: int) -> Wait | None:
        """Why a call must wait: with those in flight, the minute would be spent."""
        spent = self._spent
        while spent and spent[0][0] + self.WINDOW_S <= now:
            self._total_s -= spent.popleft()[1]
        if not spent:
            self._total_s = 0.0
        over = self._total_s + in_flight * self._mean_s - self._limit_s
        if over < 0:
            return None
        for ended, seconds in spent:
            over -= seconds
            if over < 0:
                return Wait(ended + self.WINDOW_S, "busy")
        return Wait(now + self._mean_s, "busy", settles=True) if in_flight else None

    def finish(self, now: float, seconds: float) -> None:
        """A call took `seconds`."""
        self._spent.append((now, seconds))
        self._total_s += seconds
        self._mean_s += (seconds - self._mean_s) * 0.2
