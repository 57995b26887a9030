"""The inbox for a queue and idempotency keys in one SQLite file: one transaction."""

from __future__ import annotations

import sqlite3

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Pushed
from ghcrawl.values.errors import StoreError
from ghcrawl.values.requests import Push
from stores.sqlite.idempotency_keys import SqliteIdempotencyKeys
from stores.sqlite.unit_of_work import EmbeddedQueue


class SqliteInbox:
    """Its transaction shares an fsync with other waiting writes.

    Three transactions would each wait behind the writes of the workers, and the webhook for all three.
    """

    def __init__(
        self, file: SqliteFile, queue: EmbeddedQueue, idempotency_keys: SqliteIdempotencyKeys, clock: Clock
    ) -> None:
        self._file = file
        self._queue = queue
        self._keys = idempotency_keys
        self._clock = clock

    async def take(self, id: str, push: Push) -> bool:
        """As the port says. Once submitted, the transaction cannot be cancelled."""
        key, pushing = self._keys.taking(id, self._clock.now()), self._queue.pushing([push])

        def run(connection: sqlite3.Connection) -> Pushed | None:
            return pushing.run(connection) if key.run(connection) else None

        def done(pushed: Pushed | None) -> None:
            if pushed is not None:
                pushing.done(pushed)

        return await self._file.write(Work(run, done), StoreError) is not None
