"""An event loop in a thread of its own, so that scripts and notebooks can wait for coroutines without having one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, Self, TypeVar

from ghcrawl.values.errors import StoreError

T = TypeVar("T")
AT_ONCE: Final = 200
"""Items fetched from the loop at a time."""


class Background:
    """Runs coroutines until `close`, which lets what still runs end first."""

    def __init__(self) -> None:
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="ghcrawl", daemon=True)
        self._thread.start()
        self._loop = self._started.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises. Ctrl-C cancels it, and `close` waits until it has ended.

        Raises StoreError if this is closed.
        """
        if not self._thread.is_alive():
            work.close()
            raise StoreError("it is closed; open it again")
        done = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return done.result()
        except KeyboardInterrupt:
            done.cancel()
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """The items, some at a time."""
        try:
            while some := self.run(_next(items)):
                yield from some
        finally:
            if isinstance(items, AsyncGenerator) and self._thread.is_alive():
                self.run(_closed(items))

    def call(self, callback: Callable[[], object]) -> None:
        """Calls it in the loop, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)

    def close(self) -> None:
        """Ends the thread. May be called again."""
        self.call(self._stop.set)
        self._thread.join()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        self._started.set_result(asyncio.get_running_loop())
        await self._stop.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)


async def _next(items: AsyncIterator[T]) -> list[T]:
    found: list[T] = []
    async for item in items:
        found.append(item)
        if len(found) == AT_ONCE:
            break
    return found


async def _closed(items: AsyncGenerator[T, None]) -> None:
    await items.aclose()
