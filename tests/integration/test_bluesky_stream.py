"""A Jetstream that is simulated: the contract of streams, and a subscription from the request to its documents."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ghcrawl.fetch.atproto.streams import stream_of
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.simulator.atproto.run import running
from ghcrawl.simulator.atproto.server import Server
from ghcrawl.simulator.atproto.world import generate
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.model import Push
from processors.atproto.events import Subscription
from tests.contracts.stream_contract import PATIENCE_S, StreamContract, StreamRig
from tests.support.bluesky import Stage, jetstream, left
from tests.support.killed import killed
from tests.support.waiting import until


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


KILLS = 10
IN_THE_CRAWL = 3
"""This many of the kills come before there is a stream."""
KILLED_S = 60.0


@pytest.mark.slow
@pytest.mark.timeout(400)  # eleven processes
async def test_sigkill_at_ten_moments_of_a_crawl_and_a_stream_loses_nothing_and_saves_nothing_twice(tmp_path: Path):
    spec = "bluesky:q/post,profile/user=alice.test?stream"
    async with running(generate(posts=900, accounts=3)) as server:
        alice, db = server.world.named("alice"), tmp_path / "a.db"
        for moment in range(KILLS):
            await _one_life(server, db, spec, moment)
        deleted = server.world.post(alice, "soon gone")
        server.world.delete(alice, deleted)
        settings = {"bluesky.stream_url": jetstream(server.url)}
        stage = Stage(db=db, api_url=server.url, settings=settings, worker="one")
        tally = Tally()
        async with stage.open(tally) as service:
            service.supervisor.start()
            await service.look_again()

            async def all_here() -> bool:
                return len((await left(service, tally)).of("post")) >= len(alice.posts)

            await until(all_here, within_s=KILLED_S, every_s=0.05)
            await service.supervisor.drain(5)
            found = await left(service, tally)
    assert found.deadletters == []
    assert Counter(each.urn.rpartition(":")[2] for each in found.of("post")) == Counter(p.rkey for p in alice.posts)
    assert len({each.url for each in found.of("post")}) == len(alice.posts), "each once"
    assert len(found.of("stream")) == len(found.of("profile")) == 1


async def _one_life(server: Server, db: Path, spec: str, moment: int) -> None:
    """Kill it after some calls of the crawl, or in the middle of events; a post follows while no process runs."""
    alice, begun = server.world.named("alice"), len(server.calls)
    async with killed("tests.support.bluesky_child", db, server.url, spec):
        if moment < IN_THE_CRAWL:
            await until(lambda: len(server.calls) > begun + moment, within_s=KILLED_S)
        else:
            await until(lambda: server.streaming > 0, within_s=KILLED_S)
            for number in range(3 * moment):
                server.world.post(alice, f"live {moment} {number}")
                await asyncio.sleep(0.01)  # events come in several batches, and the kill falls between some
    server.world.post(alice, f"nobody looks {moment}")
    await until(lambda: server.streaming == 0)
