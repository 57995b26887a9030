"""Workers that are killed: at any moment, at every point of the protocol, and by what they work on."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.faults.crawl import Crawl, crawl
from tests.faults.graph import POISON
from tests.faults.worker import POINTS
from tests.support.services.rabbitmq import Server

SIZE = 300


@pytest.mark.timeout(180)
async def test_workers_killed_at_random_lose_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 1."""
    async with crawl(rabbitmq, tmp_path, size=1200) as it:
        await it.begin(2)
        await it.settled(50)
        await it.kill_at_random(6, random.Random(1), every_s=0.7)
        await it.push(2, 3, 200)
        await it.quiet()
        await it.hold_invariants(pending=True)
        assert it.kills == 6


@pytest.mark.faults
@pytest.mark.timeout(600)
async def test_fifty_kills_of_three_workers_lose_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 1, at length."""
    async with crawl(rabbitmq, tmp_path, size=3000) as it:
        await it.begin(3, fetch_s=0.15)
        await it.settled(50)
        await it.kill_at_random(50, random.Random(2), every_s=1.0)
        await it.push(2, 3, 200)
        await it.quiet(within_s=400)
        await it.hold_invariants(pending=True)


@pytest.mark.timeout(240)
async def test_a_death_at_any_point_of_the_protocol_loses_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 2."""
    async with crawl(rabbitmq, tmp_path, size=SIZE) as it:
        it.blame_nobody()
        await it.seed()
        for point in POINTS:
            await doomed(it, point, times=2)
        assert it.kills == len(POINTS)
        await it.start()
        await it.quiet()
        await it.hold_invariants(pending=True, duplicates=2)


@pytest.mark.faults
@pytest.mark.timeout(300)
@pytest.mark.parametrize("point", POINTS)
async def test_deaths_at_one_point_lose_nothing(rabbitmq: Server, tmp_path: Path, point: str) -> None:
    """Case 2, at length."""
    async with crawl(rabbitmq, tmp_path, size=SIZE) as it:
        it.blame_nobody()
        await it.seed()
        for times in (1, 2, 3, 5):
            await doomed(it, point, times=times)
        assert it.kills == 4
        await it.start()
        await it.quiet()
        await it.hold_invariants(pending=True, duplicates=2)


async def doomed(it: Crawl, point: str, times: int) -> None:
    """A worker that dies there, the so manieth time that it passes, came and is gone."""
    worker = await it.start(crash_at=f"{point}:{times}")
    async with asyncio.timeout(30):
        await worker.process.wait()
    await it.kill(worker)


@pytest.mark.timeout(120)
async def test_the_protocol_with_one_state_is_found_out(rabbitmq: Server, tmp_path: Path) -> None:
    """The negative control: whoever dies between marker and publish has told everybody that something waits."""
    async with crawl(rabbitmq, tmp_path, size=60, over={"naive": True}) as it:
        await it.seed()
        await doomed(it, "tag_inserted", times=1)
        await it.start()
        await it.settled(1)
        await asyncio.sleep(2)  # the markers that lie keep it from ever being quiet
        with pytest.raises(AssertionError, match="I1"):
            await it.hold_invariants(pending=True)


@pytest.mark.timeout(120)
async def test_a_node_that_kills_its_worker_is_given_up_and_its_neighbours_are_not(
    rabbitmq: Server, tmp_path: Path
) -> None:
    """Case 17."""
    async with crawl(rabbitmq, tmp_path, size=SIZE, poison=POISON) as it:
        await it.seed()
        for _ in range(3):
            worker = await it.start()
            async with asyncio.timeout(30):
                await worker.process.wait()
            await it.kill(worker)
        await it.start()
        await it.quiet()
        await it.hold_invariants(pending=True)
        assert len([fetch for fetch in it.lines("fetch") if fetch[0] == POISON]) == 3, "begun three times"


@pytest.mark.timeout(120)
async def test_the_same_message_twice_is_one_document(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 19: copies without markers, as if the broker had delivered them twice."""
    async with crawl(rabbitmq, tmp_path, size=SIZE) as it:
        await it.begin(2)
        for _ in range(3):
            await it.push_untagged(1, 2, 3, 4, 5)
        await it.quiet()
        await it.hold_invariants()
