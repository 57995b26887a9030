"""How much to prefetch: for the number of loops, which changes live and which nothing tells but their pops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Final

from ghcrawl.values.lanes import Lane
from queues.amqp.names import DEAD

SPARE: Final = 2
"""Messages prefetched beyond those that are worked on: the next one is there when a loop asks."""
DEAD_PREFETCH: Final = 10
SLACK: Final = 0.75
"""Below this part of the assumed number of loops, consumers are restarted with less."""


class Loops:
    """number: the deliveries in flight and pops under way at one moment, or `number` as given at first.

    More of them count at once, fewer after `calm_s`: loops that are slowed, or paused, are still there.
    """

    def __init__(self, number: int, calm_s: float) -> None:
        self.number = number
        self._calm_s = calm_s
        self._popping = 0
        self._peak = 0
        self._since: float | None = None

    def prefetch(self, lane: Lane) -> int:
        """The unsettled messages that the consumer of `lane` may hold, popped or not.

        `later` may never occupy more than half of the loops: a flood there must not block the others.
        """
        if lane == DEAD:
            return DEAD_PREFETCH
        return SPARE + (ceil(self.number / 2) if lane.queue == "later" else self.number)

    @contextmanager
    def popping(self, in_flight: int) -> Iterator[None]:
        """One more pop is under way until the block is left."""
        self._popping += 1
        self._peak = max(self._peak, self._popping + in_flight)
        try:
            yield
        finally:
            self._popping -= 1

    def reckon(self, now: float) -> None:
        """Set `number` from what was seen. now: in seconds of any clock."""
        if self._since is None:
            self._since = now
        self.number = max(self.number, self._peak)
        if now - self._since >= self._calm_s:
            if 0 < self._peak < self.number * SLACK:
                self.number = self._peak
            self._peak, self._since = 0, now
