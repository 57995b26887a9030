"""The unit of work for queue, store and deadletters in one SQLite file: one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Protocol

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.queue import Delivery, Pushed
from ghcrawl.ports.store import Saved
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.values.errors import StoreError
from ghcrawl.values.requests import Push
from stores.sqlite.deadletters import SqliteDeadletters
from stores.sqlite.documents import SqliteStore


class EmbeddedQueue(Protocol):
    """A queue in the same file (`queues.sqlite.SqliteQueue`)."""

    def pushing(self, pushes: Sequence[Push]) -> Work[Pushed]:
        """Push, as part of a transaction."""

    def settling(self, delivery: Delivery, pushes: Sequence[Push]) -> Work[Pushed]:
        """Push, then ack, as part of a transaction."""


class SqliteUnitOfWork:
    """All writes and the ack in one transaction."""

    def __init__(
        self, file: SqliteFile, queue: EmbeddedQueue, store: SqliteStore, deadletters: SqliteDeadletters
    ) -> None:
        self._file = file
        self._queue = queue
        self._store = store
        self._deadletters = deadletters

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """As the port says, all or nothing. Once submitted, the transaction cannot be cancelled."""
        pushes = [push for each in (*effects.carried, effects) for push in each.pushes]
        settle = self._queue.settling(delivery, pushes)
        parts = [(each, self._saving(each), self._rest(each)) for each in (*effects.carried, effects)]
        questions: list[Work[Pushed]] = []

        def run(connection: sqlite3.Connection) -> Committed:
            questions.clear()  # another write of the transaction may have failed: then all of it runs again
            results: list[Saved | None] = []
            for each, save, rest in parts:
                saved = save.run(connection) if save else None
                results.append(saved)
                for work in rest:
                    work.run(connection)
                if (push := each.asks(saved)) is not None:
                    questions.append(self._queue.pushing((push,)))
            pushed = settle.run(connection)
            for question in questions:
                pushed += question.run(connection)
            return Committed(pushed=pushed, saved=results[-1], carried=tuple(results[:-1]))

        def done(committed: Committed) -> None:
            settle.done(committed.pushed)
            for question in questions:
                question.done(committed.pushed)

        return await self._file.write(Work(run, done), StoreError)

    def _saving(self, effects: Effects) -> Work[Saved] | None:
        if effects.document is None:
            return None
        return self._store.saving(effects.document, supersede=effects.supersede)

    def _rest(self, effects: Effects) -> list[Work[None]]:
        rest: list[Work[None]] = []
        if effects.touch is not None:
            rest.append(self._store.touching(effects.touch))
        if effects.deadletter is not None:
            rest.append(self._deadletters.burying(effects.deadletter))
        return rest
