"""Messages that came back because whoever held them was gone, and may be the reason for that.

A message that was in somebody's hand when its process died is counted each time that it is begun again, and not begun
any more after `max_starts`. One that was only prefetched there still has its tag and is no suspect, however often it
came back; one without a tag may have been begun. From its second return on a suspect is begun alone: whatever dies
beside it is only counted when it dies by itself, so the neighbours of a killer are never taken for one.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter
from queues.amqp.message import Incoming

Verdict = Literal["begin", "wait", "killer"]


class PoisonMessages:
    """One in hand at a time. Costs nothing for messages that never came back."""

    def __init__(self, starts: CrashCounter, clock: Clock, max_starts: int) -> None:
        self._starts = starts
        self._clock = clock
        self._max_starts = max_starts
        self._alone: str | None = None
        self._counted: set[str] = set()
        self._parked: deque[Incoming] = deque()

    @property
    def max_starts(self) -> int:
        """How often a message is begun at the most."""
        return self._max_starts

    async def judge(self, incoming: Incoming, name: str) -> Verdict:
        """Whether a message that came back may be begun. Raises StoreError.

        wait: another suspect is in hand; this one is parked here until that is settled.
        """
        begun = await self._starts.count(name)
        if begun + 1 >= self._max_starts:
            return "killer"
        if begun and self._alone is not None:
            self._parked.append(incoming)
            return "wait"
        if begun:
            self._alone = name
        return "begin"

    async def begin(self, name: str) -> None:
        """It is being begun, which is remembered before anything is done. Raises StoreError."""
        self._counted.add(name)
        await self._starts.add(name, self._clock.now())

    async def forget(self, name: str) -> None:
        """It did not kill anybody. Raises StoreError."""
        if name in self._counted:
            self._counted.discard(name)
            await self._starts.forget(name)

    async def hand_on(self, name: str, successor: str) -> int:
        """`successor` was begun as often as this one, which is gone. Returns how often. Raises StoreError."""
        begun = await self._starts.count(name)
        for _ in range(begun):
            await self._starts.add(successor, self._clock.now())
        return begun

    def let_go(self, name: str) -> list[Incoming]:
        """It is not in hand any more. Returns those that waited for that."""
        if self._alone != name:
            return []
        self._alone = None
        return self.empty()

    def empty(self) -> list[Incoming]:
        """Those that wait, which are the caller's now."""
        parked, self._parked = list(self._parked), deque()
        return parked

    def held(self) -> list[Incoming]:
        """Those that wait."""
        return [incoming for incoming in self._parked if not incoming.stale]
