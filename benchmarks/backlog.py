"""Whether a large backlog slows anything down: a million requests that wait, with their markers, and many documents.

    python -m benchmarks backlog [--requests 1000000] [--documents 100000] [--rounds 5] [--turns 800] [--seconds 10]

Measured are pops, dedup look-ups (pushes of what waits already), look-ups and saves of known documents and saves of new
ones, each beside the least that the database does by itself (one document overwritten by its `_id`); with a thousand of
each before there is more, and then turn by turn with few and with many, because a machine is faster at one time than at
another. Besides, a worker process that is new: how soon it pops, how fast it goes through
whole cycles, and what memory it takes. Starts servers of its own, or uses those named in the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from benchmarks.mongo import API, NOW, a_document, as_stored
from benchmarks.servers import Servers, cpu_of, disk_mb_of, memory_mb_of, servers, tell
from ghcrawl.backend import Backend, mongo_settings, open_backend
from ghcrawl.ports.dedup import DedupMarker, new_token
from ghcrawl.ports.unit_of_work import Effects
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.message import Outgoing
from queues.amqp.queue import AmqpQueue
from queues.codec import encode
from queues.dedup_protocol import key_of
from stores.mongo.dedup import MongoDedupMarkers
from stores.mongo.driver import Mongo
from stores.mongo.writes import inserting
from tests.support.builders import a_type
from tests.support.lanes import LANES

FEW: Final = 1000
LOOPS: Final = 20
BATCH: Final = 1000
BATCHES_AT_ONCE: Final = 3
TELL_S: Final = 5.0
BROKER_GB: Final = 8
"""What a broker of our own may take. It keeps some bytes of each message in memory, and those of late ones whole."""
HELD: Final = 100
"""More than a process prefetches: so many at the head of the queue are not counted on."""


def a_request(number: int) -> Request:
    return Request(platform=LEGACY_PLATFORM, type="issue", url=f"{API}/{number}", asked_at=NOW)


def number_of(request: Request) -> int:
    return int(request.url.rpartition("/")[2])


@dataclass
class Side:
    """Queues with so many requests, and a store with so many documents. Request numbers wait from `low` to `high`."""

    name: str
    settings: Settings
    backend: Backend
    queue: AmqpQueue
    mongo: Mongo
    filling: Mongo
    documents: int = 0
    low: int = 0
    high: int = 0
    seen: Any = field(default_factory=lambda: count(1))
    new: Any = field(default_factory=lambda: count(10**9))


@asynccontextmanager
async def a_side(where: Servers) -> AsyncIterator[Side]:
    name = f"backlog-{uuid4().hex[:8]}"
    settings = where.settings(name, loops=LOOPS)
    async with open_backend(settings) as backend:
        careful = mongo_settings(settings.mongo)
        mongo, filling = await Mongo.open(careful), await Mongo.open(replace(careful, journal=False))
        queue = backend.queue
        assert isinstance(queue, AmqpQueue)
        side = Side(name, settings, backend, queue, mongo, filling)
        await backend.store.save(a_document(2 * 10**9))  # makes the collection, with its indexes
        try:
            yield side
        finally:
            await mongo.close()
            await filling.close()
            await where.forget(name, backend)


# Filling -----------------------------------------------------------------------------------------------------------


class Progress:
    """Says now and then how far it is, and how long the rest will take."""

    def __init__(self, what: str, wanted: int) -> None:
        self.rate = 0.0
        self._what = what
        self._wanted = wanted
        self._done = 0
        self._began = self._told = time.perf_counter()

    def add(self, number: int) -> None:
        """So many more are done."""
        self._done += number
        now = time.perf_counter()
        self.rate = self._done / (now - self._began)
        if now - self._told >= TELL_S or self._done == self._wanted:
            self._told = now
            left = (self._wanted - self._done) / self.rate
            tell(f"{self._what}: {self._done:,} of {self._wanted:,}, {self.rate:,.0f}/s, {left:,.0f} s left")


async def in_batches(numbers: range, put: Callable[[Sequence[int]], Awaitable[None]], what: str) -> float:
    """All of them are there. Returns how many were put a second."""
    progress, batches = Progress(what, len(numbers)), iter(range(0, len(numbers), BATCH))

    async def work() -> None:
        for start in batches:
            batch = numbers[start : start + BATCH]
            await put(batch)
            progress.add(len(batch))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(BATCHES_AT_ONCE):
            tasks.create_task(work())
    return progress.rate


async def fill(side: Side, requests: int, documents: int) -> dict[str, int]:
    """So many more wait and are stored, put there in bulk: what it comes to is the same as if they had been pushed."""

    async def put_requests(numbers: Sequence[int]) -> None:
        wanted, token = [a_request(number) for number in numbers], new_token()
        markers = [
            DedupMarker(
                key=key_of(r),
                token=token,
                queued=True,
                platform=r.platform,
                queue="normal",
                asked_at=NOW,
                not_before=None,
                at=NOW,
            )
            for r in wanted
        ]
        await MongoDedupMarkers(side.filling).insert(markers)
        work = side.queue.names.work
        await side.queue.link.send(
            [Outgoing(exchange=work, lane=Lane(r.platform, "normal"), body=encode(r), token=token) for r in wanted]
        )

    async def put_documents(numbers: Sequence[int]) -> None:
        await side.filling.bulk("issue", [inserting(as_stored(a_document(number))) for number in numbers])

    first, last = side.high, side.high + requests
    rates = await asyncio.gather(
        in_batches(range(first, last), put_requests, "requests"),
        in_batches(range(side.documents, side.documents + documents), put_documents, "documents"),
    )
    side.high, side.documents = last, side.documents + documents
    return {"requests_per_s": round(rates[0]), "documents_per_s": round(rates[1])}


# Turns -------------------------------------------------------------------------------------------------------------


class Pace(Struct, frozen=True):
    """Of some turns: how many a second, and what processor time each took of whom, in microseconds."""

    rate: float
    cpu_us: Mapping[str, float]


async def pace(turn: Callable[[], Awaitable[None]], turns: int, sessions: Mapping[str, int]) -> Pace:
    """Of so many turns, some at a time."""
    left = iter(range(turns))

    async def loop() -> None:
        for _ in left:
            await turn()

    began, spent, theirs = time.perf_counter(), time.process_time(), cpu_of(sessions)
    await asyncio.gather(*(loop() for _ in range(LOOPS)))
    passed, ours, after = time.perf_counter() - began, time.process_time() - spent, cpu_of(sessions)
    cpu_s = {"worker": ours} | {name: after[name] - theirs[name] for name in sessions}
    return Pace(turns / passed, {name: seconds / turns * 1e6 for name, seconds in cpu_s.items()})


Measure = Callable[[], Awaitable[Pace]]


def kinds(side: Side, turns: int, sessions: Mapping[str, int]) -> dict[str, Measure]:
    """Everything that might become slower, each as what measures its pace."""

    async def pop() -> None:
        delivery = await side.queue.pop(LANES, patience_s=60.0)
        assert delivery is not None
        side.low = max(side.low, number_of(delivery.request) + 1)
        await delivery.ack()

    async def bounce() -> None:
        number = random.randrange(side.low + HELD, side.high)
        pushed = await side.queue.push([Push(request=a_request(number), queue="normal")])
        assert pushed.bounced == 1, (side.name, side.low, side.high, number, pushed)

    async def change() -> None:
        number = random.randrange(side.documents)
        assert await side.backend.store.look_up(a_type("issue"), f"{API}/{number}") is not None
        await side.backend.store.save(a_document(number, seen=next(side.seen)))

    async def create() -> None:
        await side.backend.store.save(a_document(next(side.new)))

    async def overwrite() -> None:
        document = a_document(random.randrange(side.documents), seen=next(side.seen))
        assert await side.mongo.replace("issue", {"_id": document.urn}, as_stored(document))

    async def pops() -> Pace:
        found = await pace(pop, turns, sessions)
        await side.queue.push([Push(request=a_request(side.high + n), queue="normal") for n in range(turns)])
        side.high += turns
        return found

    return {
        "pops": pops,
        "dedup look-ups": lambda: pace(bounce, turns, sessions),
        "look-ups and saves": lambda: pace(change, turns, sessions),
        "saves of new": lambda: pace(create, turns, sessions),
        "the database alone": lambda: pace(overwrite, turns, sessions),
    }


Found = dict[str, list[Pace]]


async def turn_by_turn(sides: Sequence[Side], where: Servers, given: argparse.Namespace) -> list[Found]:
    """The paces of each side. Who begins changes from round to round."""
    measures = [kinds(side, given.turns, where.sessions) for side in sides]
    found: list[Found] = [{name: [] for name in each} for each in measures]
    for number in range(given.rounds):
        for name in measures[0]:
            for at in range(len(sides))[:: 1 if number % 2 else -1]:
                found[at][name].append(await measures[at][name]())
        tell(f"round {number + 1} of {given.rounds}")
    return found


def middle(found: Found) -> dict[str, Any]:
    """The median rate of each kind, and the median processor time of each process."""
    return {
        name: {
            "per_s": round(median(pace.rate for pace in paces)),
            "cpu_us": {who: round(median(pace.cpu_us[who] for pace in paces)) for who in paces[0].cpu_us},
        }
        for name, paces in found.items()
    }


def ratios(few: Found, many: Found) -> dict[str, float]:
    """Of the rates with many to those with few, round by round."""
    return {name: round(median(b.rate / a.rate for a, b in zip(few[name], many[name], strict=True)), 2) for name in few}


# A process of its own ----------------------------------------------------------------------------------------------


async def a_new_worker(side: Side, seconds: float) -> dict[str, float]:
    """How soon it pops, from before it exists; and then how it fares."""
    command = [sys.executable, "-m", "benchmarks.backlog", "--work", str(seconds), str(side.documents), str(side.high)]
    began = time.perf_counter()
    environment = {**os.environ, "BACKLOG_SETTINGS": settings_text(side)}
    worker = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, env=environment)
    assert worker.stdout is not None
    assert await worker.stdout.readline() == b"popped\n", "the new worker did not pop"
    first_pop_s = time.perf_counter() - began
    said: dict[str, float] = json.loads(await worker.stdout.read())
    assert await worker.wait() == 0
    side.low, side.high = side.low + int(said["cycles"]), side.high + int(said["cycles"])
    return {"first_pop_s": round(first_pop_s, 2)} | said


def settings_text(side: Side) -> str:
    """With what is secret, for a child of ours."""
    settings = side.settings
    whole = settings.model_dump(mode="json", include={"crawl", "queue", "store"})
    amqp = {"url": settings.amqp.url.get_secret_value(), "prefix": settings.amqp.prefix}
    mongo = {"url": settings.mongo.url.get_secret_value(), "database": settings.mongo.database}
    return json.dumps(whole | {"amqp": amqp, "mongo": mongo})


async def work(seconds: float, documents: int, high: int) -> None:
    """What a new worker does: pop, look up, push one follow-up, save, ack, in so many loops.

    high: the number of the first follow-up.
    """
    fresh = count(high)
    async with open_backend(Settings.model_validate_json(os.environ["BACKLOG_SETTINGS"])) as backend:
        delivery = await backend.queue.pop(LANES, patience_s=60.0)
        assert delivery is not None
        print("popped", flush=True)
        await delivery.release()
        deadline, cycles, before_mb = time.perf_counter() + seconds, 0, resident_mb()

        async def loop() -> None:
            nonlocal cycles
            while time.perf_counter() < deadline and (popped := await backend.queue.pop(LANES, patience_s=5.0)):
                number = random.randrange(documents)
                await backend.store.look_up(a_type("issue"), f"{API}/{number}")
                push = Push(request=a_request(next(fresh)), queue="normal")
                await backend.unit_of_work.commit(
                    popped, Effects(pushes=(push,), document=a_document(number, seen=cycles))
                )
                cycles += 1

        await asyncio.gather(*(loop() for _ in range(LOOPS)))
        after_mb = resident_mb()
        peak_mb = most_resident_mb()
    said = {"cycles": cycles, "began_mb": before_mb, "ended_mb": after_mb, "peak_mb": peak_mb}
    print(json.dumps({name: round(value, 1) for name, value in said.items()}), flush=True)


def resident_mb() -> float:
    """What this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024**2


