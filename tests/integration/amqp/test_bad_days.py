"""Brokers that cannot be used, each in one clear line, and brokers that break while they are."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import aiormq
import pytest

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.values.errors import ConfigError, QueueError, Unstorable
from ghcrawl.values.model import Push
from queues.amqp.message import Incoming
from queues.amqp.queue import AmqpQueue
from tests.integration.amqp.own import Place, popped, push_of
from tests.integration.amqp.rig import until
from tests.support.builders import a_payload, a_request
from tests.support.lanes import lanes
from tests.support.listening import saying_nothing
from tests.support.services.network import free_ports
from tests.support.services.proxy import proxied
from tests.support.services.rabbitmq import Broker


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
    assert said.endswith(f"does not let the user {user!r} in: check name and password")


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
    assert f"what listens at 127.0.0.1:{port} does not speak AMQP 0-9-1" in said


async def test_somebody_listens_and_says_nothing(place: Place) -> None:
    async with saying_nothing() as port:
        said = await refusal(place, url=f"amqp://u:secret@127.0.0.1:{port}/", connect_timeout_s=0.5)
    assert f"nobody answers in AMQP at 127.0.0.1:{port}" in said


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
        assert not await place.tags.any_queued()


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
        channel = await queue.link.raw_channel()
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
        assert await in_hand[0].incoming.ack() is False, "on the new channel its tag is somebody else's"
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


async def stale(incoming: Incoming) -> bool:
    return incoming.stale


async def push_until_it_works(queue: AmqpQueue, number: int) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                await queue.push(push_of(number))
            except QueueError:
                await asyncio.sleep(0.1)
            else:
                return


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
