"""Whether the store takes writes: learned from a write of its own, so that an idle or paused process knows it too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog

from ghcrawl.admin.coalescing import Shared
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.store import Store
from ghcrawl.values.errors import StoreError
from ghcrawl.values.times import iso

log = structlog.stdlib.get_logger(__name__)

STATE: Final = "write_check"
"""The name of the small object that is written. All replicas write the same one."""


class WriteCheck:
    """Writes a small object to `store`, one write at a time, however many ask.

    failed, worked: called with the result of every write; `failed` also for one that takes too long.
    """

    def __init__(
        self, store: Store, clock: Clock, *, failed: Callable[[StoreError], None], worked: Callable[[], None]
    ) -> None:
        self._store = store
        self._clock = clock
        self._told_failed = failed
        self._told_worked = worked
        self._error: StoreError | None = None
        self._since: datetime | None = None
        self._shared = Shared(self._write)

    async def why_not(self, *, within_s: float) -> str:
        """Why the store takes no write; empty while it does."""
        try:
            async with asyncio.timeout(within_s):
                await self._shared.now()
        except TimeoutError:  # the write goes on, and the next who asks waits for it too
            self._failed(self._error or StoreError(f"no answer to a write within {within_s:g} s"))
        except StoreError as error:
            return str(error)
        return str(self._error or "")

    async def _write(self) -> None:
        try:
            await self._store.write_state(STATE, {"at": iso(self._clock.now())})
        except StoreError as error:
            self._failed(error)
            raise
        self._worked()

    def _failed(self, error: StoreError) -> None:
        if self._error is None or str(error) != str(self._error):
            log.warning("store_not_writable", error=str(error))
        self._since = self._since or self._clock.now()
        self._error = error
        self._told_failed(error)

    def _worked(self) -> None:
        if self._since is not None:
            log.info("store_writable_again", after_s=round((self._clock.now() - self._since).total_seconds(), 1))
        self._since = self._error = None
        self._told_worked()
