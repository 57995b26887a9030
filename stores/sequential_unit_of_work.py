"""The unit of work for a queue, a store and deadletters that share no transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple, TypeVar

from ghcrawl.ports.deadletters import Deadletters
from ghcrawl.ports.queue import Delivery, Pushed, Queue
from ghcrawl.ports.store import Saved, Store
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.values.cancellation import all_of, run_to_end
from ghcrawl.values.requests import Push

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
        pushed = theirs + await self._push(effects.pushes)
        saved, asked = await self._write(effects)
        for more in (*(each.pushed for each in carried), asked):
            pushed += more
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
