"""Units of work: make the effects of a settled request durable, then ack it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeVar

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.deadletters import Deadletters
from ghcrawl.ports.queue import Delivery, Pushed, Queue
from ghcrawl.ports.store import Saved, Store
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.values.errors import StoreError
from ghcrawl.values.model import Deadletter, Push
from ghcrawl.values.shielded import all_of, run_to_end
from stores.sqlite.documents import SqliteStore

T = TypeVar("T")
Part = Literal["push", "save"]


class SequentialUnitOfWork:
    """For any queue, store and deadletters: pushes first, then the document, touch or deadletter, and the ack last.

    phase: is called with the duration of each push and each write to the store, in seconds.
    """

    def __init__(
        self, queue: Queue, store: Store, deadletters: Deadletters, phase: Callable[[Part, float], None] | None = None
    ) -> None:
        self._queue = queue
        self._store = store
        self._deadletters = deadletters
        self._phase = phase

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """As the port says. After a crash the steps are repeated; those that were done already change nothing."""
        return await run_to_end(self._commit(delivery, effects))

    async def _commit(self, delivery: Delivery, effects: Effects) -> Committed:
        # What was carried comes first, whole: what the request pushes may say that all of it was read.
        theirs = await self._push([push for each in effects.carried for push in each.pushes])
        carried = await all_of(map(self._write, effects.carried)) if effects.carried else []
        pushed = _together(theirs, await self._push(effects.pushes))
        saved, asked = await self._write(effects)
        for more in (*(each.pushed for each in carried), asked):
            pushed = _together(pushed, more)
        await delivery.ack()
        return Committed(pushed=pushed, saved=saved, carried=tuple(each.saved for each in carried))

    async def _push(self, pushes: Sequence[Push]) -> Pushed:
        return await self._timed("push", self._queue.push(pushes)) if pushes else Pushed()

    async def _write(self, effects: Effects) -> _Written:
        saved: Saved | None = None
        pushed = Pushed()
        if effects.document is not None:
            saved = await self._timed("save", self._store.save(effects.document, supersede=effects.supersede))
        if (asked := effects.asks(saved)) is not None:
            pushed = await self._timed("push", self._queue.push((asked,)))
        if effects.touch is not None:
            await self._timed("save", self._store.touch(effects.touch))
        if effects.deadletter is not None:
            await self._timed("save", self._deadletters.bury(effects.deadletter))
        return _Written(saved, pushed)

    async def _timed(self, part: Part, work: Awaitable[T]) -> T:
        if self._phase is None:
            return await work
        now = asyncio.get_running_loop().time
        began = now()
        done = await work
        self._phase(part, now() - began)
        return done


class _Written(NamedTuple):
    saved: Saved | None
    pushed: Pushed


def _together(one: Pushed, other: Pushed) -> Pushed:
    return Pushed(queued=one.queued + other.queued, bounced=one.bounced + other.bounced)


class SettlingQueue(Protocol):
    """A queue in the same file (`queues.sqlite.SqliteQueue`)."""

    def pushing(self, pushes: Sequence[Push]) -> Work[Pushed]:
        """Push, as part of a transaction."""

    def settling(self, delivery: Delivery, pushes: Sequence[Push]) -> Work[Pushed]:
        """Push, then ack, as part of a transaction."""


class BuryingDeadletters(Protocol):
    """Deadletters in the same file (`stores.sqlite.deadletters.SqliteDeadletters`)."""

    def burying(self, deadletter: Deadletter) -> Work[None]:
        """Bury, as part of a transaction."""


class SqliteUnitOfWork:
    """For queue, store and deadletters in one file: all writes and the ack in one transaction."""

    def __init__(
        self, file: SqliteFile, queue: SettlingQueue, store: SqliteStore, deadletters: BuryingDeadletters
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
                pushed = _together(pushed, question.run(connection))
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
