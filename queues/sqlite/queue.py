"""The five queues in one SQLite file, with the store beside them. Survives kill -9; needs no server.

One process at a time may pop; others may push, look and purge meanwhile.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Delivery, Depth, Pushed
from ghcrawl.values.errors import DecodeError, QueueError
from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.requests import Push, Request
from queues.codec import decode
from queues.merging import URGENCY
from queues.sqlite import table
from queues.sqlite.pops import Burying, Pops, SqliteDelivery
from queues.sqlite.table import MIGRATION, SCHEMA

__all__ = ["MIGRATION", "SCHEMA", "SqliteQueue"]

PURGED_AT_ONCE: Final = 5000

_DEPTHS: Final = """
    SELECT id, platform, queue, ready, delayed,
        (SELECT COUNT(*) FROM in_flight WHERE in_flight.lane = lanes.id),
        (SELECT asked_at FROM waiting WHERE waiting.lane = lanes.id AND not_before = 0 ORDER BY id LIMIT 1)
    FROM lanes"""
_BUSY: Final = """
    SELECT platform FROM lanes WHERE ready > 0 OR delayed > 0
    UNION SELECT platform FROM in_flight JOIN lanes ON lanes.id = in_flight.lane"""
_DUE: Final = "SELECT COUNT(*) FROM waiting WHERE lane = ? AND not_before BETWEEN 1 AND ?"
_LAST: Final = "SELECT MAX(id) FROM waiting"
_LANES: Final = "SELECT id FROM lanes WHERE queue = ?1 AND (?2 IS NULL OR platform = ?2)"
_PEEK: Final = "SELECT body FROM waiting WHERE lane = ? ORDER BY not_before, id LIMIT ?"


class SqliteQueue:
    """The queue in `file`. bury: files what cannot be read as a deadletter, in the transaction that removes it."""

    def __init__(self, file: SqliteFile, clock: Clock, *, bury: Burying) -> None:
        self._file = file
        self._clock = clock
        self._pops = Pops(file, clock, bury)
        self._crawling = False
        self._taking_over = asyncio.Lock()

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says, in one transaction. Raises QueueError, and then none of them was taken."""
        return await self._file.write(self.pushing(pushes), QueueError)

    def pushing(self, pushes: Sequence[Push]) -> Work[Pushed]:
        """A push as part of a larger transaction. Raises Unstorable for a payload that is not JSON."""
        rows = table.arrivals(pushes, self._clock.now())
        return Work(lambda connection: table.insert(connection, rows), lambda _: self._pops.serve_soon())

    def settling(self, delivery: Delivery, pushes: Sequence[Push]) -> Work[Pushed]:
        """A push and then the ack of `delivery` as part of a larger transaction."""
        if not isinstance(delivery, SqliteDelivery):
            raise TypeError(f"{type(delivery).__name__} was not popped from this queue")
        rows = table.arrivals(pushes, self._clock.now()) if pushes else ()

        def run(connection: sqlite3.Connection) -> Pushed:
            pushed = table.insert(connection, rows)
            table.forget(connection, delivery.claim)
            return pushed

        def done(_: Pushed) -> None:
            delivery.over = True
            if rows:
                self._pops.serve_soon()

        return Work(run, done)

    async def take_over(self) -> None:
        """This process crawls the file, and what a dead one had in flight waits again.

        The first pop does it too. Raises ConfigError if another process is crawling the file, QueueError.
        """
        async with self._taking_over:
            if not self._crawling:
                self._file.lock_for_crawling()
                await self._file.write(Work(table.recover), QueueError)
                self._crawling = True

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> SqliteDelivery | None:
        """As the port says. A pop that is cancelled returns what was claimed for it."""
        if not self._crawling:
            await self.take_over()
        return await self._pops.pop(order, patience_s)

    async def depths(self) -> Mapping[Lane, Depth]:
        """As the port says."""
        now = table.micros(self._clock.now())
        depths: dict[Lane, Depth] = {}
        for number, platform, rank, ready, delayed, in_flight, asked_at in self._file.rows(_DEPTHS, (), QueueError):
            due = self._file.rows(_DUE, (number, now), QueueError)[0][0] if delayed else 0
            oldest_at = None if asked_at is None else table.moment(asked_at)
            depths[Lane(platform, QUEUES[rank])] = Depth(
                ready=ready + due, delayed=delayed - due, in_flight=in_flight, oldest_at=oldest_at
            )
        return depths

    async def is_empty(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says."""
        busy = self._file.rows(_BUSY, (), QueueError)
        return not any(platforms is None or platform in platforms for (platform,) in busy)

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """As the port says; what is ready comes first, and what cannot be read is left out."""
        requests: list[Request] = []
        for lane in self._lanes(queue, platform):
            for (body,) in await self._file.scan(_PEEK, (lane, limit - len(requests)), QueueError):
                with suppress(DecodeError):
                    requests.append(decode(body))
        return requests

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """As the port says, a few thousand at a time, so that other work does not wait long."""
        last = self._file.rows(_LAST, (), QueueError)[0][0]
        return sum([await self._purge(lane, last) for lane in self._lanes(queue, platform)])

    async def _purge(self, lane: int, last: int) -> int:
        purged, work = 0, Work(lambda connection: table.purge(connection, lane, last, PURGED_AT_ONCE))
        while gone := await self._file.write(work, QueueError):
            purged += gone
        return purged

    def _lanes(self, queue: QueueName, platform: str | None) -> list[int]:
        """The numbers of that queue's lanes, or of the one of `platform`."""
        return [number for (number,) in self._file.rows(_LANES, (URGENCY[queue], platform), QueueError)]
