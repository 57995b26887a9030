"""What it costs to choose which sources to ask again, with few of them and with a hundred thousand.

    python -m benchmarks.choosing [--sources 100000] [--calls-per-hour 12000] [--ticks 10]

The ticker as it ships, on an embedded file: read the candidates, choose, lease, queue, and learn from each answer. Both
sizes take turns in one run, in CPU seconds of this process, all threads. Prints one JSON object; `ms_cpu_a_call` is the
choice alone, `ratio` near 1 means that many sources cost no more than few.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from ghcrawl.backend import open_backend
from ghcrawl.schedule.asking import watched
from ghcrawl.settings.sections import Settings
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import Estimate, WatchedSource, days
from tests.support.scheduled import FEED, MINUTE, World, a_blog

FEW: Final = 1000
AT_ONCE: Final = 5000


@dataclass(slots=True)
class Cost:
    """CPU seconds and calls of the ticks so far."""

    choosing_s: float = 0.0
    answering_s: float = 0.0
    calls: int = 0

    def row(self, sources: int) -> dict[str, float]:
        """The figures of one size."""
        calls = max(self.calls, 1)
        return {
            "sources": sources,
            "calls": self.calls,
            "ms_cpu_a_call": round(self.choosing_s / calls * 1000, 3),
            "ms_cpu_an_answer": round(self.answering_s / calls * 1000, 3),
        }


async def fill(world: World, sources: int) -> None:
    """Sources of very different pace that were read within the last day."""
    now, random = days(world.clock.now()), Random(1)
    for begin in range(0, sources, AT_ONCE):
        named = [watched("web", FEED, a_blog(number)) for number in range(begin, min(begin + AT_ONCE, sources))]
        await world.sources.add([_known(each, now, random) for each in named])
    await world.name("first")


def _known(source: WatchedSource, now: float, random: Random) -> WatchedSource:
    rate, last = random.lognormvariate(-1.0, 1.5), now - random.random()
    estimate = Estimate(last=last, slow_items=rate * 20, slow_days=20.0, fast_items=rate, fast_days=1.0)
    return replace(source, estimate=estimate, due=now + random.uniform(-0.01, 1.0))


async def tick(world: World, cost: Cost) -> None:
    """One minute: a turn, and an answer to everything that was asked."""
    [ticker] = world.tickers
    began = time.process_time()
    ticked = await ticker.turn()
    cost.choosing_s += time.process_time() - began
    cost.calls += ticked.asked if ticked else 0
    waiting = await world.popped()
    world.rates |= {request.url: 1.0 for request in waiting}
    began = time.process_time()
    await world.answer(ticker, waiting)
    cost.answering_s += time.process_time() - began
    world.pass_time(MINUTE)


async def measure(asked: argparse.Namespace) -> dict[str, object]:
    sizes = (min(FEW, asked.sources), asked.sources)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        worlds = []
        for place, sources in enumerate(sizes):
            settings = Settings.model_validate({"sqlite": {"path": str(folder / f"{place}.db")}})
            backend = await stack.enter_async_context(open_backend(settings, platforms=["web"]))
            worlds.append(World(calls=asked.calls_per_hour, places=[backend]))
            await fill(worlds[-1], sources)
        costs: list[list[Cost]] = [[], []]
        for _ in range(asked.ticks):
            for world, spent in zip(worlds, costs, strict=True):
                spent.append(Cost())
                await tick(world, spent[-1])
    rows = [_median(spent[1:] or spent).row(sources) for spent, sources in zip(costs, sizes, strict=True)]
    return {"few": rows[0], "many": rows[1], "ratio": round(rows[1]["ms_cpu_a_call"] / rows[0]["ms_cpu_a_call"], 2)}


def _median(costs: list[Cost]) -> Cost:
    """The tick of median cost."""
    asking = sorted((each for each in costs if each.calls), key=lambda each: each.choosing_s / each.calls)
    return asking[len(asking) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=100_000)
    parser.add_argument("--calls-per-hour", type=float, default=12_000.0)
    parser.add_argument("--ticks", type=int, default=10)
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
