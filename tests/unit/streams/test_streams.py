"""Producers: items durable before their cursor, one replica at a time, and what becomes of a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import pytest
from prometheus_client import CollectorRegistry

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Pushed
from ghcrawl.ports.stream import Batch
from ghcrawl.streams.lease import LEASE, Lease, read
from ghcrawl.streams.memory import MemoryStream
from ghcrawl.streams.producer import LISTS_LAG, Producer, StreamPorts
from ghcrawl.streams.supervisor import STOP_S, Streamed, Streams
from ghcrawl.telemetry.stream_metrics import StreamMetrics
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import QueueError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import digest
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Payload, Push, Request
from ghcrawl.values.type_names import TypeName
from queues.memory import MemoryQueue
from stores.memory import MemoryDeadletters, MemoryStore
from tests.support.builders import NOW
from tests.support.clock import FakeClock

TYPE = TypeName("p", "stream")


def item(number: int) -> Push:
    payload = Payload.of({"n": number}, origin="event", observed_at=NOW)
    return Push(request=Request(platform="p", type="post", url=f"p:{number}", payload=payload), queue="event")


def subscription(name: str = "all") -> Document:
    return Document(
        platform="p",
        type="stream",
        url=f"p:{name}",
        urn=f"urn:p:stream:{name}",
        body={},
        links={},
        observed_at=NOW,
        fetched_at=NOW,
        processed_at=NOW,
        version=1,
        digest=digest({}),
    )


class FlakyQueue(MemoryQueue):
    """Refuses the next `failures` pushes."""

    failures = 0

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        if self.failures:
            self.failures -= 1
            raise QueueError("the broker is away")
        return await super().push(pushes)


class World:
    """A stream, and everything that a producer writes to."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.stream = MemoryStream()
        self.queue, self.store, self.deadletters = FlakyQueue(self.clock), MemoryStore(), MemoryDeadletters()
        self.ports = StreamPorts(queue=self.queue, store=self.store, deadletters=self.deadletters, clock=self.clock)

    def producer(self, worker: str = "one") -> Producer:
        return Producer(subscription(), self.stream, self.ports, worker=worker, jitter=lambda: 1.0)

    async def queued(self) -> list[int]:
        waiting = await self.queue.peek("event", limit=1000)
        return sorted(request.payload.body["n"] for request in waiting if request.payload)


@pytest.fixture
def world() -> World:
    return World()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(5):
        while not await holds():  # noqa: ASYNC110  # a turn of the event loop
            await asyncio.sleep(0)


async def stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def test_what_happens_is_queued_once_over_cuts_and_replicas(world: World) -> None:
    one, two = (asyncio.create_task(world.producer(name).run()) for name in ("one", "two"))
    await until(lambda: connected(world))
    for start in range(0, 60, 20):
        world.stream.tell(*map(item, range(start, start + 20)))
        world.stream.cut()
    await until(lambda: holds(world, 60))
    assert world.stream.connections == 1, "one replica produces, the other found the lease taken"
    await stopped(one)
    await stopped(two)
    state = await read(world.store, subscription().urn)
    assert (state.items, state.cursor, state.holder) == (60, "60", "")


async def connected(world: World) -> bool:
    return world.stream.connections > 0 and bool((await read(world.store, subscription().urn)).cursor)


async def holds(world: World, count: int) -> bool:
    return await world.queued() == list(range(count))


async def test_a_cursor_is_kept_only_after_the_items_are_durable(world: World) -> None:
    task = asyncio.create_task(world.producer().run())
    await until(lambda: connected(world))
    world.queue.failures = 3
    world.stream.tell(item(0))
    await until(lambda: holds(world, 1))
    await stopped(task)
    assert world.queue.failures == 0
    assert (await read(world.store, subscription().urn)).items == 1


async def test_another_replica_goes_on_where_the_first_stopped(world: World) -> None:
    first = asyncio.create_task(world.producer("one").run())
    await until(lambda: connected(world))
    world.stream.tell(item(0))
    await until(lambda: holds(world, 1))
    await stopped(first)
    world.stream.tell(item(1))
    second = asyncio.create_task(world.producer("two").run())
    await until(lambda: holds(world, 2))
    await stopped(second)


async def test_a_dead_replica_holds_a_stream_up_for_one_lease(world: World) -> None:
    dead = Lease(world.store, world.clock, subscription().urn, "dead")
    assert await dead.take()
    assert not await Lease(world.store, world.clock, subscription().urn, "two").take()
    world.clock.advance(LEASE.total_seconds() + 1)
    assert await Lease(world.store, world.clock, subscription().urn, "two").take()
    assert not await dead.keep(cursor="99"), "whoever was taken for dead writes nothing any more"


async def test_waits_grow_while_nothing_comes_and_start_over_with_the_first_item(world: World) -> None:
    task = asyncio.create_task(world.producer().run())
    await until(lambda: connected(world))
    for _ in range(4):
        world.stream.cut()
        await until(lambda: connected(world))
        await asyncio.sleep(0)
    waits = [slept for slept in world.clock.slept if slept != 20.0]
    assert waits == sorted(waits)
    assert waits[0] == 0.5
    await stopped(task)


async def test_a_refusal_becomes_a_deadletter_with_its_story_and_ends_the_subscription(world: World) -> None:
    await world.store.save(subscription())
    world.stream.refuse("this stream needs a token")
    await world.producer().run()
    (letter,) = await world.deadletters.list(DeadletterFilter(), limit=9)
    assert (letter.kind, letter.reason, letter.request.url) == ("http_403", "this stream needs a token", "p:all")
    kept = await world.store.get(subscription().urn)
    assert kept is not None
    assert kept.deleted_at is not None


