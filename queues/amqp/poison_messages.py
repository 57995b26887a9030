"""Messages that came back because the process that held them died, and may be the reason for that.

One that has lost its marker may have been popped: its crashes are counted, and after `max_starts` it is dead-lettered.
One that was only prefetched still has its marker, however often it came back. From its second return on a suspect is
worked on alone, so the neighbours of a killer are never taken for one. Copies of one message that are worked on here at
the same moment, as after a lost connection, are one start: the process dies once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter
from ghcrawl.values.cancellation import run_to_end
from ghcrawl.values.errors import CrawlError
from queues.amqp.message import Incoming


class PoisonMessages:
    """One suspect at a time; `free` lets a parked one be popped. Costs nothing for others. Raises StoreError."""

    def __init__(self, crashes: CrashCounter, clock: Clock, max_starts: int, free: Callable[[Incoming], None]) -> None:
        self.max_starts: Final = max_starts
        self._crashes = crashes
        self._clock = clock
        self._free = free
        self._running: Counter[str] = Counter()
        self._alone: str | None = None
        self._parked: list[Incoming] = []

    async def judge(self, incoming: Incoming, name: str) -> Literal["start", "wait", "killer"]:
        """Whether a message that came back may be worked on. "start": yes, and this start counts until it is `settled`.

        wait: another suspect is being worked on; this one is parked here until that one is settled.
        """
        counted = await self._crashes.count(name)
        here = name in self._running
        begun = max(0, counted - here)
        if begun + 1 >= self.max_starts:
            return "killer"
        if begun and self._alone is not None:
            self._parked.append(incoming)
            return "wait"
        if begun:
            self._alone = name
        self._running[name] += 1
        try:
            if not here:
                await self._crashes.add(name, self._clock.now())
        except BaseException:
            await run_to_end(self.settled(name))
            raise
        return "start"

    async def settled(self, name: str) -> None:
        """It killed no process: forget its crashes, then free the parked ones, of which one may kill this process."""
        try:
            with suppress(CrawlError):  # else it is remembered until it is swept
                if self._running[name] <= 1:  # another copy may still kill the process
                    await self._crashes.forget(name)
        finally:
            self._running -= Counter([name])
            if self._alone == name:
                self._alone, parked, self._parked = None, self._parked, []
                for incoming in parked:
                    self._free(incoming)

    async def hand_on(self, name: str, successor: str) -> int:
        """Count the crashes of a message that is gone for its successor. Returns how many."""
        begun = await self._crashes.count(name)
        for _ in range(begun):
            await self._crashes.add(successor, self._clock.now())
        return begun

    def held(self) -> list[Incoming]:
        """The parked messages."""
        return [incoming for incoming in self._parked if not incoming.stale]
