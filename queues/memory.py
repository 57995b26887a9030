"""The five queues in this process's memory: the reference for what a queue does. Nothing survives the process.

Requests are kept as messages, like everywhere else, so what a processor does to a payload after pushing it is its own
affair, and what cannot travel is refused here too.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import chain, count, islice
from typing import Final

from ghcrawl.model import QUEUES, Push, QueueName, Request
from ghcrawl.ports import Clock, Depth, Pushed
from queues.codec import decode, encode
from queues.dedup import Copy, merge


@dataclass(frozen=True, slots=True)
class _Held:
    """A request that waits or is in flight."""

    key: bytes
    message: bytes
    copy: Copy


class MemoryDelivery:
    """A request popped from a MemoryQueue."""

    def __init__(self, owner: MemoryQueue, ticket: int, request: Request, queue: QueueName) -> None:
        self.request: Final = request
        self.queue: Final = queue
        self._owner = owner
        self._ticket = ticket

    async def ack(self) -> None:
        """It is forgotten."""
        self._owner.settle(self._ticket, done=True)

    async def release(self) -> None:
        """It waits again."""
        self._owner.settle(self._ticket, done=False)


class MemoryQueue:
    """Everything in dictionaries. Every method does its work in one step, so nothing can be cut in half."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tickets = count(1)
        self._ready: dict[QueueName, OrderedDict[bytes, _Held]] = {name: OrderedDict() for name in QUEUES}
        self._delayed: dict[QueueName, dict[bytes, _Held]] = {name: {} for name in QUEUES}
        self._alarms: list[tuple[datetime, bytes, QueueName]] = []
        self._places: dict[bytes, QueueName] = {}
        self._in_flight: dict[int, _Held] = {}
        self._waiters: set[asyncio.Future[None]] = set()

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says, except that nothing outlives the process."""
        now = self._clock.now()
        arrivals = [_held(push, now) for push in pushes]
        queued = sum([self._put(held) for held in arrivals])
        self._wake()
        return Pushed(queued=queued, bounced=len(pushes) - queued)

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> MemoryDelivery | None:
        """As the port says. Sleeps until a push, a release or a delayed request's moment; never looks in vain."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while (delivery := self._take(order)) is None:
            left = deadline - loop.time()
            if left <= 0:
                return None
            await self._change(min(left, self._next_moment_s()))
        return delivery

    async def depths(self) -> Mapping[QueueName, Depth]:
        """As the port says."""
        self._promote()
        in_flight = [held.copy.queue for held in self._in_flight.values()]
        oldest = {name: next(iter(self._ready[name].values()), None) for name in QUEUES}
        return {
            name: Depth(
                ready=len(self._ready[name]),
                delayed=len(self._delayed[name]),
                in_flight=in_flight.count(name),
                oldest_at=held.copy.asked_at if held is not None else None,
            )
            for name, held in oldest.items()
        }

    async def is_empty(self) -> bool:
        """As the port says."""
        return not self._places and not self._in_flight

    async def peek(self, queue: QueueName, *, limit: int) -> Sequence[Request]:
        """As the port says; what is ready comes first."""
        held = chain(self._ready[queue].values(), self._delayed[queue].values())
        return [decode(each.message) for each in islice(held, limit)]

    async def purge(self, queue: QueueName) -> int:
        """As the port says."""
        keys = [*self._ready[queue], *self._delayed[queue]]
        for key in keys:
            self._remove(key)
        return len(keys)

    def recover(self) -> None:
        """Everything in flight waits again, as if whoever popped it had died."""
        for ticket in list(self._in_flight):
            self.settle(ticket, done=False)

    def settle(self, ticket: int, *, done: bool) -> None:
        """What was popped with `ticket` is forgotten, or waits again. Nothing happens to what is settled already."""
        held = self._in_flight.pop(ticket, None)
        if held is not None and not done:
            self._put(held)
            self._wake()

    def _put(self, held: _Held) -> bool:
        """Whether `held` is a request more; otherwise its twin absorbed it, or sent it away."""
        if held.key not in self._places:
            self._place(held)
            return True
        twin = self._twin(held.key)
        merged = merge(twin.copy, held.copy)
        if merged is not None:
            kept = held if merged.replaced else twin
            self._remove(held.key)
            self._place(replace(kept, copy=Copy(merged.queue, kept.copy.asked_at, merged.not_before)))
        return False

    def _place(self, held: _Held) -> None:
        queue, moment = held.copy.queue, held.copy.not_before
        self._places[held.key] = queue
        if moment is None:
            self._ready[queue][held.key] = held
        else:
            self._delayed[queue][held.key] = held
            heappush(self._alarms, (moment, held.key, queue))

    def _twin(self, key: bytes) -> _Held:
        queue = self._places[key]
        return self._ready[queue].get(key) or self._delayed[queue][key]

    def _remove(self, key: bytes) -> None:
        queue = self._places.pop(key)
        self._ready[queue].pop(key, None)
        self._delayed[queue].pop(key, None)
        if len(self._alarms) > 2 * len(self._places) + 64:
            self._alarms = [alarm for alarm in self._alarms if self._rings(alarm)]
            heapify(self._alarms)

    def _rings(self, alarm: tuple[datetime, bytes, QueueName]) -> bool:
        """Whether somebody still waits for that moment in that queue."""
        moment, key, queue = alarm
        held = self._delayed[queue].get(key)
        return held is not None and held.copy.not_before == moment

    def _promote(self) -> None:
        now = self._clock.now()
        while self._alarms and self._alarms[0][0] <= now:
            alarm = heappop(self._alarms)
            if self._rings(alarm):
                _, key, queue = alarm
                held = self._delayed[queue].pop(key)
                self._ready[queue][key] = replace(held, copy=replace(held.copy, not_before=None))

    def _take(self, order: Sequence[QueueName]) -> MemoryDelivery | None:
        self._promote()
        for queue in order:
            if self._ready[queue]:
                key, held = self._ready[queue].popitem(last=False)
                del self._places[key]
                ticket = next(self._tickets)
                self._in_flight[ticket] = held
                return MemoryDelivery(self, ticket, decode(held.message), queue)
        return None

    def _next_moment_s(self) -> float:
        if not self._alarms:
            return float("inf")
        return max(0.0, (self._alarms[0][0] - self._clock.now()).total_seconds())

    async def _change(self, timeout_s: float) -> None:
        """Return when something may have become ready, or after `timeout_s`."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=timeout_s)
        finally:
            self._waiters.discard(waiter)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


def _held(push: Push, now: datetime) -> _Held:
    moment = push.not_before if push.not_before is not None and push.not_before > now else None
    return _Held(push.request.key, encode(push.request), Copy(push.queue, push.request.asked_at, moment))
