"""One worker of a crawl of the graph, on RabbitMQ and some store: `python -m tests.faults.worker JSON`.

Ends in good order at SIGTERM, and says then how its loops fared. Dies where it was told to: `crash_at` is
`point:n`, the n-th time that it passes that point.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ghcrawl.backend import open_backend
from ghcrawl.engine.decision import Mounted
from ghcrawl.engine.loop import Engine, Ports
from ghcrawl.engine.supervisor import Supervisor
from ghcrawl.engine.weighted_order import draw
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.ports.store import Saved, Stored
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Fetched, Missing, Retrieved
from ghcrawl.values.requests import Request
from ghcrawl.values.tuning import Tuning
from queues.amqp.pops import AmqpDelivery
from queues.amqp.queue import AmqpQueue
from tests.faults.graph import ATTEMPTS, missing, number_of, platform, refuse, seen_at

POINTS = ("tag_inserted", "publishing", "published", "marked", "untagged", "fetched", "children", "saved", "acked")


class Assignment(Struct, frozen=True):
    """What a worker is told.

    settings: of ghcrawl. poison: the node that kills it. slow: the one that takes slow_s to fetch.
    naive: markers have one state, as in the protocol that loses. skew_s: how wrong its clock is.
    """

    settings: dict[str, Any]
    size: int
    journal: str
    name: str
    loops: int = 8
    fetch_s: float = 0.005
    poison: int = 0
    crash_at: str = ""
    naive: bool = False
    slow: int = 0
    slow_s: float = 0.0
    retry_s: float = 0.3
    skew_s: float = 0.0

    def text(self) -> str:
        return json.dumps(asdict(self))


class Journal:
    """What every worker did, a line each, in one file."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def say(self, *words: object) -> None:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())

    def settled(self, settled: Settled) -> None:
        request = settled.request
        self.say("settled", number_of(request.url), settled.outcome, request.attempt, settled.reason or "-")

    def called(self, call: Call) -> None:
        pass


class Fetcher:
    def __init__(self, assignment: Assignment, journal: Journal, clock: Clock) -> None:
        self._assignment = assignment
        self._journal = journal
        self._clock = clock

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        number, version, asked_at = number_of(request.url), time.time_ns(), self._clock.now()
        self._journal.say("fetch", number, version, request.attempt)
        if number == self._assignment.poison:
            os._exit(137)
        await asyncio.sleep(self._assignment.slow_s if number == self._assignment.slow else self._assignment.fetch_s)
        observed_at = datetime.now(UTC)
        if missing(number):
            return Missing(status=404, detail="no such node", observed_at=observed_at)
        refuse(request)
        return Fetched(body=seen_at(number, version), url=request.url, observed_at=observed_at, checked_at=asked_at)

    def blocked_until(self) -> datetime | None:
        return None

    def credential_digest(self) -> str:
        return "everybody"


class Clock(SystemClock):
    """This machine's time, wrong by so much."""

    def __init__(self, skew_s: float) -> None:
        self._skew_s = skew_s

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time() + self._skew_s, UTC)


class Crash:
    """Ends the process the n-th time that it passes the point."""

    def __init__(self, crash_at: str) -> None:
        self._point, _, times = crash_at.partition(":")
        self._left = int(times or 1)

    def after(self, thing: Any, method: str, point: str) -> None:
        """What `thing.method` did, it did."""
        if point != self._point:
            return
        real: Callable[..., Awaitable[Any]] = getattr(thing, method)

        async def done(*args: Any, **named: Any) -> Any:
            result = await real(*args, **named)
            self._left -= 1
            if not self._left:
                os._exit(137)
            return result

        setattr(thing, method, done)

    def place(self, queue: AmqpQueue, store: Any) -> None:
        markers, publisher = queue._markers, queue.link
        self.after(markers, "insert", "tag_inserted")
        self.after(publisher, "_send", "publishing")
        self.after(publisher, "send", "published")
        self.after(markers, "confirm", "marked")
        self.after(markers, "delete", "untagged")
        self.after(queue, "push", "children")
        self.after(store, "save", "saved")
        self.after(queue.pops, "settle", "acked")


def write_down(journal: Journal, queue: AmqpQueue, store: Any) -> None:
    """Which copies work was begun on, and which versions of what the store answered for."""
    pop, save = queue.pop, store.save

    async def begun(*args: Any, **named: Any) -> AmqpDelivery | None:
        delivery = await pop(*args, **named)
        if delivery is not None:
            journal.say("begun", delivery.name)
        return delivery

    async def saved(document: Document, **named: Any) -> Saved:
        result: Saved = await save(document, **named)
        journal.say("saved", document.body["number"], document.body["version"], result)
        return result

    queue.pop = begun  # type: ignore[method-assign]  # what it is told to pop, it pops
    store.save = saved


def one_state(markers: Any) -> None:
    """A marker that is queued from the beginning, whether or not its copy ever is."""
    insert = markers.insert

    async def queued(some: list[DedupMarker]) -> Any:
        return await insert([replace(marker, queued=True) for marker in some])

    markers.insert = queued


async def tell(path: str, queue: AmqpQueue) -> None:
    """Keep a file up to date that says how many messages are held here, in hand or not."""
    while True:
        Path(path).write_text(str(len(queue.pops.in_flight) + len(queue.held())))  # noqa: ASYNC240  # a byte or two
        await asyncio.sleep(0.2)


async def work(assignment: Assignment) -> None:
    journal, clock, stop = Journal(assignment.journal), Clock(assignment.skew_s), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with open_backend(Settings.model_validate(assignment.settings), clock=clock) as backend:
        queue = backend.queue
        assert isinstance(queue, AmqpQueue)
        await queue.take_over()
        write_down(journal, queue, backend.store)
        fetcher, crash = Fetcher(assignment, journal, clock), Crash(assignment.crash_at)
        crash.place(queue, backend.store)
        crash.after(fetcher, "fetch", "fetched")
        if assignment.naive:
            one_state(queue._markers)
        ports = Ports(
            queue=queue,
            store=backend.store,
            unit_of_work=backend.unit_of_work,
            clock=clock,
            observer=journal,
            draw=draw,
        )
        tuning = Tuning(
            loops=assignment.loops,
            max_attempts=ATTEMPTS,
            retry_base_s=assignment.retry_s,
            retry_cap_s=3 * assignment.retry_s,
        )
        engine = Engine(
            (Mounted(platform=platform(assignment.size), fetcher=fetcher),),
            ports,
            tuning=tuning,
            worker=assignment.name,
        )
        supervisor = Supervisor(engine, clock)
        supervisor.start()
        telling = asyncio.create_task(tell(f"{assignment.journal}.{assignment.name}", queue))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await stop.wait()
        running, in_hand = supervisor.running, len(queue.pops.in_flight)
        drained = await supervisor.drain(10.0)
        telling.cancel()
    said = {"running": running, "in_hand": in_hand, "restarts": supervisor.restarts, "drained": drained}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    configure_logging(level="info", format="json", stream=sys.stderr)
    asyncio.run(work(Assignment(**json.loads(sys.argv[1]))))
