"""Background tasks that never end: a failure is reported, and the task restarted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

log = structlog.stdlib.get_logger(__name__)

FIRST_S: Final = 1.0
LAST_S: Final = 60.0
"""How long what died stays away: twice as long each time, from the one to the other."""


class Background:
    """Pieces of work by their names. restarts: how often any of them ended, which none may."""

    def __init__(self) -> None:
        self.restarts = 0
        self._down: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def down(self) -> list[str]:
        """Tasks that failed and wait for their restart."""
        return sorted(self._down)

    def start(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """It is done from now on."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._keep(name, work), name=name))

    async def _keep(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        away_s = FIRST_S
        while True:
            task = asyncio.get_running_loop().create_task(work(), name=name)
            try:
                await asyncio.wait([task])
            finally:
                task.cancel()
                await asyncio.wait([task])
            self.restarts += 1
            error = None if task.cancelled() else task.exception()
            log.error("background_died", work=name, exc_info=error, restarts=self.restarts)
            self._down.add(name)
            await asyncio.sleep(away_s)
            self._down.discard(name)
            away_s = min(2 * away_s, LAST_S)

    async def stop(self) -> None:
        """None is under way any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
