"""Brokers that cannot be used, each in one clear line, and brokers that break while they are."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import aiormq
import pytest
from aiormq.channel import Channel

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Pushed, by_queue
from ghcrawl.values.errors import ConfigError, QueueError, Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Push
from queues.amqp.message import Incoming
from queues.amqp.queue import AmqpQueue
from tests.integration.amqp.own import Place, popped, push_of
from tests.support.builders import a_payload, a_request
from tests.support.lanes import LANES, lanes
from tests.support.listening import saying_nothing
from tests.support.services.network import free_ports
from tests.support.services.proxy import proxied
from tests.support.services.rabbitmq import Broker
from tests.support.waiting import until


async def refusal(place: Place, **over: object) -> str:
    with pytest.raises((ConfigError, QueueError)) as refused:
        async with place.process(**over):
            pass
    text = str(refused.value)
    assert "\n" not in text
    assert "secret" not in text, "passwords are never shown"
    return text


def url_of(place: Place, **parts: str) -> str:
    split = urlsplit(place.server.url)
    account = {"user": str(split.username), "password": str(split.password)}
    fields = account | {"vhost": split.path.removeprefix("/")} | parts
    return f"amqp://{fields['user']}:{fields['password']}@{split.hostname}:{split.port}/{fields['vhost']}"


async def test_nobody_listens(place: Place) -> None:
    (port,) = free_ports(1)
    said = await refusal(place, url=f"amqp://u:secret@127.0.0.1:{port}/")
    assert said.startswith(f"RabbitMQ at 127.0.0.1:{port} cannot be reached")


async def test_a_wrong_password(place: Place) -> None:
    said = await refusal(place, url=url_of(place, password="secret-one"))
    user = urlsplit(place.server.url).username
    assert said.endswith(f"refuses the user {user!r}: check name and password")


async def test_a_virtual_host_that_is_not_there(place: Place) -> None:
    said = await refusal(place, url=url_of(place, vhost="nowhere"))
    assert f"has no virtual host 'nowhere' that {urlsplit(place.server.url).username!r} may use" in said


async def test_something_else_listens(place: Place) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        said = await refusal(place, url=f"amqp://u:secret@127.0.0.1:{port}/")
    assert f"the server at 127.0.0.1:{port} does not speak AMQP 0-9-1" in said


async def test_somebody_listens_and_says_nothing(place: Place) -> None:
    async with saying_nothing() as port:
        said = await refusal(place, url=f"amqp://u:secret@127.0.0.1:{port}/", connect_timeout_s=0.5)
    assert f"nothing answers AMQP at 127.0.0.1:{port}" in said


async def test_a_url_that_is_none(place: Place) -> None:
    assert "amqp.url must look like" in await refusal(place, url="http://x:secret@127.0.0.1/")


async def test_a_queue_of_work_with_other_arguments_is_used_as_it_is(place: Place) -> None:
    connection = await aiormq.connect(place.server.url)
    channel = await connection.channel()
    await channel.queue_declare(place.names.queue(lanes("normal")[0]), durable=True)
    async with place.process() as queue:
        await queue.push(push_of(1))
        await (await popped(queue)).ack()
    passive = await channel.queue_declare(place.names.queue(lanes("normal")[0]), passive=True)
    assert passive.message_count == 0
    await connection.close()


async def test_a_wait_queue_with_other_arguments_is_refused(place: Place) -> None:
    connection = await aiormq.connect(place.server.url)
    channel = await connection.channel()
    name = place.names.wait(600.0)
    await channel.queue_declare(name, durable=True)
    said = await refusal(place)
    assert f"RabbitMQ has a queue {name!r} with other arguments. Delete it, or set amqp.prefix" in said
    await connection.close()


async def test_an_exchange_of_another_kind_is_refused(place: Place) -> None:
    connection = await aiormq.connect(place.server.url)
    channel = await connection.channel()
    await channel.exchange_declare(place.names.work, exchange_type="fanout", durable=True)
    said = await refusal(place)
    assert f"RabbitMQ has an exchange {place.names.work!r} of another kind" in said
    await connection.close()


async def test_who_keeps_its_tags_to_itself_pops_alone(place: Place) -> None:
    async with place.process(alone=True) as queue, place.process(alone=True) as other:
        await queue.push(push_of(1))
        delivery = await popped(queue)
        with pytest.raises(QueueError, match="another process pops"):
            await other.pop(lanes("normal"), patience_s=0)
        await delivery.ack()


async def test_what_no_broker_takes_is_refused_with_that_reason(place: Place) -> None:
    """RabbitMQ 4 closes the channel over a message that is too large, and with it fails all that are under way."""
    async with place.process(max_message_bytes=2000) as queue:
        large = a_request(1, payload=a_payload({"text": "x" * 2000}))
        with pytest.raises(Unstorable, match="too large for a message"):
            await queue.push([*push_of(2), Push(request=large, queue="event")])
        await queue.push(push_of(2))
        await (await popped(queue)).ack()
        assert not await place.markers.any_queued()


async def test_what_is_too_large_as_it_is_travels_compressed(place: Place) -> None:
    async with place.process(max_message_bytes=100_000) as queue:
        large = a_request(1, payload=a_payload({"text": "x" * 2_000_000}))
        await queue.push([Push(request=large, queue="event")])
        assert list(await queue.peek("event", limit=2)) == [large]
        delivery = await popped(queue)
        assert delivery.request == large
        await delivery.release()
        again = await popped(queue)
        assert again.request == large
        await again.ack()


async def test_a_lost_queue_is_declared_anew_and_consumed_again(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(1))
        await (await popped(queue)).ack()
        channel = await queue.link.channel()
        await channel.queue_delete(place.names.queue(lanes("normal")[0]))
        await channel.close()
        await queue.push(push_of(2))
        await (await popped(queue)).ack()
        assert await queue.is_empty()


async def test_a_lost_connection_comes_back_and_what_was_prefetched_is_delivered_anew(place: Place) -> None:
    split = urlsplit(place.server.url)
    assert split.hostname
    assert split.port
    async with proxied(split.hostname, split.port) as wire:
        url = place.server.url.replace(f":{split.port}", f":{wire.port}")
        async with place.process(url=url) as queue:
            await queue.push(push_of(*range(10)))
            first = await popped(queue)
            wire.cut()
            await first.ack()  # its channel is gone, or is about to be: it comes again, and that is all
            seen = {first.request.url}
            while len(seen) < 10:
                delivery = await popped(queue)
                seen.add(delivery.request.url)
                await delivery.ack()
            await push_until_it_works(queue, 11)
            while (delivery := await popped(queue)).request.url != push_of(11)[0].request.url:
                await delivery.ack()


async def test_a_channel_that_the_broker_closes_for_a_wrong_tag_comes_back_and_nothing_is_lost(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(*range(10)))
        in_hand = [await popped(queue) for _ in range(3)]
        channel = in_hand[0].incoming._message.channel
        await channel.basic_ack(1_000_000)
        await until(lambda: stale(in_hand[0].incoming))
        assert all(delivery.incoming.stale for delivery in in_hand)
        assert await in_hand[0].incoming.ack() is False, "on the new channel its marker is somebody else's"
        await in_hand[1].ack()
        await in_hand[2].release()
        seen: list[str] = []
        while len(set(seen)) < 10:  # all of them again, for none was settled
            delivery = await popped(queue)
            seen.append(delivery.request.url)
            await delivery.ack()
        assert len(seen) == 10
        await in_hand[0].ack()
        await until(queue.is_empty)
    assert list(await place.deadletters.list(DeadletterFilter(), limit=10)) == []


async def everything(queue: AmqpQueue, number: int) -> dict[str, QueueName]:
    """All of so many different requests are popped in the end, whatever is lost meanwhile. Returns their queues."""
    seen: dict[str, QueueName] = {}

    async def popped_all() -> bool:
        with suppress(QueueError):
            if delivery := await queue.pop(LANES, patience_s=0.5):
                seen[delivery.request.url] = delivery.queue
                await delivery.ack()
        return len(seen) >= number

    await until(popped_all, within_s=90)
    return seen


async def test_a_broker_that_lost_its_disk_gets_back_what_waited(broker: Broker) -> None:
    place = Place(broker.server)
    async with place.process() as idle, place.process() as queue:
        soon = datetime.now(UTC) + timedelta(seconds=4)
        await queue.push([*push_of(*range(10)), *push_of(10, 11, queue="later", not_before=soon)])
        await idle.push(push_of(12, queue="soon"))
        first, second = await popped(queue), await popped(queue)
        await asyncio.to_thread(broker.wipe)
        await first.ack()
        await second.release()
        seen = await everything(queue, 12)
        assert seen.keys() == {push.request.url for push in push_of(*range(13))} - {first.request.url}
        assert {url for url, name in seen.items() if name == "later"} == {p.request.url for p in push_of(10, 11)}

        async def settled() -> bool:
            """What was released while the broker was away may come twice."""
            again = await queue.pop(LANES, patience_s=0)
            if again is not None:
                assert again.request.url == second.request.url
                await again.ack()
            return again is None and await queue.is_empty()

        await until(settled)
        assert not await place.markers.any_queued()
        assert await idle.push(push_of(*range(10))) == Pushed(queued=10), "nothing bounces off what is not there"


async def test_a_queue_that_is_deleted_gets_back_what_waited_though_nobody_pushes(place: Place) -> None:
    async with place.process() as queue:
        await queue.push(push_of(*range(5), queue="later"))
        channel = await queue.link.channel()
        await channel.queue_delete(place.names.queue(lanes("later")[0]))
        await channel.queue_delete(place.names.wait(0.3))
        await channel.close()
        assert len(await everything(queue, 5)) == 5


async def test_a_queue_that_does_not_answer_holds_up_only_its_own_lane(broker: Broker) -> None:
    """As a quorum queue does that has lost most of its members, or whose node was killed while it was declared."""
    place = Place(broker.server)
    silent, sound = lanes("later", "normal")
    member = f"{{'%2F_{place.names.queue(silent)}', node()}}"
    async with place.process(connect_timeout_s=1.0) as queue:
        await queue.push([*push_of(1, queue="later"), *push_of(2)])
        await asyncio.to_thread(broker.control, "eval", f"ra:stop_server(quorum_queues, {member}).")
        assert await everything(queue, 1) == {push_of(2)[0].request.url: "normal"}
        with pytest.raises(QueueError, match="does not answer for"):
            await queue.pop([silent], patience_s=0)
        await queue.revive()
        assert sound in queue.consumers.active
        assert silent not in queue.consumers.active
        await asyncio.to_thread(broker.control, "eval", f"ra:restart_server(quorum_queues, {member}).")
        await queue.revive()
        assert await everything(queue, 1) == {push_of(1)[0].request.url: "later"}


async def test_a_consumer_that_could_not_be_stopped_is_stopped_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.process() as queue:
        (lane,) = lanes("later")
        await queue.consumers.want([lane])

        async def fails(_channel: Channel, _marker: str) -> None:
            raise aiormq.exceptions.ConnectionClosed

        with monkeypatch.context() as patched:
            patched.setattr(Channel, "basic_cancel", fails)
            with pytest.raises(QueueError):
                await queue.consumers.stop([lane])
        assert queue.consumers.unwanted() == [lane]
        await queue.consumers.stop(queue.consumers.unwanted())
        assert not queue.consumers.hears(lane)


async def test_what_a_recovery_that_died_left_behind_is_published_in_the_end(place: Place) -> None:
    async with place.process(orphaned_s=0.0) as queue:
        await queue.push(push_of(1, 2, queue="later"))
        channel = await queue.link.channel()
        await channel.queue_purge(place.names.queue(lanes("later")[0]))
        await channel.close()
        await queue.sweep()
        assert len(await everything(queue, 2)) == 2


async def test_no_clock_ends_what_waits(place: Place) -> None:
    """A request that waits for months is found again every day, and waits once."""
    async with place.process() as queue:
        await queue.push(push_of(1, queue="later"))
        (marker,) = place.markers._markers.values()
        place.markers._markers[marker.key] = replace(marker, at=marker.at - timedelta(days=90))
        await queue.sweep()
        assert await queue.push(push_of(1, queue="later")) == Pushed(bounced=1)
        assert by_queue(await queue.depths())["later"].ready == 1


@pytest.mark.parametrize("chore", ["delays", "deadletters", "housekeeping", "owed", "recovery"])
async def test_what_ends_beside_the_loops_begins_anew_and_is_told(
    place: Place, chore: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghcrawl.values.background.FIRST_S", 0.2)
    async with place.process() as queue:
        await until(lambda: is_under_way(chore))
        task_of(chore)[-1].cancel()  # as its driver does with whoever waits for what a close cut off
        await until(lambda: has_restarted(queue))
        with pytest.raises(QueueError, match=f"being restarted: {chore}"):
            await queue.answer()
        await until(lambda: answers(queue))


def task_of(name: str) -> list[asyncio.Task[object]]:
    """Its keeper, if anything, and itself."""
    found = [task for task in asyncio.all_tasks() if task.get_name() == name]
    return sorted(found, key=lambda task: "_keep" not in str(task.get_coro()))


async def is_under_way(name: str) -> bool:
    return len(task_of(name)) == 2


async def has_restarted(queue: AmqpQueue) -> bool:
    return queue.restarts > 0


async def answers(queue: AmqpQueue) -> bool:
    try:
        await queue.answer()
    except QueueError:
        return False
    return True


async def test_a_call_that_a_close_cuts_off_is_the_brokers_trouble(place: Place) -> None:
    """Its driver raises `Exception` itself to whoever waits for an answer then."""
    split = urlsplit(place.server.url)
    assert split.hostname
    assert split.port
    async with proxied(split.hostname, split.port) as wire:
        url = place.server.url.replace(f":{split.port}", f":{wire.port}")
        async with place.process(url=url) as queue:
            wire.swallow()
            asking = [asyncio.create_task(queue.link.ready_count(place.names.dead)) for _ in range(3)]
            pushing = asyncio.create_task(queue.push(push_of(1)))
            await until(lambda: wire.held == 2)  # both connections have sent something
            wire.cut()
            for end in await asyncio.gather(*asking, pushing, return_exceptions=True):
                assert isinstance(end, QueueError), repr(end)
            wire.pass_on()
            await push_until_it_works(queue, 1)
            await (await popped(queue)).ack()


async def stale(incoming: Incoming) -> bool:
    return incoming.stale


async def pushed(queue: AmqpQueue, number: int) -> bool:
    try:
        await queue.push(push_of(number))
    except QueueError:
        return False
    return True


async def push_until_it_works(queue: AmqpQueue, number: int) -> None:
    await until(lambda: pushed(queue, number), every_s=0.05)


async def test_a_wire_that_swallows_everything_is_given_up_and_no_task_dies_of_it(place: Place) -> None:
    split = urlsplit(place.server.url)
    assert split.hostname
    assert split.port
    async with proxied(split.hostname, split.port) as wire:
        url = place.server.url.replace(f":{split.port}", f":{wire.port}")
        async with place.process(url=url, heartbeat_s=1, confirm_timeout_s=60) as queue:
            await queue.push(push_of(1))
            await (await popped(queue)).ack()
            wire.swallow()
            with pytest.raises(QueueError):  # a cancellation that nobody asked for would end the loop
                await queue.push(push_of(2))
            wire.pass_on()
            await push_until_it_works(queue, 3)
            while (delivery := await popped(queue)).request.url != push_of(3)[0].request.url:
                await delivery.ack()


async def test_a_broker_short_of_memory_takes_nothing_and_says_so(broker: Broker) -> None:
    place = Place(broker.server)
    async with place.process(confirm_timeout_s=2.0) as queue:
        await queue.push(push_of(1, 2))
        delivery = await popped(queue)
        await asyncio.to_thread(broker.control, "set_vm_memory_high_watermark", "0")
        with pytest.raises(QueueError, match="does not answer"):  # the one that sets it off
            await queue.push(push_of(3))
        await until(lambda: short_of_memory(queue))
        assert queue.blocked
        await delivery.ack()
        second = await popped(queue)
        await second.ack()
        await asyncio.to_thread(broker.control, "set_vm_memory_high_watermark", "0.6")
        await push_until_it_works(queue, 4)
        assert not queue.blocked


async def short_of_memory(queue: AmqpQueue) -> bool:
    try:
        await queue.push(push_of(3))
    except QueueError as error:
        return "short of memory or disk" in str(error)
    return False
