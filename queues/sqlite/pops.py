"""Pops that wait, all of one process together: one claim in one transaction serves all that can be served.

A pop that finds nothing sleeps until a push or release of this process, until a delayed request is due, or until the
file is looked at again because another process may have pushed. Everything here runs on the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final, TypeAlias

import structlog

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.clock import Clock
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import DecodeError, QueueError
from ghcrawl.values.lanes import QUEUES, Lane
from ghcrawl.values.requests import Failure, Request, unreadable
from queues.codec import decode
from queues.sqlite import table
from queues.sqlite.table import ClaimedRow

log = structlog.stdlib.get_logger(__name__)

LOOK_AGAIN_S: Final = 0.4
"""How long a push of another process may go unnoticed."""
Burying: TypeAlias = Callable[[Deadletter], Work[None]]
"""Files a deadletter within a transaction: what the store beside the queue offers."""

_READY: Final = "SELECT platform, queue, id, ready, delayed FROM lanes WHERE ready > 0 OR delayed > 0"
_NEXT: Final = "SELECT MIN(not_before) FROM waiting WHERE lane = ? AND not_before > 0"


class SqliteDelivery:
    """A request popped from a SqliteQueue. over: acked, or released; nothing can happen to it any more."""

    suspect = False

    def __init__(self, owner: Pops, claim: ClaimedRow, request: Request) -> None:
        self.request: Final = request
        self.queue: Final = claim.lane.queue
        self.claim: Final = claim
        self.over = False
        self._owner = owner

    async def ack(self) -> None:
        """It is forgotten. Raises QueueError; then it may be released still."""
        if not self.over:
            await self._owner.ack(self)

    async def release(self) -> None:
        """It waits again; where that cannot be written just now, as soon as it can."""
        if not self.over:
            self.over = True
            await asyncio.wait([self._owner.put_back(self.claim)])


class _Waiter:
    """A pop that waits. busy: a claim is being made for it, so it is not for anybody else to end its wait."""

    __slots__ = ("busy", "deadline", "future", "order", "timer")

    def __init__(self, order: Sequence[Lane], future: asyncio.Future[SqliteDelivery | None], deadline: float) -> None:
        self.order = order
        self.future = future
        self.deadline = deadline
        self.timer: asyncio.TimerHandle | None = None
        self.busy = False


class Pops:
    """The pops of one process that wait for something in `file`."""

    def __init__(self, file: SqliteFile, clock: Clock, bury: Burying) -> None:
        self._file = file
        self._clock = clock
        self._bury = bury
        self._loop = asyncio.get_running_loop()
        self._numbers = count(1)
        self._waiters: dict[_Waiter, None] = {}
        self._owed: list[ClaimedRow] = []
        self._serving = False
        self._claiming = False
        self._alarm: asyncio.TimerHandle | None = None

    async def pop(self, order: Sequence[Lane], patience_s: float) -> SqliteDelivery | None:
        """A delivery from the first lane of `order` that has something, or None after `patience_s`.

        A pop that is cancelled returns what was claimed for it. Raises QueueError.
        """
        waiter = _Waiter(order, self._loop.create_future(), self._loop.time() + patience_s)
        self._waiters[waiter] = None
        self.serve_soon()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            future = waiter.future
            delivery = None if future.cancelled() or not future.done() or future.exception() else future.result()
            if delivery is not None:
                self.put_back(delivery.claim)
            raise
        finally:
            self._waiters.pop(waiter, None)
            if waiter.timer is not None:
                waiter.timer.cancel()

    def put_back(self, claim: ClaimedRow) -> asyncio.Future[None]:
        """What was claimed waits again; where that cannot be written just now, from the next claim that can."""

        def ended(future: asyncio.Future[None]) -> None:
            if (error := future.exception()) is not None:
                self._owed.append(claim)
                log.warning("release_postponed", error=str(error))
            self.serve_soon()

        future = self._file.submit(Work(lambda connection: table.put_back(connection, claim.number)))
        future.add_done_callback(ended)
        return future

    async def ack(self, delivery: SqliteDelivery) -> None:
        """Delete the popped requests. Raises QueueError."""
        await self._file.write(Work(lambda connection: table.forget(connection, delivery.claim)), QueueError)
        delivery.over = True

    def serve_soon(self) -> None:
        """Serve who waits once every task that is about to run has had its chance to pop as well."""
        if self._waiters and not self._serving and not self._claiming:
            self._serving = True
            self._loop.call_soon(self._serve)

    def _serve(self) -> None:
        """One claim for all whose lanes have something; the others wait on, or have waited long enough."""
        self._serving = False
        if self._claiming:
            return
        now = table.micros(self._clock.now())
        try:
            ready, next_s = self._look(now)
        except QueueError as error:
            self._fail(list(self._waiters), error)
            return
        idle = [waiter for waiter in self._waiters if not waiter.busy]
        wanted = [waiter for waiter in idle if not ready.isdisjoint(waiter.order)]
        if wanted or self._owed:
            self._claim(wanted, now)
        for waiter in idle:
            self._wait_on(waiter)
        if self._waiters:
            self._look_again(next_s)

    def _look(self, now: int) -> tuple[set[Lane], float]:
        """The lanes that have something ready, and in how many seconds it is time to look again."""
        ready: set[Lane] = set()
        next_s = LOOK_AGAIN_S
        for platform, rank, lane, waiting, delayed in self._file.rows(_READY, (), QueueError):
            moment = self._file.rows(_NEXT, (lane,), QueueError)[0][0] if delayed else None
            if waiting or (moment is not None and moment <= now):
                ready.add(Lane(platform, QUEUES[rank]))
            elif moment is not None:
                next_s = min(next_s, (moment - now) / 1e6)
        return ready, next_s

    def _look_again(self, seconds: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_later(seconds, self.serve_soon)

    def _claim(self, waiters: Sequence[_Waiter], now: int) -> None:
        orders = [waiter.order for waiter in waiters]
        numbers = [next(self._numbers) for _ in waiters]
        owed, self._owed = self._owed, []

        def run(connection: sqlite3.Connection) -> list[ClaimedRow | None]:
            for claim in owed:
                table.put_back(connection, claim.number)
            return table.claim(connection, orders, numbers, now)

        def ended(future: asyncio.Future[list[ClaimedRow | None]]) -> None:
            self._claiming = False
            if (error := future.exception()) is not None:
                self._owed += owed
                self._fail(waiters, error)
                self._look_again(LOOK_AGAIN_S)
            else:
                self._deliver(waiters, future.result())
                self.serve_soon()

        self._claiming = True
        for waiter in waiters:
            waiter.busy = True
        self._file.submit(Work(run)).add_done_callback(ended)

    def _deliver(self, waiters: Sequence[_Waiter], claims: Sequence[ClaimedRow | None]) -> None:
        for waiter, claim in zip(waiters, claims, strict=True):
            waiter.busy = False
            if claim is None:
                self._wait_on(waiter)
            elif waiter.future.done():
                self.put_back(claim)
            else:
                self._hand_over(waiter, claim)

    def _hand_over(self, waiter: _Waiter, claim: ClaimedRow) -> None:
        try:
            request = decode(claim.body)
        except DecodeError as error:
            self._file_undecodable(waiter, claim, error)
        else:
            self._end(waiter, SqliteDelivery(self, claim, request))

    def _file_undecodable(self, waiter: _Waiter, claim: ClaimedRow, error: DecodeError) -> None:
        """A deadletter takes the place of an unreadable message; its pop waits on."""
        failure = Failure(at=self._clock.now(), cause="undecodable", message=str(error))
        bury = self._bury(Deadletter.of(unreadable(claim.lane.platform), claim.lane.queue, failure, raw=error.body))

        def run(connection: sqlite3.Connection) -> None:
            bury.run(connection)
            table.forget(connection, claim)

        def ended(future: asyncio.Future[None]) -> None:
            waiter.busy = False
            if (broken := future.exception()) is not None:
                self._owed.append(claim)
                self._fail([waiter], broken)
            self.serve_soon()

        log.warning("message_undecodable", queue=claim.lane.queue, error=str(error))
        waiter.busy = True
        self._file.submit(Work(run)).add_done_callback(ended)

    def _wait_on(self, waiter: _Waiter) -> None:
        """It waits until its patience ends, which may be now."""
        if waiter.busy or waiter.future.done():
            return
        if self._loop.time() >= waiter.deadline:
            self._end(waiter, None)
        elif waiter.timer is None:
            waiter.timer = self._loop.call_at(waiter.deadline, self._wait_on, waiter)

    def _end(self, waiter: _Waiter, delivery: SqliteDelivery | None) -> None:
        self._waiters.pop(waiter, None)
        waiter.future.set_result(delivery)

    def _fail(self, waiters: Sequence[_Waiter], error: BaseException) -> None:
        broken = self._file.translated(error, QueueError) if isinstance(error, sqlite3.Error) else error
        for waiter in waiters:
            self._waiters.pop(waiter, None)
            if not waiter.future.done():
                waiter.future.set_exception(broken)
