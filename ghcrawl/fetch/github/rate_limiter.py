"""Short waits for one principal's limits, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from ghcrawl.fetch.github.budget import Wait
from ghcrawl.fetch.github.limits import Finished, Limits
from ghcrawl.ports.clock import Clock


@dataclass(slots=True, kw_only=True)
class _Waiter:
    resource: str
    deadline: float
    turn: asyncio.Future[Wait | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class RateLimiter:
    """One principal's limits, and the calls that wait for them. Every change of the limits releases the next calls."""

    def __init__(self, limits: Limits, clock: Clock, *, patience_s: float) -> None:
        self.limits = limits
        self._clock = clock
        self._patience_s = patience_s
        self._waiters: deque[_Waiter] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = 0.0

    def now(self) -> float:
        """Epoch seconds."""
        return self._clock.now().timestamp()

    def try_take(self, resource: str) -> Wait | None:
        """None: a call to `resource` is taken. Else why not."""
        wait = self.limits.wait(resource, self.now())
        if wait is None:
            self.limits.take(resource)
        return wait

    def worth_waiting(self, wait: Wait) -> bool:
        """Whether `wait` is a matter of a moment, and not of having been told to stop."""
        return wait.settles or (wait.reason == "busy" and wait.until <= self.now() + self._patience_s)

    async def take(self, resource: str) -> Wait | None:
        """None: a call to `resource` is taken, at once or after a moment. Else why not."""
        wait = self.try_take(resource)
        if wait is None or not self.worth_waiting(wait):
            return wait
        waiter = _Waiter(resource=resource, deadline=self.now() + self._patience_s)
        self._waiters.append(waiter)
        self._alarm_by(waiter.deadline if wait.settles else min(wait.until, waiter.deadline))
        try:
            return await waiter.turn
        except asyncio.CancelledError:
            if waiter.turn.done() and not waiter.turn.cancelled() and waiter.turn.result() is None:
                self.cancel(resource)
            raise

    def cancel(self, resource: str) -> None:
        """A call that was taken was not made."""
        self.limits.cancel(resource)
        self.serve()

    def finish(self, resource: str, finished: Finished) -> None:
        """A call that was taken has ended so. `serve` is to follow."""
        self.limits.finish(resource, finished, self.now())

    def serve(self) -> None:
        """Give their turn to all who may go now, and send away those whose wait turned out to be long."""
        if not self._waiters:
            return
        now = self.now()
        blocked: dict[str, Wait] = {}
        stay: deque[_Waiter] = deque()
        for waiter in self._waiters:
            if waiter.turn.done():
                continue
            wait = blocked.get(waiter.resource) or self.limits.wait(waiter.resource, now)
            if wait is None:
                self.limits.take(waiter.resource)
                waiter.turn.set_result(None)
                continue
            blocked[waiter.resource] = wait
            if now < waiter.deadline and self.worth_waiting(wait):
                stay.append(waiter)
            else:
                waiter.turn.set_result(wait)
        self._waiters = stay
        if stay:
            self._alarm_by(min([stay[0].deadline, *(wait.until for wait in blocked.values() if not wait.settles)]))

    async def close(self) -> None:
        """No call waits, and no timer runs."""
        now = self.now()
        for waiter in self._waiters:
            if not waiter.turn.done():
                waiter.turn.set_result(Wait(now, "busy"))
        self._waiters.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            await asyncio.gather(self._alarm, return_exceptions=True)
            self._alarm = None

    def _alarm_by(self, at: float) -> None:
        """Look again at `at` at the latest."""
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = asyncio.get_running_loop().create_task(self._ring(at), name="limiter-alarm")

    async def _ring(self, at: float) -> None:
        await self._clock.sleep(max(0.0, at - self.now()))
        self._alarm = None
        self.serve()
