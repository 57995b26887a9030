"""Group commit: one thread that writes, and one transaction for everything that waits for it.

Twenty loops share one fsync. If anything in a group fails, the group is undone and each member runs again on its own:
a failure affects its owner alone, and no savepoints are paid for that are hardly ever needed.

Work that belongs together is composed where the adapters are wired: each adapter offers `Work` that runs inside
another's transaction, and none of them needs to know another.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")
_Result: TypeAlias = tuple[Any, Exception | None]


def _nothing(_: object) -> None:
    """What is left to do for most work once it is durable."""


class Work(Struct, Generic[T], frozen=True):
    """A piece of a transaction.

    run: in the writing thread, inside the transaction. It may run again after a rollback, so it changes nothing else.
    done: on the event loop, once the result is durable, even if no caller waits any more. Must not raise.
    """

    run: Callable[[sqlite3.Connection], T]
    done: Callable[[T], None] = _nothing


class Writer:
    """The writing thread. One group is in its hands at a time; what is submitted meanwhile is the next group."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pending: list[tuple[Work[Any], asyncio.Future[Any]]] = []
        self._group: list[tuple[Work[Any], asyncio.Future[Any]]] = []
        self._inbox: SimpleQueue[list[Work[Any]] | None] = SimpleQueue()
        self._flushing = False
        self._thread: Thread | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def start(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """The thread runs, on the connection that `connect` made in it. Raises what `connect` raises."""
        ready: asyncio.Future[None] = self._loop.create_future()
        self._thread = Thread(target=self._run, args=(connect, ready), name="sqlite-write", daemon=True)
        self._thread.start()
        await ready

    def submit(self, work: Work[T]) -> asyncio.Future[T]:
        """`work` joins the next transaction. The future has its result after COMMIT, or raises sqlite3.Error.

        Cancelling the future takes nothing back.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        if self._thread is None:
            future.set_exception(sqlite3.ProgrammingError("closed"))
            return future
        self._pending.append((work, future))
        self._flush_soon()
        return future

    async def stop(self) -> None:
        """Everything submitted is written and the thread has ended."""
        if self._thread is None:
            return
        while self._pending or self._group:
            with suppress(sqlite3.Error):
                await self.submit(Work(_nothing))
        thread, self._thread = self._thread, None
        self._inbox.put(None)
        await self._ended
        thread.join()

    def _flush_soon(self) -> None:
        """Hand over what is pending once every task that is about to run has had its chance to add to it."""
        if not self._group and not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        if self._pending and not self._group:
            self._group, self._pending = self._pending, []
            self._inbox.put([work for work, _ in self._group])

    def _resolve(self, results: Sequence[_Result]) -> None:
        group, self._group = self._group, []
        for (work, future), (value, error) in zip(group, results, strict=True):
            if error is None:
                work.done(value)
                if not future.done():
                    future.set_result(value)
            elif not future.done():
                future.set_exception(error)
        if self._pending:
            self._flush_soon()

    def _run(self, connect: Callable[[], sqlite3.Connection], ready: asyncio.Future[None]) -> None:
        with suppress(RuntimeError):  # the event loop may be closed before the file is
            try:
                connection = connect()
            except Exception as error:  # noqa: BLE001  # every error is passed to the caller of `open`
                self._loop.call_soon_threadsafe(_tell, ready, error)
                self._loop.call_soon_threadsafe(_tell, self._ended)
                return
            self._loop.call_soon_threadsafe(_tell, ready)
            try:
                while (group := self._inbox.get()) is not None:
                    self._loop.call_soon_threadsafe(self._resolve, _committed(connection, group))
            finally:
                connection.close()
            self._loop.call_soon_threadsafe(_tell, self._ended)


def _tell(future: asyncio.Future[None], error: Exception | None = None) -> None:
    """Wakes the caller that waits for `future`, if it still does."""
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


def _committed(connection: sqlite3.Connection, group: Sequence[Work[Any]]) -> list[_Result]:
    """The results of `group` after one COMMIT; if that fails, of every member after a COMMIT of its own."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        return [(None, error)] * len(group)
    try:
        values = [work.run(connection) for work in group]
        connection.execute("COMMIT")
    except Exception as error:  # noqa: BLE001  # every error is passed to the caller who submitted the work
        with suppress(sqlite3.Error):  # SQLite undoes some failures itself, and then there is nothing to undo
            connection.execute("ROLLBACK")
        if len(group) == 1:
            return [(None, error)]
        return [result for work in group for result in _committed(connection, (work,))]
    return [(value, None) for value in values]
