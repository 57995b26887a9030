"""What was prefetched and not popped yet, by queue: where deliveries and pops meet, without polling."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ghcrawl.model import QUEUES, QueueName
from queues.amqp_message import Incoming


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    order: Collection[QueueName]
    future: asyncio.Future[Incoming]


class Buffers:
    """Everything happens in one step, so a message is always in one place: here, in a pop's hand, or settled."""

    def __init__(self) -> None:
        self._held: dict[QueueName, deque[Incoming]] = {name: deque() for name in QUEUES}
        self._waiters: deque[_Waiter] = deque()

    def put(self, incoming: Incoming, *, first: bool = False) -> None:
        """It may be popped: by whoever waits for its queue longest, or by the next who asks. first: before others."""
        for waiter in self._waiters:
            if incoming.queue in waiter.order and not waiter.future.done():
                waiter.future.set_result(incoming)
                return
        held = self._held[incoming.queue]
        if first:
            held.appendleft(incoming)
        else:
            held.append(incoming)

    async def take(self, order: Sequence[QueueName], patience_s: float) -> Incoming | None:
        """From the first of these queues that has something, waiting so long for it. None: nothing came."""
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

    def empty(self, queues: Iterable[QueueName] = QUEUES) -> list[Incoming]:
        """All that was held for these queues, which is the caller's now."""
        taken: list[Incoming] = []
        for name in queues:
            taken += self._held[name]
            self._held[name].clear()
        return taken

    def held(self, queue: QueueName) -> list[Incoming]:
        """What is held for `queue`, and still there to be popped."""
        return [incoming for incoming in self._held[queue] if not incoming.stale]

    def _first(self, order: Sequence[QueueName]) -> Incoming | None:
        for name in order:
            held = self._held[name]
            while held:
                incoming = held.popleft()
                if not incoming.stale:
                    return incoming
        return None
