"""A queue before a queue: for whatever wants to see what passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ghcrawl.model import Push, QueueName, Request
from ghcrawl.ports import Delivery, Depth, Pushed, Queue


class PassingQueue:
    """Everything goes on to `queue`, as the port says; a subclass looks at what it cares for."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> Delivery | None:
        """As the port says."""
        return await self._queue.pop(order, patience_s=patience_s)

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says."""
        return await self._queue.push(pushes)

    async def depths(self) -> Mapping[QueueName, Depth]:
        """As the port says."""
        return await self._queue.depths()

    async def is_empty(self) -> bool:
        """As the port says."""
        return await self._queue.is_empty()

    async def peek(self, queue: QueueName, *, limit: int) -> Sequence[Request]:
        """As the port says."""
        return await self._queue.peek(queue, limit=limit)

    async def purge(self, queue: QueueName) -> int:
        """As the port says."""
        return await self._queue.purge(queue)
