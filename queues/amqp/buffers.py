"""Prefetched messages that were not popped yet, by lane: pops wait here, without polling."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from ghcrawl.values.lanes import Lane
from queues.amqp.message import Incoming


class Buffers:
    """Nothing here is interrupted, so a message is always in one place: here, with one pop, or settled."""

    def __init__(self) -> None:
        self._held: defaultdict[Lane, deque[Incoming]] = defaultdict(deque)
        self._waiters: dict[asyncio.Future[Incoming], Sequence[Lane]] = {}

    def put(self, incoming: Incoming, *, first: bool = False) -> None:
        """Give it to the pop that has waited longest for its lane, or to the next one. first: before others."""
        for future, order in self._waiters.items():
            if incoming.lane in order and not future.done():
                future.set_result(incoming)
                return
        held = self._held[incoming.lane]
        if first:
            held.appendleft(incoming)
        else:
            held.append(incoming)

    async def take(self, order: Sequence[Lane], patience_s: float) -> Incoming | None:
        """A message of the first of these lanes that has one, or None after `patience_s`."""
        incoming = self._first(order)
        if incoming is not None or patience_s <= 0:
            return incoming
        future: asyncio.Future[Incoming] = asyncio.get_running_loop().create_future()
        self._waiters[future] = order
        try:
            await asyncio.wait([future], timeout=patience_s)
        except asyncio.CancelledError:
            if future.done():
                self.put(future.result(), first=True)
            raise
        finally:
            del self._waiters[future]
        return future.result() if future.done() else None

    def empty(self, lanes: Iterable[Lane]) -> list[Incoming]:
        """Take all that is held of these lanes."""
        return [incoming for lane in lanes for incoming in self._held.pop(lane, ())]

    def held(self) -> list[Incoming]:
        """The messages that can be popped."""
        return [incoming for held in self._held.values() for incoming in held if not incoming.stale]

    def _first(self, order: Sequence[Lane]) -> Incoming | None:
        for lane in order:
            held = self._held.get(lane)
            while held:
                incoming = held.popleft()
                if not incoming.stale:
                    return incoming
        return None
