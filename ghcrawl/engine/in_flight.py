"""What the workers of one process are fetching, and the deliveries that wait for one of these fetches to end.

A second request for a URL that is being fetched is parked: its answer is known a moment later. It holds no worker.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.engine.recent import Target, target_of
from ghcrawl.platforms.kind import Batch, Kind
from ghcrawl.ports.queue import Delivery
from ghcrawl.values.outcome import Defer
from ghcrawl.values.requests import Request

PUT_BACK: Final = timedelta(seconds=1)
"""How long a request that is not parked waits in its queue for another one of its target."""


def exclusive_target(request: Request, kind: Kind | None) -> Target | None:
    """The key that one worker at a time may process; None: any number may.

    For batches it is their type: the next batch then asks for nothing that this one brings.
    """
    if isinstance(kind, Batch):
        return request.platform, request.type, ""
    return target_of(request) if request.payload is None else None


def put_back(now: datetime) -> Defer:
    """Another worker is processing this target, and enough are parked: its answer will serve this request too."""
    return Defer(until=now + PUT_BACK, reason="in_flight")


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

    def park(self, target: Target | None, delivery: Delivery, *, workers: int) -> bool:
        """Keep `delivery` until its target is free; False where it is free, or where half as many as `workers` wait."""
        if target is None or target not in self._targets or len(self._parked) >= workers // 2:
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
