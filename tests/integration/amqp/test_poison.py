"""A message that kills whoever works on it, its innocent neighbours, and what is no message at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from ghcrawl.ports.deadletters import DeadletterFilter
from queues.amqp.message import Outgoing
from queues.amqp.queue import AmqpQueue
from queues.codec import encode
from queues.memory_dedup import MemoryCrashCounter
from tests.integration.amqp.own import PATIENT_S, Place, die, popped, push_of
from tests.support.builders import a_request
from tests.support.lanes import LANES, lanes
from tests.support.services.wanted import MANAGEMENT_URL
from tests.support.waiting import until

KILLER = a_request(0).url
AT_ONCE = 3


async def work(queue: AmqpQueue, done: list[str]) -> bool:
    """What a process does, some requests at a time, until nothing is left (True) or one of them kills it."""
    in_hand = []
    while (delivery := await queue.pop(LANES, patience_s=1.0)) is not None:
        if delivery.request.url == KILLER:
            return False
        in_hand.append(delivery)
        while len(in_hand) >= AT_ONCE:
            first = in_hand.pop(0)
            await first.ack()
            done.append(first.request.url)
    for delivery in in_hand:
        await delivery.ack()
        done.append(delivery.request.url)
    return True


async def test_a_message_that_kills_its_process_is_set_aside_after_three_starts(place: Place) -> None:
    done: list[str] = []
    deaths = 0
    async with place.process() as queue:
        await queue.push(push_of(*range(12)))
    for _ in range(10):
        async with place.process() as queue:
            if await work(queue, done):
                break
            deaths += 1
            await die(queue)
    letters = await place.deadletters.list(DeadletterFilter(), limit=10)
    assert deaths == 3
    assert set(done) == {a_request(number).url for number in range(1, 12)}
    assert [(letter.request.url, letter.kind, letter.queue) for letter in letters] == [
        (KILLER, "killed_worker", "normal")
    ]


async def test_a_killer_that_somebody_finds_again_after_each_death_has_three_starts_all_the_same(place: Place) -> None:
    deaths = 0
    for _ in range(10):
        async with place.process() as queue:
            await queue.push(push_of(0))
            if await work(queue, []):
                break
            deaths += 1
            await die(queue)
    letters = await place.deadletters.list(DeadletterFilter(), limit=10)
    assert deaths == 3
    assert {(letter.request.url, letter.kind) for letter in letters} == {(KILLER, "killed_worker")}


async def test_what_survives_a_death_is_not_suspected_for_ever(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(1))
    for _ in range(3):
        for _ in range(2):
            async with place.process() as queue:
                await popped(queue)
                await die(queue)
        async with place.process() as queue:
            await (await popped(queue)).release()
    async with place.process() as queue:
        await (await popped(queue)).ack()
        assert await queue.is_empty()
    assert list(await place.deadletters.list(DeadletterFilter(), limit=10)) == []


async def test_a_suspect_is_cleared_while_the_broker_does_not_answer(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.crashes = crashes = MemoryCrashCounter()
    async with place.process() as queue:
        await queue.push(push_of(1))
        await popped(queue)
        await die(queue)
    async with place.process() as queue:
        delivery = await popped(queue)
        assert await crashes.count(delivery.name) == 1
        answers, send = asyncio.Event(), queue.link.send

        async def late(messages: Sequence[Outgoing]) -> None:
            await answers.wait()
            await send(messages)

        monkeypatch.setattr(queue.link, "send", late)
        releasing = asyncio.create_task(delivery.release())

        async def cleared() -> bool:
            return await crashes.count(delivery.name) == 0

        await until(cleared)
        assert not releasing.done(), "the broker has not answered yet"
        answers.set()
        await releasing
        await (await popped(queue)).ack()


async def test_to_be_prefetched_by_whoever_stops_or_dies_is_no_start(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(*range(12)))
    for end_of in (stop, die, stop, die, die):
        async with place.process() as queue:
            await full(queue, 12)
            await end_of(queue)
    for _ in range(2):
        async with place.process() as queue:
            assert (await popped(queue)).request == a_request(0)
            await die(queue)
    async with place.process() as queue:
        assert {(await popped(queue)).request.url for _ in range(12)} == {a_request(number).url for number in range(12)}
    assert list(await place.deadletters.list(DeadletterFilter(), limit=10)) == []


async def full(queue: AmqpQueue, number: int) -> None:
    async def holds_all() -> bool:
        await queue.consumers.want(LANES)
        return len(queue.held()) == number

    await until(holds_all)


async def stop(queue: AmqpQueue) -> None:
    await queue.close()


class SilentStarts(MemoryCrashCounter):
    """While `silent`, whoever has a start written down is told of nothing, and waits for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.silent = False
        self.reached = asyncio.Event()

    async def add(self, message: str, at: datetime) -> int:
        times = await super().add(message, at)
        self.reached.set()
        if self.silent:
            await asyncio.Event().wait()
        return times


