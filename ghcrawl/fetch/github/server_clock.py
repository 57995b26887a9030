"""The server's clock, estimated from `Date` headers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from ghcrawl.fetch.headers import http_date

DRIFT: Final = 1e-4
"""Seconds a second: clocks that are worse than this keep no appointments."""
NOTABLE_S: Final = 2.0
"""`Date` has a resolution of one second; a smaller difference may be none."""
ROUNDING_S: Final = 1.0
"""`x-ratelimit-reset` has been cut to whole seconds."""


class ServerClock:
    """Bounds how far the server's clock is ahead of ours. All moments are epoch seconds, ours unless said otherwise.

    A `Date` of D was written after the request left (`started`) and before its answer came (`ended`), when the
    server's clock stood between D and D + 1. So `D - ended <= offset < D + 1 - started`; every answer narrows it.
    """

    def __init__(self) -> None:
        self._low: float | None = None
        self._high = 0.0
        self._learned_at = 0.0
        self._text = ""
        self._date: float | None = None

    def learn(self, text: str, started: float, ended: float) -> None:
        """An answer with the `Date` header `text`."""
        if text != self._text:
            self._text, self._date = text, http_date(text)
        if self._date is None:
            return
        low, high = self._date - ended, self._date + 1 - started
        if self._low is not None:
            drift = DRIFT * max(0.0, ended - self._learned_at)
            narrowed = max(low, self._low - drift), min(high, self._high + drift)
            if narrowed[0] <= narrowed[1]:  # else one of the clocks was set: only the latest answer counts
                low, high = narrowed
        self._low, self._high, self._learned_at = low, high, ended

    @property
    def offset_s(self) -> float:
        """By how much the server's clock is ahead, where that is worth a correction."""
        if self._low is None:
            return 0.0
        middle = (self._low + self._high) / 2
        return middle if abs(middle) > NOTABLE_S else 0.0

    def passed(self, server_moment: float) -> float:
        """From when on the server is certainly past `server_moment`, which it cut to whole seconds."""
        return server_moment + ROUNDING_S - (self._low or 0.0)

    def as_server_time(self, moment: datetime, moment_s: float) -> datetime:
        """Our `moment` (also given as `moment_s`) by the server's clock."""
        offset = self.offset_s
        return datetime.fromtimestamp(moment_s + offset, UTC) if offset else moment
