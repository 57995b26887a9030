"""How fast a process works on RabbitMQ and MongoDB, against a loop written by hand on bare aio-pika and motor.

    python -m benchmarks amqp [--seconds 5] [--rounds 3] [--store mongo|sqlite|memory] [--backlog 100000]

One cycle pops a request, saves a document, pushes one follow-up and acks. By hand it is the same without markers,
headers, order of queues, or anything else that makes it safe; its saves promise as much. Both take turns, and the
medians are compared, with the processor time that each process spends on a cycle. `--backlog` measures besides how it
goes with so many waiting on RabbitMQ while documents and markers are in SQLite.

Runs on servers of its own, or on those that the environment names. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

import aio_pika
from aio_pika.abc import AbstractIncomingMessage
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import WriteConcern

from benchmarks.servers import Servers, cpu_of, servers, tell
from ghcrawl.backend import Backend, open_backend
from ghcrawl.ports.unit_of_work import Effects
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.jsontext import digest
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.codec import decode, encode
from tests.support.builders import NOW
from tests.support.lanes import LANES

LOOPS: Final = 50
STOCK: Final = 200
"""Requests that are there from the beginning; each cycle takes one and leaves one."""


def a_request(number: int) -> Request:
    return Request(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=f"https://api.example.test/repos/acme/web/issues/{number}",
        asked_at=NOW,
    )


def a_document(request: Request) -> Document:
    body = {"url": request.url, "title": "x" * 300}
    urn = f"urn:repo:12:issue:{request.url.rpartition('/')[2]}"
    return Document(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=request.url,
        urn=urn,
        body=body,
        links={"self": Link(type="resource", href=urn)},
        observed_at=NOW,
        fetched_at=NOW,
        processed_at=NOW,
        version=1,
        digest=digest(body),
    )


Cycle = Callable[[], Awaitable[None]]
Keep = Callable[[Document], Awaitable[None]]
Pace = Mapping[str, Any]


async def timed(cycle: Cycle, seconds: float, sessions: Mapping[str, int]) -> Pace:
    """So many loops of it for so long: cycles a second, and the processor time that each process takes for one."""
    loop = asyncio.get_running_loop()
    cycles, deadline = 0, loop.time() + seconds

    async def turn() -> None:
        nonlocal cycles
        while loop.time() < deadline:
            await cycle()
            cycles += 1

    began, spent, theirs = time.perf_counter(), time.process_time(), cpu_of(sessions)
    await asyncio.gather(*(turn() for _ in range(LOOPS)))
    passed, ours, after = time.perf_counter() - began, time.process_time() - spent, cpu_of(sessions)
    cpu_s = {"worker": ours} | {name: after[name] - theirs[name] for name in sessions}
    return {
        "per_s": round(cycles / passed),
        "cpu_us": {name: round(taken / max(cycles, 1) * 1e6) for name, taken in cpu_s.items()},
    }


# By hand -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def by_hand(where: Servers, keep: Keep, numbers: Any) -> AsyncIterator[Cycle]:
    name = f"bench-{uuid4().hex[:8]}"
    consuming, publishing = [await aio_pika.connect_robust(where.amqp_url) for _ in range(2)]
    source, sink = await consuming.channel(), await publishing.channel(on_return_raises=True)
    await source.set_qos(prefetch_count=LOOPS + 2)
    queue = await source.declare_queue(name, durable=True, arguments={"x-queue-type": "quorum"})
    arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()

    async def push(request: Request) -> None:
        message = aio_pika.Message(encode(request), delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await sink.default_exchange.publish(message, routing_key=name)

    async def cycle() -> None:
        message = await arrived.get()
        document = a_document(decode(message.body))
        await push(a_request(next(numbers)))
        await keep(document)
        await message.ack()

    for _ in range(STOCK):
        await push(a_request(next(numbers)))
    tag = await queue.consume(arrived.put)
    try:
        yield cycle
    finally:
        await queue.cancel(tag)
        await source.queue_delete(name)
        await consuming.close()
        await publishing.close()


@asynccontextmanager
async def kept_by_hand(where: Servers, store: str) -> AsyncIterator[Keep]:
    """Where documents go: into MongoDB, or into a dictionary."""
    kept: dict[str, Document] = {}

    async def remember(document: Document) -> None:
        kept[document.urn] = document

    if store != "mongo":
        yield remember
        return
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(where.mongo_url)
    name = f"bench-{uuid4().hex[:8]}"
    collection = client.get_database(name, write_concern=WriteConcern(w="majority", j=True))["issue"]

    async def replace(document: Document) -> None:
        row = {"_id": document.urn, **document.body, "_metadata": document.metadata()}
        await collection.replace_one({"_id": document.urn}, row, upsert=True)

    try:
        yield replace
    finally:
        await client.drop_database(name)
        client.close()


# Ours --------------------------------------------------------------------------------------------------------


def settings(where: Servers, name: str, store: str, folder: str) -> Settings:
    wanted = where.settings(name, loops=LOOPS).model_dump(include={"crawl", "queue", "amqp", "mongo"})
    sqlite = {"path": str(Path(folder) / "bench.db"), "synchronous": "normal"}
    return Settings.model_validate({**wanted, "store": {"provider": store}, "sqlite": sqlite})


def cycle_of(backend: Backend, numbers: Any) -> Cycle:
    async def cycle() -> None:
        delivery = await backend.queue.pop(LANES, patience_s=5.0)
        if delivery is not None:
            push = Push(request=a_request(next(numbers)), queue="normal")
            effects = Effects(pushes=(push,), document=a_document(delivery.request))
            await backend.unit_of_work.commit(delivery, effects)

    return cycle


async def fill(backend: Backend, numbers: Any, wanted: int) -> None:
    for start in range(0, wanted, 500):
        pushes = [Push(request=a_request(next(numbers)), queue="normal") for _ in range(min(500, wanted - start))]
        await backend.queue.push(pushes)


@asynccontextmanager
async def ours(where: Servers, store: str) -> AsyncIterator[Settings]:
    """Settings for queues and documents of which nothing is left afterwards."""
    name = f"bench-{uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory() as folder:
        wanted = settings(where, name, store, folder)
        try:
            yield wanted
        finally:
            async with open_backend(wanted) as backend:
                await where.forget(name, backend)


# Figures -----------------------------------------------------------------------------------------------------


async def against_by_hand(where: Servers, given: argparse.Namespace) -> dict[str, Any]:
    """Turn by turn, because a machine is faster at one time than at another."""
    hand, own, numbers = [], [], count(1)
    async with (
        ours(where, given.store) as wanted,
        open_backend(wanted) as backend,
        kept_by_hand(where, given.store) as keep,
        by_hand(where, keep, numbers) as theirs,
    ):
        await fill(backend, numbers, STOCK)
        for number in range(given.rounds):
            hand.append(await timed(theirs, given.seconds, where.sessions))
            own.append(await timed(cycle_of(backend, numbers), given.seconds, where.sessions))
            tell(f"round {number + 1} of {given.rounds}: {own[-1]['per_s']}/s, {hand[-1]['per_s']}/s by hand")
    return {
        "by_hand": middle(hand),
        "ours": middle(own),
        "ratio": round(median(b["per_s"] / a["per_s"] for a, b in zip(hand, own, strict=True)), 2),
    }


def middle(paces: Sequence[Pace]) -> dict[str, Any]:
    names = paces[0]["cpu_us"]
    return {
        "per_s": median(pace["per_s"] for pace in paces),
        "cpu_us": {name: median(pace["cpu_us"][name] for pace in paces) for name in names},
    }


async def with_backlog(where: Servers, given: argparse.Namespace) -> dict[str, Any]:
    """As fast with much waiting as with little, and how soon a new process has something to do."""
    numbers = count(1)
    async with ours(where, "sqlite") as wanted:
        async with open_backend(wanted) as backend:
            await fill(backend, numbers, 1000)
            little = await timed(cycle_of(backend, numbers), given.seconds, where.sessions)
            began = time.perf_counter()
            await fill(backend, numbers, given.backlog)
            filled = {"fill_per_s": round(given.backlog / (time.perf_counter() - began))}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        async with open_backend(wanted) as backend:
            delivery = await backend.queue.pop(LANES, patience_s=30.0)
            first_pop_s = time.perf_counter() - began
            assert delivery is not None
            await delivery.release()
            much = await timed(cycle_of(backend, numbers), given.seconds, where.sessions)
            grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    return {
        "waiting": given.backlog,
        "little": little,
        "much": much,
        "ratio": round(much["per_s"] / little["per_s"], 2),
        "first_pop_s": round(first_pop_s, 2),
        "grown_mb": round(grown_mb, 1),
        **filled,
    }


async def measure(where: Servers, given: argparse.Namespace) -> dict[str, Any]:
    found = {"against_by_hand": await against_by_hand(where, given)}
    return found | ({"backlog": await with_backlog(where, given)} if given.backlog else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", choices=("mongo", "sqlite", "memory"), default="mongo")
    parser.add_argument("--backlog", type=int, default=0)
    given = parser.parse_args()
    configure_logging(level="warning", format="console", stream=sys.stderr)
    with servers() as where:
        print(json.dumps(asyncio.run(measure(where, given)), indent=2))


if __name__ == "__main__":
    main()
