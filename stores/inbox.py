"""Takes each delivery once: its push becomes durable and its id is confirmed, both or neither."""

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
"""A claim of this age belongs to a dead process: senders time out long before."""
THEIRS_WAIT_S: Final = 0.1


class SequentialInbox:
    """For any queue and idempotency keys: claims the id, makes the push durable, then confirms the id."""

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
    """Idempotency keys in the same file (`stores.sqlite.idempotency_keys.SqliteIdempotencyKeys`)."""

    def inbox(self, id: str, at: datetime) -> Work[bool]:
        """Confirm `id`, as part of a transaction. The result is False if it was confirmed before."""


class PushingQueue(Protocol):
    """A queue in the same file (`queues.sqlite.SqliteQueue`)."""

    def pushing(self, pushes: Sequence[Push]) -> Work[Pushed]:
        """Push, as part of a transaction."""


class SqliteInbox:
    """For a queue and idempotency keys in one file: one transaction, which shares its fsync with other waiting writes.

    Three transactions would each wait behind the writes of the workers, and the webhook for all three.
    """

    def __init__(self, file: SqliteFile, queue: PushingQueue, idempotency_keys: TakingReceipts, clock: Clock) -> None:
        self._file = file
        self._queue = queue
        self._receipts = idempotency_keys
        self._clock = clock

    async def take(self, id: str, push: Push) -> bool:
        """As the port says. Once submitted, the transaction cannot be cancelled."""
        receipt, pushing = self._receipts.inbox(id, self._clock.now()), self._queue.pushing([push])

        def run(connection: sqlite3.Connection) -> Pushed | None:
            return pushing.run(connection) if receipt.run(connection) else None

        def done(pushed: Pushed | None) -> None:
            if pushed is not None:
                pushing.done(pushed)

        return await self._file.write(Work(run, done), StoreError) is not None
