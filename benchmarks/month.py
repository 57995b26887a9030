"""When news of 200 repositories is seen in a month: the schedule beside polling all alike, on the simulator.

    python -m benchmarks month [--repos 200] [--days 30] [--every 12] [--spread 2.8] [--json]

Three crawlers with the code that ships read the same simulated GitHub over HTTP, in one run, by one clock that is moved
five minutes at a time. The first follows: it polls every feed each `--every` hours, as `--follow` does each minute. The
second watches the same repositories with a budget of as many calls, the third so that it makes a third at most. All ask
without a token, so that every call is charged, unchanged answers too; none audits. Repositories have from less than an
event a year to a hundred a day, in bursts and by day rather than by night. How unlike they are is `--spread`, which by
default is that of real committers: of 12,000 in a quarter, 74 % made none of the 48,606 commits.

fresh: of all events, those that were found, each worth 1/e for every day that it waited.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import exp
from random import Random
from statistics import NormalDist, fmean, median
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from ghcrawl.cli.following import Follower
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.schedule.asking import watch, watched
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.live.feed import FeedEvent
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.lanes import QUEUES, Lane
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import Service, load, open_service
from tests.support.clock import FakeClock

BEGIN: Final = datetime(2026, 3, 2, tzinfo=UTC)
HISTORY_D: Final = 10
SPREAD: Final = 2.8
"""Sigma of the lognormal distribution of rates."""
ON_TOP: Final = 1.5
"""Calls for each repository that come on top of a schedule's budget: what it is, and second pages of its feed."""
A_DAY: Final = 2.0
"""Events of a repository on the mean."""
NIGHT: Final = 0.2
"""How busy an hour of the night is beside one of the day."""
EVENT: Final = "GollumEvent"
"""A wiki page was edited: news that needs no call of its own."""
STEP: Final = timedelta(minutes=5)
QUIET: Final = {"github.calls_per_min": 0, "github.response_s_per_min": 0}
"""The simulator has no secondary limits."""


class Seen(Struct, frozen=True, kw_only=True):
    """calls: charged. share: of the events that happened. Delays: hours, over those that were found.

    fresh: of the events that happened, each worth exp(-delay in days).
    """

    calls: int
    found: int
    share: float
    mean_h: float
    median_h: float
    fresh: float


@dataclass(slots=True, kw_only=True)
class Reader:
    """One crawler. follower: None where it watches."""

    service: Service
    tally: Tally
    follower: Follower | None = None

    async def turn(self) -> None:
        """What `ghcrawl` does every few seconds, to the end; but for streams, of which there are none."""
        if self.follower is not None:
            await self.follower.attend(complete=False)
        for ticker in self.service.tickers:
            await ticker.turn()
        every = [Lane("github", queue) for queue in QUEUES]
        while (delivery := await self.service.queue.pop(every, patience_s=0)) is not None:
            await self.service.engine.step(delivery)

    async def seen(self, since: datetime, happened: int) -> Seen:
        """What it came to."""
        events = DocumentFilter(types=(TypeName("github", EVENT),))
        delays = [
            (each.processed_at - each.observed_at).total_seconds() / 3600.0
            async for each in self.service.backend.store.list(events)
            if each.observed_at >= since
        ]
        return Seen(
            calls=self.tally.charged,
            found=len(delays),
            share=round(len(delays) / max(happened, 1), 4),
            mean_h=round(fmean(delays), 3),
            median_h=round(median(delays), 3),
            fresh=round(sum(exp(-each / 24.0) for each in delays) / max(happened, 1), 4),
        )


@dataclass(slots=True, kw_only=True)
class Month:
    """A world whose events are known beforehand, soonest last."""

    world: World
    server: Server
    clock: FakeClock
    repos: Sequence[Repo]
    coming: list[tuple[datetime, int]] = field(default_factory=list)
    happened: int = 0

    def pass_until(self, moment: datetime) -> None:
        """Everything up to `moment` happens."""
        while self.coming and self.coming[-1][0] <= moment:
            at, number = self.coming.pop()
            self._happen(self.repos[number], at)
            self.happened += at >= BEGIN
            self.world.changed()
        self.clock.advance((moment - self.clock.now()).total_seconds())

    def _happen(self, repo: Repo, at: datetime) -> None:
        log = self.world.happenings
        actor = next(iter(self.world.org("acme").members.values())).user
        pages = {"pages": [{"page_name": "Home", "title": "Home", "action": "edited"}]}
        log.add(
            FeedEvent(
                id=log.take_id(), type=EVENT, payload=pages, actor=actor, repo=repo, repo_name=repo.full_name,
                owner=repo.owner, public=True, at=at,
            )
        )  # fmt: skip


def paces(repos: int, spread: float) -> Sequence[float]:
    """Events a day of each repository."""
    rates = [NormalDist(0.0, spread).inv_cdf((number + 0.5) / repos) for number in range(repos)]
    raw = [*map(exp, rates)]
    return [A_DAY * repos * each / sum(raw) for each in raw]


