from __future__ import annotations

import asyncio

from ghcrawl.simulator.clock import SimClock


async def test_a_sleeper_on_the_worlds_clock_wakes_when_it_has_been_moved_far_enough() -> None:
    clock = SimClock()
    task = asyncio.create_task(clock.sleep(5))
    await asyncio.sleep(0)
    clock.advance(4)
    await asyncio.sleep(0)
    assert not task.done()
    clock.advance(1)
    await task
    await clock.sleep(0)
