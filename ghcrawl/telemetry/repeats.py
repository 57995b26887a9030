"""Warnings that repeat: the first of a kind are logged, the rest are counted."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

PER_WINDOW: Final = 20
"""Warnings of one event that are logged in each window."""
WINDOW_S: Final = 10.0
MAX_EVENTS: Final = 500
"""Texts of libraries may all differ: above this many events, all windows start again."""
EVERY_ONE: Final = frozenset({"request_settled", "admin_acted"})
"""Events whose every line is promised to readers of the log."""
_REPEATING: Final = frozenset({"warning", "error"})


@dataclass(slots=True)
class _Window:
    began_s: float
    logged: int = 0


class Repeats:
    """Decides which warnings and errors are logged. monotonic: a clock in seconds."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._windows: dict[str, _Window] = {}
        self._suppressed = Counter[str]()
        self._told_s = monotonic()

    def admits(self, event: str) -> bool:
        """Whether this line is logged; otherwise it is counted."""
        now_s = self._monotonic()
        window = self._windows.get(event)
        if window is None or now_s - window.began_s >= WINDOW_S:
            if len(self._windows) >= MAX_EVENTS:
                self._windows.clear()
                self._suppressed.clear()
            window = self._windows[event] = _Window(now_s)
        if window.logged >= PER_WINDOW:
            self._suppressed[event] += 1
            return False
        window.logged += 1
        return True

    def suppressed(self) -> Mapping[str, int]:
        """Event → how many of its lines were left out since this was told last; at most once in a window."""
        now_s = self._monotonic()
        if now_s - self._told_s < WINDOW_S:
            return {}
        found, self._suppressed, self._told_s = self._suppressed, Counter(), now_s
        return found

    def processor(self, _: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """For structlog."""
        if method in _REPEATING and event.get("event") not in EVERY_ONE and not self.admits(str(event.get("event"))):
            raise structlog.DropEvent
        return event

    def filter(self, record: logging.LogRecord) -> bool:
        """For handlers of the standard library."""
        return record.levelno < logging.WARNING or self.admits(record.getMessage()[:200])


REPEATS: Final = Repeats()
"""Of this process: logging is the process's too."""
