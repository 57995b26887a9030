"""The history of all replicas, on every store: what each did is there once, and all of it is bounded."""

from __future__ import annotations

import asyncio

import pytest

from ghcrawl.telemetry.history import RINGS, History, Seen, Span
from ghcrawl.values.frozen import replace
from tests.contracts.adapters import Rig
from tests.support.builders import NOW
from tests.support.clock import FakeClock

SEEN = Seen(queues={"normal": 10, "later": 0}, documents=5, deadletters=2, kinds={"http_502": 2}, quota=0.5)


class Replica:
    """One of several that share a store."""

    def __init__(self, rig: Rig, clock: FakeClock) -> None:
        self.did = {"settled": 0.0}
        self.history = History(rig.store, clock, lambda: self.did)

    async def work(self, settled: int, seen: Seen = SEEN) -> None:
        self.did = {"settled": self.did["settled"] + settled}
        await self.history.record(seen)

    async def settled(self, span: Span = "1h") -> float:
        return round(sum(point.done["settled"] for point in await self.history.read(span)), 1)


class HistoryContract:
    @pytest.fixture
    def clock(self) -> FakeClock:
        """A clock that is at the beginning of a day."""
        return FakeClock(NOW.replace(hour=0, minute=0, second=0, microsecond=0))

    async def test_a_replica_that_just_started_sees_what_all_others_did(self, rig: Rig, clock: FakeClock):
        one, other = Replica(rig, clock), Replica(rig, clock)
        clock.advance(20)
        await asyncio.gather(one.work(30), other.work(12))
        (point,) = await Replica(rig, clock).history.read("1h")
        assert point.done["settled"] == 42
        assert point.seen == SEEN

    async def test_what_was_done_in_two_minutes_is_told_of_both(self, rig: Rig, clock: FakeClock):
        one = Replica(rig, clock)
        clock.advance(90)
        await one.work(90)
        assert [point.done["settled"] for point in await one.history.read("1h")] == [60, 30]

    async def test_the_counters_of_a_process_that_started_again_are_never_counted_twice(
        self, rig: Rig, clock: FakeClock
    ):
        one = Replica(rig, clock)
        clock.advance(20)
        await one.work(1000)
        again = Replica(rig, clock)
        clock.advance(20)
        await again.work(5)
        assert await again.settled() == 1005

    async def test_the_most_that_waited_and_the_least_quota_of_a_step_are_kept(self, rig: Rig, clock: FakeClock):
        one = Replica(rig, clock)
        for waiting, quota in ((10, 0.5), (70, 0.1), (20, None)):
            clock.advance(15)
            await one.work(0, replace(SEEN, queues={"normal": waiting}, quota=quota, documents=waiting))
        (point,) = await one.history.read("1h")
        assert (point.seen.queues["normal"], point.seen.quota, point.seen.documents) == (70, 0.1, 20)

    @pytest.mark.slow
    async def test_an_hour_becomes_a_day_and_a_day_a_month_and_none_grows_beyond_its_bound(
        self, rig: Rig, clock: FakeClock
    ):
        one, other = Replica(rig, clock), Replica(rig, clock)
        hours = 9
        for _ in range(hours * 12):
            clock.advance(300)
            await asyncio.gather(one.work(3), other.work(2))
        assert await one.settled("1h") == pytest.approx(60, abs=2)
        assert await one.settled("24h") == pytest.approx(hours * 12 * 5, abs=1)
        assert await one.settled("30d") == pytest.approx(hours * 12 * 5, abs=1)
        for span, ring in RINGS.items():
            points = await one.history.read(span)
            assert len(points) <= ring.size
            assert all(point.at_s % ring.step_s == 0 for point in points)
        assert len(await one.history.read("24h")) == hours * 6 + 1
        clock.advance(31 * 86_400)
        assert await one.history.read("30d") == []
