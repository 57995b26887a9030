"""Batches concurrent calls: those made during a round trip wait for its end and share the next one.

No item is delayed to fill a batch. While no round trip is in progress, an item is sent at once, with all of the same
turn of the event loop: a process with one worker is as fast as without batches, and one with fifty makes a tenth of
the round trips.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

AT_ONCE: Final = 100
"""Items per round trip, at most."""


class Batcher(Generic[Item, Answer]):
    """Sends items in batches by `send`, which returns the result or the error of each item, in order.

    alone: errors of a whole batch that a single item may have caused. After one, each item is sent again alone.
    """

    def __init__(
        self,
        send: Callable[[Sequence[Item]], Awaitable[Sequence[Answer | Exception]]],
        *,
        alone: tuple[type[Exception], ...] = (),
    ) -> None:
        self._send = send
        self._alone = alone
        self._waiting: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._under_way: asyncio.Task[None] | None = None

    async def ask(self, item: Item, *, alone: bool = False) -> Answer:
        """Send this item. Returns the result for it, or raises its error or that of the whole batch.

        alone: send it at once, in a round trip of its own. After a cancellation it is unknown whether the item was
        sent; other items are not affected.
        """
        if alone:
            (answer,) = await self._send([item])
            if isinstance(answer, Exception):
                raise answer
            return answer
        waiter: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, waiter))
        if self._under_way is None:
            self._under_way = asyncio.create_task(self._work(), name="round-trips")
        return await waiter

    async def _work(self) -> None:
        try:
            while batch := self._next():
                await self._round_trip(batch)
        finally:
            self._under_way = None

    def _next(self) -> Sequence[tuple[Item, asyncio.Future[Answer]]]:
        """The next items, without those whose caller was cancelled."""
        batch: list[tuple[Item, asyncio.Future[Answer]]] = []
        while self._waiting and len(batch) < AT_ONCE:
            item, waiter = self._waiting.popleft()
            if not waiter.done():
                batch.append((item, waiter))
        return batch

    async def _round_trip(self, batch: Sequence[tuple[Item, asyncio.Future[Answer]]]) -> None:
        answers = await self._answers([item for item, _ in batch])
        for (_, waiter), answer in zip(batch, answers, strict=True):
            if waiter.done():
                continue
            if isinstance(answer, Exception):
                waiter.set_exception(answer)
            else:
                waiter.set_result(answer)

    async def _answers(self, items: Sequence[Item]) -> Sequence[Answer | Exception]:
        try:
            return await self._send(items)
        except Exception as error:  # noqa: BLE001  # raised by `ask` in each caller, which would otherwise hang
            if len(items) == 1 or not isinstance(error, self._alone):
                return [error] * len(items)
        return [answer for item in items for answer in await self._answers([item])]
