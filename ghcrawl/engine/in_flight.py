"""What the workers of one process are fetching, and the deliveries that wait for one of these fetches to end.

A second request for a URL that is being fetched is parked: its answer is known a moment later. It holds no worker.
"""

from __future__ import annotations

from collections import deque

from ghcrawl.engine.recent import Target
from ghcrawl.ports.queue import Delivery


class InFlight:
    """Targets of requests in flight, and parked deliveries."""

    def __init__(self) -> None:
        self._targets: set[Target] = set()
        self._parked: deque[tuple[Target, Delivery]] = deque()

    def take(self, target: Target | None) -> bool:
        """Whether the caller may process `target`, and has to `free` it. None: any number of workers may."""
        if target in self._targets:
            return False
        if target is not None:
            self._targets.add(target)
        return True

    def free(self, target: Target | None) -> None:
        """Another worker may process `target`."""
        if target is not None:
            self._targets.discard(target)

    def park(self, target: Target | None, delivery: Delivery, *, limit: int) -> bool:
        """Keep `delivery` until its target is free; False where it is free, or where `limit` deliveries are parked."""
        if target is None or target not in self._targets or len(self._parked) >= limit:
            return False
        self._parked.append((target, delivery))
        return True

    def unpark(self) -> Delivery | None:
        """The delivery that was parked first of those whose target is free; it is no longer parked."""
        for each in self._parked:
            if each[0] not in self._targets:
                self._parked.remove(each)
                return each[1]
        return None

    async def release_parked(self) -> None:
        """Return every parked delivery to its queue."""
        while self._parked:
            _, delivery = self._parked.popleft()
            await delivery.release()
