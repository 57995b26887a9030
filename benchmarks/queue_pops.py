"""How fast requests are popped and acked from the SQLite queue, with little waiting and with a million waiting.

    python -m benchmarks.queue_pops [--waiting 1000000] [--pops 10000]

Both are measured in the same run, in turns, in CPU seconds of this process, which a busy machine disturbs least.
Prints one JSON object. `ratio` near 1 means that a long queue costs nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.clock import SystemClock
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.requests import Ancestor, Context, Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues import codec
from queues.sqlite import queue as sqlite_queue
from queues.sqlite.queue import SqliteQueue
from stores.sqlite import deadletters as sqlite_deadletters
from stores.sqlite.deadletters import SqliteDeadletters
from tests.support.lanes import LANES

LOOPS = 20
FEW = 1000
ROUNDS = 20
AT_ONCE = 2000


def a_push(number: int) -> Push:
    """A request of the usual size."""
    request = Request(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=f"https://api.github.com/repos/acme/web/issues/{number}",
        policy="default:repo@/issues",
        context=Context(
            qualifier="urn:repo:12",
            scope="acme/web",
            history=(
                Ancestor("org", "https://api.github.com/orgs/acme"),
                Ancestor("repo", "https://api.github.com/repos/acme/web"),
            ),
        ),
        root="org@https://api.github.com/orgs/acme",
    )
    return Push(request=request, queue=QUEUES[number % 5])


async def open_queue(path: Path) -> tuple[SqliteFile, SqliteQueue]:
    file = await SqliteFile.open(path, schema=(*sqlite_queue.SCHEMA, *sqlite_deadletters.SCHEMA))
    queue = SqliteQueue(file, SystemClock(), bury=SqliteDeadletters(file, codec).burying)
    await queue.take_over()
    return file, queue


async def fill(queue: SqliteQueue, start: int, stop: int) -> None:
    for first in range(start, stop, AT_ONCE):
        await queue.push([a_push(number) for number in range(first, min(stop, first + AT_ONCE))])


async def pops_per_cpu_second(queue: SqliteQueue, pops: int) -> float:
    """Twenty loops pop and ack until `pops` are done."""

    async def loop(share: int) -> None:
        for _ in range(share):
            delivery = await queue.pop(LANES, patience_s=1)
            assert delivery is not None
            await delivery.ack()

    began = time.process_time()
    await asyncio.gather(*(loop(pops // LOOPS) for _ in range(LOOPS)))
    return pops / (time.process_time() - began)


async def measure(waiting: int, pops: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        short_file, short = await open_queue(Path(directory) / "short.db")
        long_file, long = await open_queue(Path(directory) / "long.db")
        await fill(long, 0, waiting)
        await fill(short, 0, FEW)
        rates: dict[str, list[float]] = {"short": [], "long": []}
        number, share = waiting, pops // ROUNDS
        for _ in range(ROUNDS):
            for name, queue in (("short", short), ("long", long)):
                await fill(queue, number, number + share)
                number += share
                rates[name].append(await pops_per_cpu_second(queue, share))
        began = time.perf_counter()
        await long.depths()
        await long.is_empty()
        looked_s = time.perf_counter() - began
        await short_file.close()
        await long_file.close()
    few, many = statistics.median(rates["short"]), statistics.median(rates["long"])
    return {
        f"pops_per_cpu_s_with_{FEW}_waiting": round(few),
        f"pops_per_cpu_s_with_{waiting}_waiting": round(many),
        "ratio": round(many / few, 3),
        "depths_and_is_empty_ms": round(looked_s * 1000, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--pops", type=int, default=40_000)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.waiting, given.pops)), indent=2))


if __name__ == "__main__":
    main()
