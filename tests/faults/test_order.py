"""Things that happen at the wrong time: many at once, late, out of order, and by clocks that are wrong."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from ghcrawl.ports.queue import by_queue
from ghcrawl.values.requests import Push
from queues.amqp.queue import AmqpQueue
from tests.faults.crawl import crawl
from tests.faults.graph import PLATFORM, node
from tests.support.lanes import lanes
from tests.support.services.rabbitmq import Server

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]


async def test_fifty_that_find_the_same_hundred_at_once_queue_each_once(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 16."""
    async with crawl(rabbitmq, tmp_path, size=100) as it:
        async with it.watching() as one, it.watching() as other:
            pushes = [Push(request=node(n, it.started_at), queue="normal") for n in range(1, 101)]
            pushed = await asyncio.gather(*(b.queue.push(pushes) for _ in range(25) for b in (one, other)))
            assert sum(each.queued + each.bounced for each in pushed) == 50 * 100
            assert by_queue(await one.queue.depths())["normal"].ready <= 150, "a few twice, one taken for dead"
        await it.start()
        await it.quiet()
        await it.hold_invariants(duplicates=2.0)


async def test_failures_are_tried_again_after_their_delay_and_given_up_in_the_end(
    rabbitmq: Server, tmp_path: Path
) -> None:
    """Case 18."""
    async with crawl(rabbitmq, tmp_path, size=300) as it:
        await it.begin(2)
        await it.quiet()
        await it.hold_invariants(duplicates=1.05)
        tried = {(number, attempt): at for number, at, attempt in it.lines("fetch")}
        again = [at - tried[number, attempt - 1] for (number, attempt), at in tried.items() if attempt]
        assert len(again) >= 10
        assert min(again) >= 0.1e9, "not at once"


async def test_the_newest_stays_whoever_is_last(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 20: one worker takes its time over a node that another one sees again meanwhile."""
    async with crawl(rabbitmq, tmp_path, size=100) as it:
        await it.begin(1, slow=4, slow_s=6.0)
        await asyncio.sleep(2)
        await it.start()
        await it.push(4)
        await it.quiet()
        await it.hold_invariants()


async def test_clocks_that_are_wrong_by_ten_minutes_lose_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 21. Delays are the broker's."""
    async with crawl(rabbitmq, tmp_path, size=300) as it:
        await it.seed()
        await it.start(skew_s=600.0)
        await it.start(skew_s=-600.0)
        await it.settled(280)
        fast, slow = it.alive()
        await it.end(slow)
        await it.end(fast)
        await it.start()
        await it.quiet()
        await it.hold_invariants(duplicates=3.0)


async def test_tags_that_vanish_at_any_moment_cost_duplicates_and_nothing_else(
    rabbitmq: Server, tmp_path: Path
) -> None:
    """Case 23: swept, lost or cleared."""
    async with crawl(rabbitmq, tmp_path, size=500) as it:
        await it.begin(2, fetch_s=0.05)
        dice = random.Random(3)
        async with it.watching() as backend:
            queue = backend.queue
            assert isinstance(queue, AmqpQueue)
            for _ in range(30):
                await queue._markers.clear(dice.choice(lanes(platform=PLATFORM)))
                await asyncio.sleep(0.1)
        await it.quiet()
        await it.hold_invariants(duplicates=2.0)


async def test_a_flood_in_later_does_not_keep_what_is_immediate_waiting(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 26."""
    async with crawl(rabbitmq, tmp_path, size=100) as it:
        async with it.watching() as backend:
            flood = [Push(request=node(n, it.started_at, policy="always:node"), queue="later") for n in range(1, 101)]
            await backend.queue.push(flood)
        await it.begin(1, fetch_s=0.5)
        it.shocks += 10  # what is hopeless is asked for under two policies
        await asyncio.sleep(1)
        await it.push(97)
        async with asyncio.timeout(20):
            while not [f for f in it.lines("fetch") if f[0] == 97 and f[1] >= it.pushed[-1][1]]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        first = min(at for number, at, _ in it.lines("fetch") if number == 97 and at >= it.pushed[-1][1])
        assert first - it.pushed[-1][1] < 5e9
        await it.quiet()
        await it.hold_invariants(duplicates=3.0)
