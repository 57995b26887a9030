"""One worker process against three, `ghcrawl serve` each, on RabbitMQ and a server that speaks MongoDB's protocol.

    python -m benchmarks processes [--requests 20000] [--seconds 10] [--loops 50] [--rounds 2]

The work is what a webhook or a list brings: requests that carry their bodies, so that nothing but pop, process, save
and ack is measured, with all that the service does besides. Printed are the rates, their ratio, and the processor time
that each process took: where three are not three times as fast as one, that says who had none left. Servers that are
named in the environment are used, and their share then is in the machine's alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from benchmarks.mongo import NOW, a_document
from benchmarks.servers import Servers, cpu_of, machine_s, servers, tell
from ghcrawl.backend import Backend, open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Context, Payload, Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.connection import AmqpLink
from queues.amqp.queue import AmqpQueue

NOWHERE: Final = "http://127.0.0.1:9"
START_S: Final = 120.0


def a_request(number: int) -> Request:
    """An issue as a list brings it."""
    document = a_document(number)
    body = {**document.body, "repository_url": document.url.rpartition("/issues")[0]}
    return Request(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=document.url,
        policy="default:self",
        context=Context(qualifier="urn:repo:12", scope="acme/web"),
        payload=Payload.of(body, origin="list", observed_at=NOW + timedelta(seconds=number)),
        asked_at=NOW,
    )


class Run(Struct, frozen=True):
    """rate: requests a second. cpu_s: processor time of each, a second. machine: how busy all cores were, of 1."""

    rate: float
    cpu_s: Mapping[str, float]
    machine: float


async def run(where: Servers, processes: int, given: argparse.Namespace, folder: Path) -> Run:
    name = f"processes-{uuid4().hex[:8]}"
    async with open_backend(where.settings(name)) as backend:
        try:
            await fill(backend, given.requests)
            workers = [await a_worker(where, name, given.loops, folder, n) for n in range(processes)]
            try:
                sessions = {**where.sessions, **{f"worker {n + 1}": worker.pid for n, worker in enumerate(workers)}}
                found = await watch(backend, processes, sessions, given.seconds)
            finally:
                for worker in workers:
                    worker.send_signal(signal.SIGTERM)
                statuses = [await worker.wait() for worker in workers]
            assert statuses == [0] * processes, f"workers ended with {statuses}: see what they said in {folder}"
            assert (await backend.deadletters.count(DeadletterFilter())).total == 0
        finally:
            await where.forget(name, backend)
    return found


async def fill(backend: Backend, requests: int) -> None:
    for start in range(0, requests, 2000):
        numbers = range(start, min(start + 2000, requests))
        await backend.queue.push([Push(request=a_request(number), queue="event") for number in numbers])
        tell(f"{numbers.stop:,} of {requests:,} wait")


async def a_worker(where: Servers, name: str, loops: int, folder: Path, number: int) -> asyncio.subprocess.Process:
    settings = {
        "CRAWL__LOOPS": loops,
        "QUEUE__PROVIDER": "amqp",
        "AMQP__URL": where.amqp_url,
        "AMQP__MANAGEMENT_URL": where.management_url,
        "AMQP__PREFIX": name,
        "STORE__PROVIDER": "mongo",
        "MONGO__URL": where.mongo_url,
        "MONGO__DATABASE": name,
        "GITHUB__API_URL": NOWHERE,
        "SERVICE__PORT": 0,
        "SERVICE__METRICS_PORT": 0,
        "TOKENS": "ghp_" + "0" * 36,
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(Path.cwd())}
    environment |= {f"GHCRAWL_{name}": str(value) for name, value in settings.items()}
    with (folder / f"{name}-{number}.log").open("wb") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "ghcrawl", "serve", env=environment, stdout=log, stderr=log, start_new_session=True
        )


async def watch(backend: Backend, processes: int, sessions: Mapping[str, int], seconds: float) -> Run:
    """What is done from when all pop until so much later, or until nothing waits."""
    assert isinstance(backend.queue, AmqpQueue)
    link, queue = backend.queue.link, backend.queue.names.queue(Lane(LEGACY_PLATFORM, "event"))
    await all_there(link, queue, processes)
    began, waited, before, machine = time.perf_counter(), await link.ready_count(queue), cpu_of(sessions), machine_s()
    left = waited
    while left and time.perf_counter() - began < seconds:
        await asyncio.sleep(0.1)  # the broker tells nobody how much waits
        left = await link.ready_count(queue)
    passed = time.perf_counter() - began
    after, (worked, had) = cpu_of(sessions), (b - a for a, b in zip(machine, machine_s(), strict=True))
    cpu_s = {name: round((after[name] - before[name]) / passed, 2) for name in sessions}
    return Run((waited - left) / passed, cpu_s, worked / had)


async def all_there(link: AmqpLink, queue: str, processes: int) -> None:
    async with asyncio.timeout(START_S):
        while ((await link.declared(queue)).consumer_count or 0) < processes:  # noqa: ASYNC110  # RabbitMQ has no event for it
            await asyncio.sleep(0.05)


def middle(runs: Sequence[Run]) -> dict[str, Any]:
    rate = median(each.rate for each in runs)
    cpu_s = {name: round(median(each.cpu_s[name] for each in runs), 2) for name in runs[0].cpu_s}
    return {
        "per_s": round(rate),
        "cpu_s_per_s": cpu_s,
        "cpu_ms_per_request": {name: round(spent / rate * 1000, 2) for name, spent in cpu_s.items()},
        "machine_busy": round(median(each.machine for each in runs), 2),
    }


async def measure(where: Servers, given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Turn by turn, because a machine is faster at one time than at another."""
    runs: dict[int, list[Run]] = {1: [], 3: []}
    for number in range(given.rounds):
        for processes, found in runs.items():
            found.append(await run(where, processes, given, folder))
            tell(f"round {number + 1} of {given.rounds}, {processes} at work: {found[-1].rate:,.0f}/s")
    one, three = middle(runs[1]), middle(runs[3])
    return {
        "cores": os.cpu_count(),
        "one": one,
        "three": three,
        "ratio": round(median(b.rate / a.rate for a, b in zip(runs[1], runs[3], strict=True)), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--loops", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    configure_logging(level="warning", format="console", stream=sys.stderr)
    with servers() as where, tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(where, given, Path(folder))), indent=2))


if __name__ == "__main__":
    main()
