"""What was prefetched and not popped yet, by lane: where deliveries and pops meet, without polling."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ghcrawl.values.model import Lane
from queues.amqp.message import Incoming


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    order: Collection[Lane]
    future: asyncio.Future[Incoming]


class Buffers:
    """Everything happens in one step, so a message is always in one place: here, in a pop's hand, or settled."""

    def __init__(self) -> None:
        self._held: defaultdict[Lane, deque[Incoming]] = defaultdict(deque)
        self._waiters: deque[_Waiter] = deque()

    def put(self, incoming: Incoming, *, first: bool = False) -> None:
        """It may be popped: by whoever waits for its lane longest, or by the next who asks. first: before others."""
        for waiter in self._waiters:
            if incoming.lane in waiter.order and not waiter.future.done():
                waiter.future.set_result(incoming)
                return
        held = self._held[incoming.lane]
        if first:
            held.appendleft(incoming)
        else:
            held.append(incoming)

    async def take(self, order: Sequence[Lane], patience_s: float) -> Incoming | None:
        """From the first of these lanes that has something, waiting so long for it. None: nothing came."""
        incoming = self._first(order)
        if incoming is not None or patience_s <= 0:
            return incoming
        waiter = _Waiter(order, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            await asyncio.wait([waiter.future], timeout=patience_s)
        except asyncio.CancelledError:
            self._waiters.remove(waiter)
            if waiter.future.done():
                self.put(waiter.future.result(), first=True)
            raise
        self._waiters.remove(waiter)
        return waiter.future.result() if waiter.future.done() else None

    def empty(self, lanes: Iterable[Lane]) -> list[Incoming]:
        """All that was held for these lanes, which is the caller's now."""
        return [incoming for lane in lanes for incoming in self._held.pop(lane, ())]

    def held(self) -> list[Incoming]:
        """What is held, and still there to be popped."""
        return [incoming for held in self._held.values() for incoming in held if not incoming.stale]

    def _first(self, order: Sequence[Lane]) -> Incoming | None:
        for lane in order:
            held = self._held.get(lane)
            while held:
                incoming = held.popleft()
                if not incoming.stale:
                    return incoming
        return None
