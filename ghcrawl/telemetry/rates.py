"""Requests settled in the last minute, by queue."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from ghcrawl.ports.observer import Call, Settled
from ghcrawl.values.lanes import QueueName

WINDOW_S: Final = 60


class Rates:
    """An observer that remembers one minute, second by second. now_s: of a clock that never goes back."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._seconds: deque[tuple[int, Counter[QueueName]]] = deque()

    def settled(self, settled: Settled) -> None:
        """Count it, unless it only was put off."""
        if settled.outcome == "defer":
            return
        second = int(self._now_s())
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append((second, Counter()))
            self._forget(second)
        self._seconds[-1][1][settled.queue] += 1

    def called(self, call: Call) -> None:
        """Calls are counted elsewhere."""

    def last_minute(self, queue: QueueName) -> int:
        """Requests settled from `queue`."""
        self._forget(int(self._now_s()))
        return sum(counts[queue] for _, counts in self._seconds)

    def _forget(self, second: int) -> None:
        while self._seconds and self._seconds[0][0] <= second - WINDOW_S:
            self._seconds.popleft()