def chronicle(repos: int, days: int, seed: int, spread: float = SPREAD) -> list[tuple[datetime, int]]:
    """When each event happens, and in which repository; soonest last."""
    random, events = Random(seed), []
    hours = [1.0 if 8 <= hour < 20 else NIGHT for hour in range(24)]
    for number, pace in enumerate(paces(repos, spread)):
        for day in range(-HISTORY_D, days):
            mean, passed = pace * random.expovariate(1.0), random.expovariate(1.0)
            while passed < mean:
                hour = random.choices(range(24), hours)[0] + random.random()
                events.append((BEGIN + timedelta(days=day, hours=hour), number))
                passed += random.expovariate(1.0)
    return sorted(events, reverse=True)


@asynccontextmanager
async def a_month(repos: int, days: int, seed: int, spread: float) -> AsyncIterator[Month]:
    """The simulator, with the days before that first calls can still see."""
    clock = FakeClock(BEGIN)
    size = WorldSize(
        orgs=1, repos=repos, owners=0, users=8, teams=1, issues=1, commits=1, labels=1, milestones=0, releases=0,
        branches=1, tags=0, stars=0, deployments=0, workflow_runs=0, alerts=0, discussions=0, projects=0, quirks=False,
    )  # fmt: skip
    world = generate(size, seed=seed, clock=clock)
    setup = Setup(manners=Manners(anonymous_limit=1_000_000))
    async with running(world, setup) as server:
        public = list(world.repos_of(world.org("acme")))
        for repo in public:
            repo.private = False
        coming = chronicle(repos, days, seed, spread)
        month = Month(world=world, server=server, clock=clock, repos=public, coming=coming)
        month.pass_until(BEGIN)
        yield month


@asynccontextmanager
async def reading(month: Month, *, hourly: float = 0.0, every: timedelta | None = None) -> AsyncIterator[Reader]:
    """A crawler that follows at this interval, or that watches with this budget."""
    overrides = {
        **QUIET, "queue.provider": "memory", "store.provider": "memory", "github.api_url": month.server.url,
        "schedule.calls_per_hour": hourly,
    }  # fmt: skip
    settings, _ = load(None, {}, overrides)
    tally = Tally()
    async with open_service(settings, {}, tally, clock=month.clock) as service:
        github, backend = service.platforms["github"], service.backend
        roots = [github.read_spec(repo.full_name, month.server.url, "default") for repo in month.repos]
        if every is None:
            named = [watched("github", github.feed, root) for root in roots]
            await watch(backend.sources, backend.store, {"github": github.feed}, named)
            yield Reader(service=service, tally=tally)
            return
        follower = Follower(
            platforms=service.platforms, queue=service.queue, store=backend.store, sources=backend.sources,
            clock=month.clock, roots=roots, poll_every=every,
        )  # fmt: skip
        yield Reader(service=service, tally=tally, follower=follower)


async def compared(*, repos: int, days: int, every_h: float, seed: int = 1, spread: float = SPREAD) -> dict[str, Seen]:
    """What each crawler saw of the same month."""
    an_hour = repos / every_h
    async with AsyncExitStack() as stack:
        month = await stack.enter_async_context(a_month(repos, days, seed, spread))
        readers = {
            "follow": await stack.enter_async_context(reading(month, every=timedelta(hours=every_h))),
            "watch": await stack.enter_async_context(reading(month, hourly=an_hour)),
            "watch, a third": await stack.enter_async_context(
                reading(month, hourly=an_hour / 3 - ON_TOP * repos / (days * 24))
            ),
        }
        for step in range(days * timedelta(days=1) // STEP):
            month.pass_until(BEGIN + step * STEP)
            for each in readers.values():
                await each.turn()
        return {name: await each.seen(BEGIN, month.happened) for name, each in readers.items()}


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks month", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=int, default=200, help="repositories (default 200)")
    parser.add_argument("--days", type=int, default=30, help="days that pass (default 30)")
    parser.add_argument("--every", type=float, default=12.0, help="hours between two polls (default 12)")
    parser.add_argument("--seed", type=int, default=1, help="what happens when (default 1)")
    parser.add_argument("--spread", type=float, default=SPREAD, help="sigma of the logarithms of rates (default 2.8)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    asked = parser.parse_args()
    if min(asked.repos, asked.days, asked.every) <= 0:
        parser.error("repositories, days and hours must be positive")
    seen = asyncio.run(
        compared(repos=asked.repos, days=asked.days, every_h=asked.every, seed=asked.seed, spread=asked.spread)
    )
    if asked.json:
        print(json.dumps({name: asdict(each) for name, each in seen.items()}))
        return
    print(f"{'':<16}{'calls':>8}{'found':>8}{'share':>8}{'mean h':>9}{'median h':>10}{'fresh':>8}")
    for name, each in seen.items():
        counts = f"{each.calls:>8,}{each.found:>8,}{each.share:>8.1%}"
        print(f"{name:<16}{counts}{each.mean_h:>9.2f}{each.median_h:>10.2f}{each.fresh:>8.1%}")


if __name__ == "__main__":
    main()