def most_resident_mb() -> float:
    """The most it ever held. Not `ru_maxrss`, which begins with what its parent held."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))


# All of it ---------------------------------------------------------------------------------------------------------


def held(where: Servers) -> dict[str, dict[str, int]]:
    """What the servers take now, where they are ours."""
    memory, disk = memory_mb_of(where.sessions), disk_mb_of(where.folders)
    return {name: {"memory_mb": round(memory[name]), "disk_mb": round(disk[name])} for name in memory}


async def measure(where: Servers, given: argparse.Namespace) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        few = await stack.enter_async_context(a_side(where))
        await fill(few, FEW, FEW)
        worker_few = await a_new_worker(few, given.seconds)
        [before] = await turn_by_turn([few], where, given)
        many = await stack.enter_async_context(a_side(where))
        filled = await fill(many, given.requests, given.documents)
        servers_held = held(where)
        worker_many = await a_new_worker(many, given.seconds)
        at_few, at_many = await turn_by_turn([few, many], where, given)
        tell("emptying")
    return {
        "requests": given.requests,
        "documents": given.documents,
        "filled": filled,
        "servers": servers_held,
        "few before": middle(before),
        "few": middle(at_few),
        "many": middle(at_many),
        "ratio": ratios(at_few, at_many),
        "ratio to before": ratios(before, at_many),
        "new worker": {"few": worker_few, "many": worker_many},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=800)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--work", nargs=3, type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    configure_logging(level="warning", format="console", stream=sys.stderr)
    if given.work:
        asyncio.run(work(given.work[0], int(given.work[1]), int(given.work[2])))
        return
    with servers(broker_memory_gb=BROKER_GB) as where:
        print(json.dumps(asyncio.run(measure(where, given)), indent=2))


if __name__ == "__main__":
    main()
