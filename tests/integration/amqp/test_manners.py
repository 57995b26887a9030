"""What a process does beside popping: it hoards nothing, hands back what it does not need, and keeps to the moment."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from aiormq.channel import Channel

from ghcrawl.ports.queue import Pushed, by_queue
from ghcrawl.values.lanes import QueueName
from queues.amqp.inspection import got
from queues.amqp.message import Incoming
from queues.amqp.prefetch import SPARE
from queues.amqp.queue import AmqpQueue
from tests.integration.amqp.own import PATIENT_S, Place, popped, push_of
from tests.support.lanes import LANES, lanes
from tests.support.services.wanted import MANAGEMENT_URL
from tests.support.waiting import until


async def test_a_delay_ends_when_the_broker_says_so_after_as_many_hops_as_it_takes(place: Place) -> None:
    async with place.process() as queue:
        moment = datetime.now(UTC) + timedelta(seconds=1.0)
        await queue.push(push_of(1, queue="soon", not_before=moment))
        assert await queue.pop(LANES, patience_s=0.5) is None
        assert by_queue(await queue.depths())["soon"].delayed == 1
        delivery = await popped(queue)
        assert datetime.now(UTC) >= moment - timedelta(milliseconds=50)
        assert delivery.queue == "soon"
        await delivery.ack()
        assert await queue.is_empty()


async def test_no_process_hoards_and_a_flood_in_later_leaves_loops_free(place: Place) -> None:
    async with place.process(loops=4) as queue:
        await queue.push(push_of(*range(30), queue="normal"))
        await queue.push(push_of(*range(100, 130), queue="later"))
        await queue.consumers.want(LANES)
        await until(lambda: holds(queue, 4))
        await asyncio.sleep(0.2)  # anything more would come now
        assert held(queue, "later") == 4, "half of the loops, and the next two"
        assert held(queue, "normal") == 6, "all of the loops, and the next two"


def held(queue: AmqpQueue, name: QueueName) -> int:
    return sum(incoming.lane.queue == name for incoming in queue.pops.held())


async def holds(queue: AmqpQueue, number: int, name: QueueName = "later") -> bool:
    return held(queue, name) >= number


async def test_more_loops_than_there_were_at_first_have_all_the_more_in_hand(place: Place) -> None:
    async with place.process(loops=2) as queue:
        await queue.push(push_of(*range(30)))
        loops = [asyncio.create_task(popped(queue)) for _ in range(20)]
        deliveries = await asyncio.gather(*loops)
        assert len({delivery.request.url for delivery in deliveries}) == 20
        assert {delivery.incoming.returns for delivery in deliveries} == {0}, "what was held already stayed"
        for delivery in deliveries:
            await delivery.ack()


async def test_fewer_loops_than_there_were_at_first_leave_more_to_others(place: Place) -> None:
    async with place.process(loops=20, hand_back_s=1.0) as queue:
        await queue.push(push_of(*range(500)))
        deliveries = [await popped(queue) for _ in range(4)]
        await until(lambda: holds(queue, 20 + SPARE - 4, "normal"))
        async with asyncio.timeout(PATIENT_S):
            while held(queue, "normal") > SPARE:
                await deliveries.pop(0).ack()
                deliveries.append(await popped(queue))
                await asyncio.sleep(0.02)  # four loops at work
        assert by_queue(await queue.depths())["normal"].ready > 2 * SPARE, "there was more to be had"
        for delivery in deliveries:
            await delivery.ack()


async def test_what_nobody_pops_is_handed_back_to_others(place: Place) -> None:
    async with place.process(hand_back_s=0.5) as idle, place.process() as busy:
        await idle.push(push_of(*range(10)))
        mine = await popped(idle)
        seen = {mine.request.url}
        while len(seen) < 10:  # what the idle one has prefetched comes once it has not popped for so long
            delivery = await popped(busy)
            seen.add(delivery.request.url)
            await delivery.ack()
        await mine.ack()
        await busy.push(push_of(11))
        await busy.hand_back(LANES)
        assert (await popped(idle)).request.url == push_of(11)[0].request.url, "and it pops again when it wants to"


async def test_what_others_have_in_hand_is_known_by_the_management_api(place: Place) -> None:
    if not place.server.management_url:
        pytest.skip(f"{MANAGEMENT_URL} is not set")
    async with place.process() as one, place.process() as other:
        await one.push(push_of(1))
        delivery = await popped(one)
        await until(lambda: in_flight(other, 1), within_s=60)
        assert not await other.is_empty()
        await delivery.ack()
        await until(lambda: in_flight(other, 0), within_s=60)


async def test_nothing_is_empty_while_others_may_have_something_in_hand(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queues.amqp.queue.QUIET_S", 2.0)
    async with place.process() as one, place.process(management_url="") as other:
        await one.push(push_of(1))
        delivery = await popped(one)
        assert not await other.is_empty(), "nobody can tell, and somebody pops"
        await delivery.ack()
        await until(other.is_empty)
    async with place.process(management_url="") as alone:
        assert await alone.is_empty(), "nobody else pops"


async def in_flight(queue: AmqpQueue, number: int) -> bool:
    return by_queue(await queue.depths())["normal"].in_flight == number


async def test_processes_share_what_waits_and_what_is_known_of_it(place: Place) -> None:
    async with place.process() as one, place.process() as other:
        assert await one.push(push_of(1, 2)) == Pushed(queued=2)
        assert await other.push(push_of(1, 2)) == Pushed(bounced=2)
        await (await popped(other)).ack()
        await (await popped(other)).ack()
        assert await one.push(push_of(1)) == Pushed(queued=1)


async def test_a_thousand_pushes_are_a_few_round_trips_and_all_there(place: Place) -> None:
    async with place.process() as queue:
        assert await queue.push(push_of(*range(1000))) == Pushed(queued=1000)
        assert await queue.push(push_of(*range(1100))) == Pushed(queued=100, bounced=1000)
        assert by_queue(await queue.depths())["normal"].ready == 1100
        assert await queue.purge("normal") == 1100
        assert await queue.is_empty()


async def test_purging_leaves_what_others_delay(place: Place) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=1.5)
    async with place.process() as queue:
        await queue.push(push_of(1, 2, queue="later", not_before=moment))
        await queue.push(push_of(3, 4, queue="soon", not_before=moment))
        assert await queue.purge("later") == 2
        assert {(await popped(queue)).request.url for _ in range(2)} == {p.request.url for p in push_of(3, 4)}
        assert datetime.now(UTC) < moment + timedelta(seconds=15)
        assert await queue.pop(LANES, patience_s=0.5) is None


async def test_who_looks_or_purges_leaves_what_others_delay_where_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def counted(channel: Channel, name: str) -> Incoming | None:
        asked.append(name)
        return await got(channel, name)

    monkeypatch.setattr("queues.amqp.inspection.got", counted)
    async with place.process() as queue:
        await queue.push(push_of(1, 2, 3, not_before=datetime.now(UTC) + timedelta(hours=1)))
        assert list(await queue.peek("soon", limit=10)) == []
        assert await queue.purge("soon") == 0
        assert asked == [place.names.queue(lanes("soon")[0])]
        assert len(await queue.peek("normal", limit=10)) == 3


async def test_a_purge_finds_delayed_messages_that_no_tag_tells_of(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(1, 2, queue="soon", not_before=datetime.now(UTC) + timedelta(hours=1)))
        await place.markers.clear(lanes("soon")[0])  # as by a purge that was cut short
        assert await queue.purge("soon") == 2
