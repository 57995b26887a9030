"""Calls that come while another is under way wait for its end, and then go together: many loops, few round trips.

Nobody waits for company. Whoever comes when nothing is under way is sent at once, with those who come in the same turn
of the event loop; so a process with one loop is as fast as without this, and one with fifty asks its server a tenth as
often.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

AT_ONCE: Final = 100
"""Items of one round trip."""


class Batcher(Generic[Item, Answer]):
    """Sends items by `send`, which answers to each in order: with what it came to, or with why it came to nothing.

    alone: errors that one item may be the reason of. Where several came to such a one, each is sent by itself.
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
        """What `send` answers to this item. Raises what it raises, which all of one round trip then do.

        alone: in a round trip of its own, at once. Whoever is cancelled meanwhile does not know whether the item was
        sent, and disturbs nobody else's.
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
        """Those whose turn it is, without those whom nobody waits for any more."""
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
        except Exception as error:  # noqa: BLE001  # raised by `ask` in each of those who else would wait for ever
            if len(items) == 1 or not isinstance(error, self._alone):
                return [error] * len(items)
        return [answer for item in items for answer in await self._answers([item])]
