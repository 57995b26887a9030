"""Limits that the server does not report, kept from our side. Pure: time comes in as epoch seconds."""

from __future__ import annotations

from collections import deque
from typing import Final

from ghcrawl.fetch.github.budget import Wait


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
