"""Background work of a service: nothing waits for it, and a signal ends it at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import structlog

from ghcrawl.values.errors import CrawlError

log = structlog.stdlib.get_logger(__name__)

GIVEN_UP_S: Final = 1.0
"""Time for cancelled work to end."""


class Waiting(Protocol):
    """As `ghcrawl.cli.signals.Signals`."""

    async def wait(self, seconds: float) -> None:
        """Return after `seconds`, or at once when a signal comes."""


async def unless_told_to_stop(signals: Waiting, doing: Coroutine[Any, Any, None]) -> None:
    """Wait until it is done, or was cancelled by a signal. Raises what it raises."""
    loop = asyncio.get_running_loop()
    told, task = loop.create_task(signals.wait(math.inf), name="signal"), loop.create_task(doing, name="attending")
    try:
        await asyncio.wait([told, task], return_when=asyncio.FIRST_COMPLETED)
    finally:
        over = task.done()
        told.cancel()
        task.cancel()
        await asyncio.wait([told, task], timeout=GIVEN_UP_S)
    if over:
        task.result()
    elif task.done() and not task.cancelled() and (error := task.exception()) is not None:
        log.warning("attending_ended_badly", error=str(error), kind=type(error).__name__)


class Beside:
    """One piece of background work at a time. name: for the log. every_s: the least time from one to the next."""

    def __init__(self, name: str, *, every_s: float = 0.0) -> None:
        self._name = name
        self._every_s = every_s
        self._due_s = 0.0
        self._task: asyncio.Task[object] | None = None

    @property
    def busy(self) -> bool:
        """Whether the last one is still under way."""
        return self._task is not None and not self._task.done()

    def go_on(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """It is under way, if it is due and the one before is not under way any more."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._due_s:
            return
        self._due_s = loop.time() + self._every_s
        if not self.busy:
            self._task = loop.create_task(work(), name=self._name)
            self._task.add_done_callback(self._over)

    async def stop(self, patience_s: float) -> None:
        """None is under way any more, or it does not end in that time."""
        if self._task is not None and self.busy:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=patience_s)

    def _over(self, task: asyncio.Task[object]) -> None:
        error = None if task.cancelled() else task.exception()
        if isinstance(error, CrawlError):
            log.warning("work_beside_failed", work=self._name, error=str(error), kind=type(error).__name__)
        elif error is not None:
            log.error("work_beside_broken", work=self._name, exc_info=error)
