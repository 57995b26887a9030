"""The broker itself: restarted, killed, out of memory, robbed of its queues; and workers that come and go in order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ghcrawl.values.lanes import Lane
from queues.amqp.names import key_of_lane
from queues.amqp.queue import AmqpQueue
from tests.faults.crawl import Crawl, crawl
from tests.faults.graph import PLATFORM, expected
from tests.support.services.rabbitmq import Broker, Server

SETTLED_S = 3.0
"""A quorum queue that was declared a moment before its broker is killed may come back without a leader."""


async def ask_until_it_works(it: Crawl, *numbers: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await it.push(*numbers)
            except Exception:  # noqa: BLE001  # whatever a broker that is just coming back may say
                await asyncio.sleep(0.5)
            else:
                return


@pytest.mark.faults
@pytest.mark.timeout(400)
@pytest.mark.parametrize("how", ["stopped", "killed"])
async def test_a_broker_that_is_restarted_loses_nothing(broker: Broker, tmp_path: Path, how: str) -> None:
    """Cases 4 and 5: twice."""
    async with crawl(broker.server, tmp_path, size=1000) as it:
        await it.begin(2, fetch_s=0.1)
        await it.settled(20)
        for _ in range(2):
            await asyncio.sleep(SETTLED_S)
            await asyncio.to_thread(broker.stop if how == "stopped" else broker.kill)
            it.shocks += 16
            await asyncio.sleep(2)
            await asyncio.to_thread(broker.start)
            await ask_until_it_works(it, 2, 3)
        await it.quiet(within_s=250)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(400)
async def test_a_broker_that_loses_its_disk_gets_back_what_waited(broker: Broker, tmp_path: Path) -> None:
    """Case 27: twice. What a worker has in hand it finishes, or pushes again."""
    async with crawl(broker.server, tmp_path, size=800) as it:
        await it.begin(2, fetch_s=0.1)
        await it.settled(60)
        for _ in range(2):
            await asyncio.to_thread(broker.wipe)
            it.shocks += 16
            await it.settled(len({number for number, *_ in it.lines("settled")}) + 40, within_s=90)
        await it.quiet(within_s=250)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_a_broker_short_of_memory_loses_nothing(broker: Broker, tmp_path: Path) -> None:
    """Case 14."""
    async with crawl(broker.server, tmp_path, size=600) as it:
        await it.begin(2, fetch_s=0.05)
        await it.settled(20)
        await asyncio.to_thread(broker.control, "set_vm_memory_high_watermark", "0")
        await asyncio.sleep(8)
        await asyncio.to_thread(broker.control, "set_vm_memory_high_watermark", "0.6")
        it.shocks += 16
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_an_acknowledgement_that_takes_too_long_loses_nothing(broker: Broker, tmp_path: Path) -> None:
    """Case 11: the broker closes the channel of whoever holds a message for longer than it allows."""
    await asyncio.to_thread(broker.control, "eval", "application:set_env(rabbit, consumer_timeout, 5000).")
    async with crawl(broker.server, tmp_path, size=300) as it:
        await it.begin(2, slow=4, slow_s=15.0)
        it.shocks += 30
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_queues_that_are_deleted_and_unbound_come_back(rabbitmq: Server, tmp_path: Path) -> None:
    """Cases 12 and 13. What was in a deleted queue is gone, and only what was: the same specs bring it back."""
    async with crawl(rabbitmq, tmp_path, size=400) as it:
        await it.begin(2)
        await it.quiet()
        async with it.watching() as backend:
            queue = backend.queue
            assert isinstance(queue, AmqpQueue)
            channel = await queue.link.channel()
            await channel.queue_delete(queue.names.queue(Lane(PLATFORM, "normal")))
            soon = Lane(PLATFORM, "soon")
            await channel.queue_unbind(queue.names.queue(soon), queue.names.work, routing_key=key_of_lane(soon))
            await channel.close()
        await it.push(2, 3)
        await it.start()
        await it.push(4, 5)
        await it.quiet()
        await it.hold_invariants()


@pytest.mark.timeout(180)
async def test_a_rolling_restart_of_three_loses_nothing_and_repeats_nothing(rabbitmq: Server, tmp_path: Path) -> None:
    """Cases 3 and 24: everybody ends in good order within its grace, and hands back what it had prefetched.

    Two workers may be after the same node at once, restarted or not; no copy of a request is begun twice.
    """
    some = sorted(expected(300)[0])[1:40]
    async with crawl(rabbitmq, tmp_path, size=300) as it:
        await it.begin(3, fetch_s=0.2)
        await it.settled(20)
        for worker in it.alive():
            await it.start(fetch_s=0.2)
            await it.push(*some)
            said = await it.end(worker, within_s=15)
            assert said["in_hand"], "it was in the middle of something"
            assert said["drained"], "what was in hand was finished"
        await it.quiet()
        assert it.begun_again() == []
        await it.hold_invariants(duplicates=1.05)


@pytest.mark.faults
@pytest.mark.timeout(400)
async def test_many_restarts_with_full_buffers_bury_no_innocent(rabbitmq: Server, tmp_path: Path) -> None:
    """Case 24, at length: every restart counts as a return for all that was prefetched."""
    async with crawl(rabbitmq, tmp_path, size=600) as it:
        await it.begin(1, fetch_s=0.3)
        for _ in range(25):
            worker = it.alive()[0]
            await it.start(fetch_s=0.3)
            await it.end(worker, within_s=15)
        await it.quiet(within_s=200)
        await it.hold_invariants(duplicates=1.1)


@pytest.mark.faults
@pytest.mark.timeout(300)
async def test_delays_that_end_while_the_broker_is_down_end_all_the_same(broker: Broker, tmp_path: Path) -> None:
    """Case 25."""
    async with crawl(broker.server, tmp_path, size=300) as it:
        await it.seed()
        await it.start(retry_s=6.0)
        await it.settled(250)
        await asyncio.sleep(SETTLED_S)
        await asyncio.to_thread(broker.kill)
        it.shocks += 16
        await asyncio.sleep(8)
        await asyncio.to_thread(broker.start)
        await it.quiet(within_s=200)
        await it.hold_invariants(pending=True)