async def test_a_pop_that_is_cut_short_is_no_start(place: Place) -> None:
    place.crashes = crashes = SilentStarts()
    async with place.process() as queue:
        await queue.push(push_of(1))
        await popped(queue)
        await die(queue)
    crashes.silent = True
    async with place.process() as queue:
        for _ in range(5):
            crashes.reached.clear()
            popping = asyncio.create_task(queue.pop(LANES, patience_s=PATIENT_S))
            await crashes.reached.wait()
            popping.cancel()
            await asyncio.wait([popping])
        crashes.silent = False
        await (await popped(queue)).ack()
    assert list(await place.deadletters.list(DeadletterFilter(), limit=10)) == []


async def test_what_the_broker_sets_aside_goes_back_to_work_thrice_and_is_filed_then(place: Place) -> None:
    """As where nobody remembers crashes: the broker's own limit is all there is."""
    if not place.server.management_url:
        pytest.skip(f"{MANAGEMENT_URL} is not set")
    async with place.process(max_starts=1000, delivery_limit=5) as queue:
        await queue.take_over()
        await queue.push(push_of(1, queue="soon"))
        returned = 0
        while not await place.deadletters.list(DeadletterFilter(), limit=10):
            delivery = await queue.pop(LANES, patience_s=0.2)
            if delivery is not None:
                returned += 1
                await delivery.incoming.give_back()
                queue.pops.in_flight.discard(delivery)
                await place.crashes.forget(delivery.name)
    (letter,) = await place.deadletters.list(DeadletterFilter(), limit=10)
    assert (letter.kind, letter.queue, letter.request.url) == ("delivery_limit", "soon", a_request(1).url)
    assert 20 <= returned <= 30, "five returns, pardoned three times"


async def test_who_looks_and_looks_again_harms_nothing_even_while_nobody_pops(place: Place) -> None:
    if not place.server.management_url:
        pytest.skip(f"{MANAGEMENT_URL} is not set")
    async with place.process(delivery_limit=5) as queue:
        await queue.take_over()
        await queue.push(push_of(1, queue="later"))
        await until(lambda: peeked(queue, times=7), within_s=60)
        await until(lambda: seen(queue))
        delivery = await popped(queue)
        assert (delivery.incoming.copy.pardons, delivery.incoming.copy.spared) == (0, 1)
        await delivery.ack()
    assert list(await place.deadletters.list(DeadletterFilter(), limit=10)) == []


async def seen(queue: AmqpQueue) -> bool:
    return bool(await queue.peek("later", limit=1))


async def peeked(queue: AmqpQueue, *, times: int) -> bool:
    for _ in range(times):
        if not await queue.peek("later", limit=1):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_bytes_that_are_no_request_become_a_deadletter_and_harm_nobody(place: Place) -> None:
    async with place.process() as queue:
        raw = b"\x00\xff\xfe nobody's request"
        await queue.link.send([Outgoing(exchange=place.names.work, lane=lanes("event")[0], body=raw)])
        await queue.push(push_of(1, 2))
        for _ in range(2):
            await (await popped(queue)).ack()
        await until(lambda: filed(place))
        assert await queue.pop(LANES, patience_s=0.1) is None
        assert await queue.is_empty()
    (letter,) = await place.deadletters.list(DeadletterFilter(), limit=10)
    assert (letter.raw, letter.kind, letter.queue) == (raw, "undecodable", "event")


async def filed(place: Place) -> bool:
    return bool(await place.deadletters.list(DeadletterFilter(), limit=1))


async def test_what_somebody_rejected_by_hand_is_filed(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(1, queue="later"))
        delivery = await popped(queue)
        message = delivery.incoming._message
        await message.channel.basic_nack(message.delivery_tag or 0, requeue=False)
        await until(lambda: filed(place))
        queue.pops.in_flight.clear()
        async with asyncio.timeout(10):
            assert await queue.is_empty()
    (letter,) = await place.deadletters.list(DeadletterFilter(), limit=10)
    assert (letter.kind, letter.queue, letter.request.url) == ("set_aside", "later", a_request(1).url)
    assert letter.raw is None
    assert encode(letter.request)
