"""A crawl of the graph in one process on one SQLite file: `python -m tests.faults.embedded JSON`.

What it does when the disk is full: it makes room by a command, and goes on as if nothing had been.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from ghcrawl.backend import Backend, open_backend
from ghcrawl.engine.decision import Mounted
from ghcrawl.engine.loop import Engine, Ports
from ghcrawl.engine.supervisor import Supervisor
from ghcrawl.engine.weighted_order import draw
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.queue import Delivery
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.values.errors import QueueError, StoreError
from ghcrawl.values.requests import Push
from ghcrawl.values.tuning import Tuning
from tests.faults.graph import ATTEMPTS, node, platform
from tests.faults.worker import Assignment, Clock, Fetcher, Journal

FULL = "no space left"


class Alone(Struct, frozen=True):
    """What the process is told.

    max_mb: how far the file may grow; 0: as far as the disk goes. room: the command that makes room on the disk; empty:
    end once it is full. begins: whether the first node is to be asked for.
    """

    path: str
    journal: str
    size: int
    max_mb: int = 0
    room: tuple[str, ...] = ()
    begins: bool = True

    def text(self) -> str:
        return json.dumps(asdict(self))

    def settings(self) -> Settings:
        sqlite = {"path": self.path, "max_mb": self.max_mb}
        return Settings.model_validate({"queue": {"provider": "sqlite"}, "sqlite": sqlite})


class Watched:
    """The backend's ledger; it is known whether it ever found the disk full."""

    def __init__(self, backend: Backend) -> None:
        self.full = asyncio.Event()
        self._unit_of_work = backend.unit_of_work

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        try:
            return await self._unit_of_work.commit(delivery, effects)
        except (QueueError, StoreError) as error:
            if FULL in str(error):
                self.full.set()
            raise


async def crawl(told: Alone) -> bool:
    """Crawl until nothing waits, or until the disk is full and nothing makes room. Returns whether it was full."""
    journal, clock = Journal(told.journal), SystemClock()
    async with open_backend(told.settings(), clock=clock) as backend:
        unit_of_work = Watched(backend)
        if told.begins:
            await backend.queue.push([Push(request=node(1, datetime.now(UTC)), queue="normal")])
        assignment = Assignment(settings={}, size=told.size, journal=told.journal, name="alone", fetch_s=0.0)
        ports = Ports(
            queue=backend.queue,
            store=backend.store,
            unit_of_work=unit_of_work,
            clock=clock,
            observer=journal,
            draw=draw,
        )
        mounted = Mounted(platform=platform(told.size), fetcher=Fetcher(assignment, journal, Clock(0.0)))
        tuning = Tuning(loops=8, max_attempts=ATTEMPTS, retry_base_s=0.2, retry_cap_s=0.5)
        supervisor = Supervisor(Engine((mounted,), ports, tuning=tuning, worker="alone"), clock)
        supervisor.start()
        try:
            await _until_done(supervisor, backend, unit_of_work, told.room)
        finally:
            await supervisor.drain(10.0)
        assert supervisor.restarts == 0
    return unit_of_work.full.is_set()


async def _until_done(supervisor: Supervisor, backend: Backend, unit_of_work: Watched, room: tuple[str, ...]) -> None:
    empty = asyncio.create_task(supervisor.until_empty(backend.queue))
    full = asyncio.create_task(unit_of_work.full.wait())
    await asyncio.wait([empty, full], return_when=asyncio.FIRST_COMPLETED)
    if full.done() and not room:
        empty.cancel()
        return
    if full.done():
        await asyncio.to_thread(subprocess.run, room, check=True)
    await empty
    full.cancel()


if __name__ == "__main__":
    configure_logging(level="info", format="json", stream=sys.stderr)
    said = json.loads(sys.argv[1])
    was_full = asyncio.run(crawl(Alone(**said | {"room": tuple(said["room"])})))
    Path(f"{said['journal']}.full").write_text(str(was_full))
