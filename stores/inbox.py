"""How a delivery is taken in: what it holds waits, and its id is taken, both or neither."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import new_token
from ghcrawl.ports.inbox import IdempotencyKeys
from ghcrawl.ports.queue import Pushed, Queue
from ghcrawl.values.errors import StoreError
from ghcrawl.values.model import Push

STALE_S: Final = 30.0
"""A claim of this age is of a dead process: senders time out long before."""
THEIRS_WAIT_S: Final = 0.1


class SequentialInbox:
    """Over any queue and receipts: the id is claimed, then the push made durable, then the id confirmed."""

    def __init__(self, queue: Queue, idempotency_keys: IdempotencyKeys, clock: Clock) -> None:
        self._queue = queue
        self._receipts = idempotency_keys
        self._clock = clock

    async def take(self, id: str, push: Push) -> bool:
        """As the port says. Waits while another replica holds the claim."""
        token = new_token()
        while True:
            now = self._clock.now()
            claim = await self._receipts.claim(id, token, now, stale_before=now - timedelta(seconds=STALE_S))
            if claim != "theirs":
                break
            await self._clock.sleep(THEIRS_WAIT_S)
        if claim == "taken":
            return False
        try:
            await self._queue.push([push])
        except BaseException:
            await self._receipts.release(id, token)
            raise
        await self._receipts.confirm(id, token)
        return True


class TakingReceipts(Protocol):
    """What receipts in the same file offer: `stores.sqlite.idempotency_keys.SqliteReceipts` is one."""

    def inbox(self, id: str, at: datetime) -> Work[bool]:
        """Taking an id for good, as part of a transaction. False: it was taken before."""


class PushingQueue(Protocol):
    """What a queue in the same file offers: `queues.sqlite.SqliteQueue` is one."""

    def pushing(self, pushes: Sequence[Push]) -> Work[Pushed]:
        """A push, as part of a transaction."""


class SqliteInbox:
    """Over a queue and receipts in one file: both in one transaction, which shares its fsync with other waiting work.

    Three after one another would each wait behind what the loops write, and webhooks for all three.
    """

    def __init__(self, file: SqliteFile, queue: PushingQueue, idempotency_keys: TakingReceipts, clock: Clock) -> None:
        self._file = file
        self._queue = queue
        self._receipts = idempotency_keys
        self._clock = clock

    async def take(self, id: str, push: Push) -> bool:
        """As the port says. What was submitted cannot be cancelled any more."""
        receipt, pushing = self._receipts.inbox(id, self._clock.now()), self._queue.pushing([push])

        def run(connection: sqlite3.Connection) -> Pushed | None:
            return pushing.run(connection) if receipt.run(connection) else None

        def done(pushed: Pushed | None) -> None:
            if pushed is not None:
                pushing.done(pushed)

        return await self._file.write(Work(run, done), StoreError) is not None
