"""The inbox for a queue and idempotency keys that share no transaction: both take a delivery, or neither does."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import new_token
from ghcrawl.ports.inbox import IdempotencyKeys
from ghcrawl.ports.queue import Queue
from ghcrawl.values.requests import Push

STALE_S: Final = 30.0
"""A claim of this age belongs to a dead process: senders time out long before."""
THEIRS_WAIT_S: Final = 0.1


class SequentialInbox:
    """Claims the id, makes the push durable, then confirms the id."""

    def __init__(self, queue: Queue, idempotency_keys: IdempotencyKeys, clock: Clock) -> None:
        self._queue = queue
        self._keys = idempotency_keys
        self._clock = clock

    async def take(self, id: str, push: Push) -> bool:
        """As the port says. Waits while another replica holds the claim."""
        token = new_token()
        while True:
            now = self._clock.now()
            claim = await self._keys.claim(id, token, now, stale_before=now - timedelta(seconds=STALE_S))
            if claim != "theirs":
                break
            await self._clock.sleep(THEIRS_WAIT_S)
        if claim == "taken":
            return False
        try:
            await self._queue.push([push])
        except BaseException:
            await self._keys.release(id, token)
            raise
        await self._keys.confirm(id, token)
        return True