async def test_what_the_platform_forgot_is_said(world: World) -> None:
    task = asyncio.create_task(world.producer().run())
    await until(lambda: connected(world))
    await stopped(task)
    world.stream.tell(*map(item, range(5)))
    world.stream.forgotten = 3
    task = asyncio.create_task(world.producer().run())

    async def told() -> bool:
        return (await read(world.store, subscription().urn)).items == 2

    await until(told)
    await stopped(task)
    assert (await read(world.store, subscription().urn)).lost == "3 items are forgotten"


async def test_a_stream_is_produced_while_there_is_a_subscription_and_ends_at_once(world: World) -> None:
    streams = Streams([Streamed(type=TYPE, open=lambda _: world.stream)], world.ports, worker="one")
    await streams.look()
    assert streams.running == 0
    await world.store.save(subscription())
    await streams.look()
    await streams.look()
    assert streams.running == 1
    await until(lambda: connected(world))
    gone = replace(subscription(), deleted_at=NOW, observed_at=NOW)
    await world.store.save(gone)
    await streams.look()
    assert (streams.running, world.stream.connections) == (0, 0)


async def test_stopping_takes_less_than_two_seconds(world: World) -> None:
    await world.store.save(subscription())
    streams = Streams([Streamed(type=TYPE, open=lambda _: world.stream)], world.ports, worker="one")
    await streams.look()
    await until(lambda: connected(world))
    async with asyncio.timeout(2):
        await streams.stop()
    await streams.look()
    assert (streams.running, world.stream.connections) == (0, 0), "and it stays so"


async def test_metrics_say_who_reads_what_comes_and_how_often_it_breaks(world: World) -> None:
    registries = {name: CollectorRegistry() for name in ("one", "two")}

    def shown(replica: str, name: str) -> float | None:
        return registries[replica].get_sample_value(f"ghcrawl_{name}", {"platform": "p"})

    replicas = {
        name: Streams([Streamed(type=TYPE, open=lambda _: world.stream)], world.ports, worker=name)
        for name in registries
    }
    for name, streams in replicas.items():
        streams.observer = StreamMetrics(registries[name])
        await streams.look()
    assert [shown(name, "streams_subscribed") for name in replicas] == [0, 0]
    await world.store.save(subscription())
    for streams in replicas.values():
        await streams.look()
    await until(lambda: connected(world))
    world.stream.tell(item(0), item(1))
    await until(lambda: holds(world, 2))
    (reader,) = [name for name in replicas if shown(name, "streams_held")]
    world.stream.cut()
    await until(lambda: counts(shown, reader, "stream_disconnects_total", 1))
    world.stream.tell(item(2))
    await until(lambda: counts(shown, reader, "stream_items_total", 3))
    assert [shown(name, "streams_subscribed") for name in replicas] == [1, 1]
    assert sorted(shown(name, "streams_held") or 0 for name in replicas) == [0, 1], "one holds the lease"
    for streams in replicas.values():
        await streams.stop()
    assert (shown(reader, "streams_held"), shown(reader, "stream_cursor_timestamp_seconds")) == (0, None)


async def counts(shown: Callable[[str, str], float | None], replica: str, name: str, number: int) -> bool:
    return shown(replica, name) == number


class LiveStream(MemoryStream):
    """A platform that cannot replay what happened before the stream began."""

    async def read(self, cursor: str) -> AsyncGenerator[Batch, None]:
        yield Batch(pushes=(), cursor=cursor, missed=(Request(platform="p", type="list", url="p:list"),))
        await asyncio.Event().wait()


async def test_what_a_stream_cannot_replay_is_asked_for_once_lists_have_caught_up(world: World) -> None:
    world.stream = LiveStream()
    task = asyncio.create_task(world.producer().run())
    try:
        await until(lambda: waits(world, 1))
        world.clock.advance(LISTS_LAG.total_seconds() - 1)
        assert await world.queue.pop([Lane("p", "soon")], patience_s=0) is None, "lists may be behind the stream"
        world.clock.advance(1)
        delivery = await world.queue.pop([Lane("p", "soon")], patience_s=0)
        assert delivery is not None
        assert delivery.request.type == "list"
    finally:
        await stopped(task)
    assert (await read(world.store, subscription().urn)).items == 0, "a request is no item"


async def waits(world: World, number: int) -> bool:
    return sum(depth.delayed for depth in (await world.queue.depths()).values()) == number


class DeafStream(MemoryStream):
    """A platform whose connection cannot be closed before it was tried twice."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.tried = asyncio.Event(), 0

    async def read(self, cursor: str) -> AsyncGenerator[Batch, None]:
        yield Batch(pushes=(), cursor="0")
        while True:
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.tried += 1
                if self.tried == 2:
                    raise


@pytest.mark.slow
async def test_stopping_does_not_wait_for_a_platform_that_does_not_let_go(world: World) -> None:
    stream = DeafStream()
    await world.store.save(subscription())
    streams = Streams([Streamed(type=TYPE, open=lambda _: stream)], world.ports, worker="one")
    await streams.look()
    await stream.waiting.wait()
    (task,) = [each for each in asyncio.all_tasks() if each.get_name().startswith("stream p:")]
    began = asyncio.get_running_loop().time()
    await streams.stop()
    assert STOP_S - 0.1 < asyncio.get_running_loop().time() - began < STOP_S + 0.5, "no longer than it may"
    (coming,) = [each for each in asyncio.all_tasks() if each.get_name() == "stream-batch"]
    coming.cancel()
    await asyncio.wait([coming, task])
