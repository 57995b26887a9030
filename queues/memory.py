"""The five queues in this process's memory: the reference for what a queue does. Nothing survives the process.

Requests are kept as messages, like everywhere else, so what a processor does to a payload after pushing it is its own
affair, and what cannot travel is refused here too.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from heapq import heapify, heappop, heappush
from itertools import chain, count, islice
from typing import Final

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Depth, Pushed
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from queues.codec import decode, encode
from queues.merging import Copy, merge


class _Waiting(Struct, frozen=True):
    """A request that waits or is in flight."""

    key: bytes
    message: bytes
    platform: str
    copy: Copy

    @property
    def lane(self) -> Lane:
        """Where it waits, or was popped from."""
        return Lane(self.platform, self.copy.queue)


class MemoryDelivery:
    """A request popped from a MemoryQueue."""

    suspect = False

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
        self._ready: defaultdict[Lane, OrderedDict[bytes, _Waiting]] = defaultdict(OrderedDict)
        self._delayed: defaultdict[Lane, dict[bytes, _Waiting]] = defaultdict(dict)
        self._alarms: list[tuple[datetime, bytes, Lane]] = []
        self._places: dict[bytes, Lane] = {}
        self._in_flight: dict[int, _Waiting] = {}
        self._waiters: set[asyncio.Future[None]] = set()

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says, except that nothing outlives the process."""
        now = self._clock.now()
        arrivals = [_held(push, now) for push in pushes]
        queued = sum([self._put(held) for held in arrivals])
        self._wake()
        return Pushed(queued=queued, bounced=len(pushes) - queued)

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> MemoryDelivery | None:
        """As the port says. Sleeps until a push, a release or a delayed request's moment; never looks in vain."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while (delivery := self._take(order)) is None:
            left = deadline - loop.time()
            if left <= 0:
                return None
            await self._change(min(left, self._next_moment_s()))
        return delivery

    async def depths(self) -> Mapping[Lane, Depth]:
        """As the port says."""
        self._promote()
        in_flight = Counter(held.lane for held in self._in_flight.values())
        return {lane: self._depth(lane, in_flight[lane]) for lane in self._lanes() | in_flight.keys()}

    def _depth(self, lane: Lane, in_flight: int) -> Depth:
        ready, delayed = self._ready[lane], self._delayed[lane]
        first = next(iter(ready.values()), None)
        oldest_at = first.copy.asked_at if first is not None else None
        return Depth(ready=len(ready), delayed=len(delayed), in_flight=in_flight, oldest_at=oldest_at)

    def _lanes(self) -> set[Lane]:
        """Those in which something ever waited."""
        return self._ready.keys() | self._delayed.keys()

    async def is_empty(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says."""
        lanes = chain(self._places.values(), (held.lane for held in self._in_flight.values()))
        return not any(platforms is None or lane.platform in platforms for lane in lanes)

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """As the port says; what is ready comes first."""
        lanes = self._lanes_of(queue, platform)
        held = chain(*(self._ready[lane].values() for lane in lanes), *(self._delayed[lane].values() for lane in lanes))
        return [decode(each.message) for each in islice(held, limit)]

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """As the port says."""
        keys = [key for lane in self._lanes_of(queue, platform) for key in (*self._ready[lane], *self._delayed[lane])]
        for key in keys:
            self._remove(key)
        return len(keys)

    def _lanes_of(self, queue: QueueName, platform: str | None) -> list[Lane]:
        return [lane for lane in self._lanes() if lane.queue == queue and platform in (None, lane.platform)]

    def recover(self) -> None:
        """All deliveries in flight are ready again, as if their consumer had died."""
        for ticket in list(self._in_flight):
            self.settle(ticket, done=False)

    def settle(self, ticket: int, *, done: bool) -> None:
        """Forget the request popped with `ticket`, or let it wait again. Nothing happens if it was settled before."""
        held = self._in_flight.pop(ticket, None)
        if held is not None and not done:
            self._put(held)
            self._wake()

    def _put(self, held: _Waiting) -> bool:
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

    def _place(self, held: _Waiting) -> None:
        lane, moment = held.lane, held.copy.not_before
        self._places[held.key] = lane
        if moment is None:
            self._ready[lane][held.key] = held
        else:
            self._delayed[lane][held.key] = held
            heappush(self._alarms, (moment, held.key, lane))

    def _twin(self, key: bytes) -> _Waiting:
        lane = self._places[key]
        return self._ready[lane].get(key) or self._delayed[lane][key]

    def _remove(self, key: bytes) -> None:
        lane = self._places.pop(key)
        self._ready[lane].pop(key, None)
        self._delayed[lane].pop(key, None)
        if len(self._alarms) > 2 * len(self._places) + 64:
            self._alarms = [alarm for alarm in self._alarms if self._rings(alarm)]
            heapify(self._alarms)

    def _rings(self, alarm: tuple[datetime, bytes, Lane]) -> bool:
        """Whether a request still waits for that moment in that lane."""
        moment, key, lane = alarm
        held = self._delayed[lane].get(key)
        return held is not None and held.copy.not_before == moment

    def _promote(self) -> None:
        now = self._clock.now()
        while self._alarms and self._alarms[0][0] <= now:
            alarm = heappop(self._alarms)
            if self._rings(alarm):
                _, key, lane = alarm
                held = self._delayed[lane].pop(key)
                self._ready[lane][key] = replace(held, copy=replace(held.copy, not_before=None))

    def _take(self, order: Sequence[Lane]) -> MemoryDelivery | None:
        self._promote()
        for lane in order:
            if waiting := self._ready.get(lane):
                key, held = waiting.popitem(last=False)
                del self._places[key]
                ticket = next(self._tickets)
                self._in_flight[ticket] = held
                return MemoryDelivery(self, ticket, decode(held.message), lane.queue)
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


def _held(push: Push, now: datetime) -> _Waiting:
    moment = push.not_before if push.not_before is not None and push.not_before > now else None
    request = push.request
    return _Waiting(request.key, encode(request), request.platform, Copy(push.queue, request.asked_at, moment))
