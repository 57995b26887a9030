"""A Jetstream that is simulated: the contract of streams, and a subscription from the request to its documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.fetch.atproto.streams import stream_of
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.simulator.atproto.run import running
from ghcrawl.simulator.atproto.server import Server
from ghcrawl.simulator.atproto.world import generate
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.requests import Push
from processors.atproto.events import Subscription
from tests.contracts.stream_contract import PATIENCE_S, StreamContract, StreamRig
from tests.support.backends import backend
from tests.support.bluesky import Stage, jetstream, left
from tests.support.bluesky_killed import Place, ten_kills_lose_nothing_and_save_nothing_twice
from tests.support.services.fixtures import mongo_url, rabbitmq, vhost
from tests.support.waiting import until

__all__ = ["backend", "mongo_url", "rabbitmq", "vhost"]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with running(generate(posts=40, accounts=3)) as found:
        yield found


class JetstreamRig(StreamRig):
    def __init__(self, server: Server) -> None:
        self.server = server
        self.alice = server.world.named("alice")
        self.stream = stream_of(jetstream(server.url), Subscription().pushes, dids=[self.alice.did])

    async def happen(self, *names: str) -> None:
        for name in names:
            self.server.world.post(self.server.world.named("bob"), "nobody asked for this")
            self.server.world.post(self.alice, name)

    async def cut(self) -> None:
        self.server.cut()

    async def refuse(self) -> None:
        self.server.refuses_streams = True

    async def connected(self) -> None:
        await until(lambda: self.server.streaming > 0)

    async def idle(self) -> None:
        await until(lambda: self.server.streaming == 0)

    def name(self, push: Push) -> str:
        return str(push.request.payload.body["record"]["text"]) if push.request.payload else ""


class TestJetstream(StreamContract):
    @pytest.fixture
    def rig(self, server: Server) -> StreamRig:
        return JetstreamRig(server)


@pytest.fixture
def stage(server: Server, tmp_path: Path) -> Stage:
    settings = {"bluesky.stream_url": jetstream(server.url)}
    return Stage(db=tmp_path / "a.db", api_url=server.url, settings=settings)


async def test_a_request_with_stream_saves_what_comes_later_and_what_is_deleted(stage: Stage, server: Server):
    alice, tally = server.world.named("alice"), Tally()
    async with stage.open(tally) as service:
        await stage.push(service, "bluesky:q/post/user=alice.test?stream")
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.look_again()
        await until(lambda: server.streaming == 1)
        first, second = server.world.post(alice, "first"), server.world.post(alice, "second")
        server.cut()
        third = server.world.post(alice, "third")
        server.world.delete(alice, second)

        async def as_it_ends() -> bool:
            stored = {each.body["record"].get("text", "") for each in (await left(service, tally)).of("post")}
            return {"first", "third"} <= stored and "second" not in stored

        await until(as_it_ends, within_s=PATIENCE_S, every_s=0.05)
        async with asyncio.timeout(2):
            await service.streams.stop()
        await service.supervisor.drain(5)
        found = await left(service, tally)
    rkeys = {each.urn.rpartition(":")[2] for each in found.of("post")}
    assert rkeys == {post.rkey for post in alice.posts}
    assert {first.rkey, third.rkey} <= rkeys
    assert not found.deadletters


async def test_a_stream_that_is_refused_is_a_deadletter_and_requeued_it_is_tried_again(stage: Stage, server: Server):
    server.refuses_streams = True
    async with stage.open(Tally()) as service:
        await stage.push(service, "bluesky:q/post/user=alice.test?stream,limit=1")
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.look_again()
        await until(lambda: service.streams.running == 0)
        (letter,) = await service.backend.deadletters.list(DeadletterFilter(), limit=9)
        assert (letter.kind, letter.request.type) == ("http_403", "stream")
        await service.look_again()
        assert service.streams.running == 0
        server.refuses_streams = False
        await service.backend.queue.push([Push(request=letter.request.renewed(), queue="immediate")])
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.look_again()
        await until(lambda: server.streaming == 1)
        await service.supervisor.drain(5)


class Simulated(Place):
    def __init__(self, server: Server) -> None:
        self.url, self.stream_url, self.handle = server.url, jetstream(server.url), "alice.test"
        self._server = server

    def calls(self) -> int:
        return len(self._server.calls)

    def streaming(self) -> int:
        return self._server.streaming

    async def post(self, text: str) -> str:
        return self._server.world.post(self._server.world.named("alice"), text).rkey

    async def delete(self, key: str) -> None:
        alice = self._server.world.named("alice")
        (post,) = [each for each in alice.posts if each.rkey == key]
        self._server.world.delete(alice, post)

    async def posts(self) -> list[str]:
        return [post.rkey for post in self._server.world.named("alice").posts]


@pytest.mark.slow
@pytest.mark.timeout(400)  # eleven processes
async def test_sigkill_at_ten_moments_of_a_crawl_and_a_stream_loses_nothing(backend: Mapping[str, Any]):
    async with running(generate(posts=900, accounts=3)) as server:
        await ten_kills_lose_nothing_and_save_nothing_twice(Simulated(server), backend)
