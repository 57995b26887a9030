"""How many loops pop here, told by what they do: the number changes live, and nobody tells the queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SLACK: Final = 0.75
"""Fewer loops than this part of what is reckoned with are worth beginning anew for."""


class Prefetch:
    """Deliveries in hand and pops under way at one moment are the loops that there are, or nearly.

    More of them count at once, fewer after `calm_s`: loops that are slowed, or paused, are still there.
    """

    def __init__(self, loops: int, calm_s: float) -> None:
        self.loops: int = loops
        self._calm_s = calm_s
        self._popping = 0
        self._peak = 0
        self._since: float | None = None

    @contextmanager
    def popping(self, in_hand: int) -> Iterator[None]:
        """One more pop is under way until the block is left. in_hand: deliveries that are out."""
        self._popping += 1
        self._peak = max(self._peak, self._popping + in_hand)
        try:
            yield
        finally:
            self._popping -= 1

    def reckon(self, now: float) -> int:
        """How many loops to reckon with from `now` on, in seconds of any clock."""
        if self._since is None:
            self._since = now
        self.loops = max(self.loops, self._peak)
        if now - self._since >= self._calm_s:
            if 0 < self._peak < self.loops * SLACK:
                self.loops = self._peak
            self._peak, self._since = 0, now
        return self.loops
