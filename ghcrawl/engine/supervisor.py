"""Keeps the wanted number of loops alive: starts, restarts, resizes, pauses and drains them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from ghcrawl.engine.loop import Engine
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Queue
from ghcrawl.values.frozen import replace
from ghcrawl.values.tuning import Tuning

log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class _Loop:
    task: asyncio.Task[None]
    stop: asyncio.Event


class Supervisor:
    """Owns the loops of one process. Everything here runs on one event loop; nothing needs a lock."""

    def __init__(self, engine: Engine, clock: Clock, *, restart_s: float = 1.0) -> None:
        """restart_s: how long the first loop that died stays away; each one after it a little longer."""
        self.restarts = 0
        self._restart_s = restart_s
        self._clock = clock
        self._engine = engine
        self._loops: list[_Loop] = []
        self._draining = False

    @property
    def running(self) -> int:
        """Loops that take work, or would if there were any."""
        return sum(not loop.task.done() and not loop.stop.is_set() for loop in self._loops)

    @property
    def tuning(self) -> Tuning:
        """What the loops run by."""
        return self._engine.tuning

    def start(self) -> None:
        """Start as many loops as the tuning wants."""
        self._draining = False
        self._fit()

    def tune(self, tuning: Tuning) -> None:
        """Swap the tuning whole; loops are added or let go at once, the rest applies from each loop's next turn."""
        self._engine.tuning = tuning
        if not self._draining:
            self._fit()

    def pause(self) -> None:
        """Pop nothing until `resume`; requests in flight are finished."""
        self.tune(replace(self.tuning, paused=True))

    def resume(self) -> None:
        """Undo `pause`."""
        self.tune(replace(self.tuning, paused=False))

    async def drain(self, grace_s: float) -> bool:
        """Stop popping, finish requests in flight within `grace_s`, release the rest. True: all were finished."""
        self._draining = True
        loops, self._loops = self._loops, []
        for loop in loops:
            loop.stop.set()
        tasks = [loop.task for loop in loops]
        if not tasks:
            return True
        _, late = await asyncio.wait(tasks, timeout=grace_s)
        for task in late:
            task.cancel()
        if late:
            log.warning("drain_cut_short", loops=len(late), grace_s=grace_s)
            await asyncio.wait(late)
        return not late

    async def until_empty(self, queue: Queue, *, every_s: float = 0.1) -> None:
        """Return once no request waits and none is in flight anywhere."""
        while self._engine.busy or not await queue.is_empty():
            await self._clock.sleep(every_s)

    def _fit(self) -> None:
        self._loops = [loop for loop in self._loops if not loop.task.done()]
        wanted = self.tuning.loops
        keep = [loop for loop in self._loops if not loop.stop.is_set()]
        for loop in keep[wanted:]:
            loop.stop.set()
        for _ in range(wanted - len(keep)):
            self._loops.append(self._launch())

    def _launch(self) -> _Loop:
        stop = asyncio.Event()
        task = asyncio.get_running_loop().create_task(self._engine.run(stop), name="crawl-loop")
        loop = _Loop(task=task, stop=stop)
        task.add_done_callback(lambda done: self._ended(done, stop))
        return loop

    def _ended(self, task: asyncio.Task[None], stop: asyncio.Event) -> None:
        """A loop that ends without being stopped is a bug: log it, and start another in its place."""
        error = None if task.cancelled() else task.exception()
        if stop.is_set() or self._draining:
            return
        self.restarts += 1
        log.error("loop_died", exc_info=error, restarts=self.restarts)
        asyncio.get_running_loop().call_later(min(self.restarts, 30) * self._restart_s, self._refit)

    def _refit(self) -> None:
        if not self._draining:
            self._fit()
