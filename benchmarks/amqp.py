"""How fast a process works through RabbitMQ, against a loop written by hand on bare aio-pika, and with a backlog.

    python -m benchmarks.amqp [--seconds 5] [--backlog 100000] [--store memory|sqlite]

One cycle pops a request, saves a document, pushes one follow-up and acks. By hand it is the same without tags, headers,
order of queues, or anything else that makes it safe. Uses GHCRAWL_TEST_AMQP_URL, or starts a broker of its own.
Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

import aio_pika
from aio_pika.abc import AbstractIncomingMessage

from ghcrawl.backend import Backend, open_backend
from ghcrawl.model import QUEUES, Document, Link, Push, Request, digest
from ghcrawl.ports import Effects
from ghcrawl.settings import Settings
from queues.amqp import AmqpQueue
from queues.codec import decode, encode
from tests.support.builders import NOW
from tests.support.services.fixtures import keeper
from tests.support.services.rabbitmq import Broker, Server
from tests.support.services.wanted import AMQP_URL, MANAGEMENT_URL, distribution

LOOPS: Final = 50
ROUNDS: Final = 3
STOCK: Final = 200
"""Requests that are there from the beginning; each cycle takes one and leaves one."""


def a_request(number: int) -> Request:
    return Request(type="issue", url=f"https://api.example.test/repos/acme/web/issues/{number}", asked_at=NOW)


def a_document(request: Request) -> Document:
    body = {"url": request.url, "title": "x" * 300}
    urn = f"urn:repo:12:issue:{request.url.rpartition('/')[2]}"
    return Document(
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


async def timed(cycle: Cycle, seconds: float) -> dict[str, float]:
    """So many loops of it for so long: cycles a second, and processor time of each."""
    loop = asyncio.get_running_loop()
    cycles, deadline = 0, loop.time() + seconds

    async def turn() -> None:
        nonlocal cycles
        while loop.time() < deadline:
            await cycle()
            cycles += 1

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(turn() for _ in range(LOOPS)))
    spent = time.process_time() - cpu
    return {"per_s": round(cycles / (time.perf_counter() - began)), "us_cpu": round(spent / max(cycles, 1) * 1e6)}


# By hand -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def by_hand(server: Server, numbers: Any) -> AsyncIterator[Cycle]:
    name, kept = f"bench-{uuid4().hex[:8]}", {}
    consuming, publishing = await aio_pika.connect_robust(server.url), await aio_pika.connect_robust(server.url)
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
        kept[document.urn] = document
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


# Ours --------------------------------------------------------------------------------------------------------


def settings(server: Server, prefix: str, store: str, folder: Path) -> Settings:
    return Settings.model_validate(
        {
            "crawl": {"loops": LOOPS},
            "queue": {"provider": "amqp"},
            "amqp": {"url": server.url, "management_url": server.management_url, "prefix": prefix},
            "store": {"provider": store},
            "sqlite": {"path": str(folder / "bench.db"), "synchronous": "normal"},
        }
    )


def cycle_of(backend: Backend, numbers: Any) -> Cycle:
    async def cycle() -> None:
        delivery = await backend.queue.pop(QUEUES, patience_s=5.0)
        if delivery is not None:
            push = Push(request=a_request(next(numbers)), queue="normal")
            effects = Effects(pushes=(push,), document=a_document(delivery.request))
            await backend.ledger.commit(delivery, effects)

    return cycle


async def fill(backend: Backend, numbers: Any, wanted: int) -> None:
    for start in range(0, wanted, 500):
        pushes = [Push(request=a_request(next(numbers)), queue="normal") for _ in range(min(500, wanted - start))]
        await backend.queue.push(pushes)


async def clear(backend: Backend) -> None:
    assert isinstance(backend.queue, AmqpQueue)
    channel = await backend.queue.link.raw_channel()
    for spec in backend.queue.names.specs():
        await channel.queue_delete(spec.name)
        await channel.exchange_delete(spec.exchange)


# Figures -----------------------------------------------------------------------------------------------------


async def against_by_hand(server: Server, seconds: float, store: str) -> dict[str, Any]:
    """Turn by turn, because a machine is faster at one time than at another."""
    hand, ours, numbers = [], [], count(1)
    with tempfile.TemporaryDirectory() as folder:
        wanted = settings(server, f"bench-{uuid4().hex[:8]}", store, Path(folder))
        async with open_backend(wanted) as backend, by_hand(server, numbers) as theirs:
            await fill(backend, numbers, STOCK)
            for _ in range(ROUNDS):
                hand.append(await timed(theirs, seconds))
                ours.append(await timed(cycle_of(backend, numbers), seconds))
            await clear(backend)
    figures = {"by_hand": middle(hand), "ours": middle(ours)}
    ratio = {
        "ratio": round(figures["ours"]["per_s"] / figures["by_hand"]["per_s"], 2),
        "ratio_by_cpu": round(figures["by_hand"]["us_cpu"] / figures["ours"]["us_cpu"], 2),
    }
    return figures | ratio


def middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(each[name] for each in rounds) for name in rounds[0]}


async def with_backlog(server: Server, seconds: float, backlog: int) -> dict[str, Any]:
    """As fast with much waiting as with little, and how soon a new process has something to do."""
    numbers = count(1)
    with tempfile.TemporaryDirectory() as folder:
        wanted = settings(server, f"bench-{uuid4().hex[:8]}", "sqlite", Path(folder))
        async with open_backend(wanted) as backend:
            await fill(backend, numbers, 1000)
            little = await timed(cycle_of(backend, numbers), seconds)
            began = time.perf_counter()
            await fill(backend, numbers, backlog)
            filled = {"fill_per_s": round(backlog / (time.perf_counter() - began))}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        async with open_backend(wanted) as backend:
            delivery = await backend.queue.pop(QUEUES, patience_s=30.0)
            first_pop_s = time.perf_counter() - began
            assert delivery is not None
            await delivery.release()
            much = await timed(cycle_of(backend, numbers), seconds)
            grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
            await clear(backend)
    return {
        "waiting": backlog,
        "little": little,
        "much": much,
        "ratio": round(much["per_s"] / little["per_s"], 2),
        "first_pop_s": round(first_pop_s, 2),
        "grown_mb": round(grown_mb, 1),
        **filled,
    }


async def measure(server: Server, given: argparse.Namespace) -> dict[str, Any]:
    return {
        "against_by_hand": await against_by_hand(server, given.seconds, given.store),
        "backlog": await with_backlog(server, given.seconds, given.backlog),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--backlog", type=int, default=100_000)
    parser.add_argument("--store", choices=("memory", "sqlite"), default="memory")
    given = parser.parse_args()
    url, management_url = os.environ.get(AMQP_URL), os.environ.get(MANAGEMENT_URL, "")
    if url:
        print(json.dumps(asyncio.run(measure(Server(url=url, management_url=management_url), given)), indent=2))
        return
    with keeper("benchmark") as kept:
        broker = Broker(kept, distribution())
        broker.start()
        os.environ[AMQP_URL] = broker.server.url
        print(json.dumps(asyncio.run(measure(broker.server, given)), indent=2))


if __name__ == "__main__":
    main()
