"""Streams of Mastodon: recorded events, a whole service that reads one, and kills at ten moments."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from ghcrawl.fetch.mastodon.streams import Happened, parsed, said_in
from ghcrawl.ports.clock import SystemClock
from ghcrawl.simulator.mastodon.server import Server, Setup, running
from ghcrawl.simulator.mastodon.world import Account, World, generate
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import StreamRefused
from ghcrawl.values.jsontext import dumps, loads
from processors.mastodon.streams import told
from tests.support.backends import backend
from tests.support.builders import NOW, a_document
from tests.support.killed import killed
from tests.support.mastodon import TOKEN, killable, left
from tests.support.mastodon_recordings import exchanges, sockets
from tests.support.services.fixtures import mongo_url, rabbitmq, vhost
from tests.support.waiting import until

__all__ = ["backend", "mongo_url", "rabbitmq", "vhost"]

CHILD = "tests.support.mastodon_child"
EVERYTHING = a_document(
    platform="mastodon",
    type="stream",
    url="mastodon://a.example/q/post/user=a?stream",
    body={"request": "mastodon://a.example/q/post/user=a?stream", "account_id": ""},
)


def pushes(happened: list[Happened]) -> Counter[str]:
    """What recorded events become."""
    found = [push for each in happened for push in told(EVERYTHING, each.event, _body(each.payload), NOW)]
    return Counter("status" if push.request.payload else "gone" for push in found)


def _body(payload: str) -> object:
    try:
        return loads(payload.encode())
    except ValueError:
        return payload


@pytest.mark.recordings
async def test_recorded_server_sent_events_become_events(capsys: pytest.CaptureFixture[str]) -> None:
    events = Counter[str]()
    queued = Counter[str]()
    for each in exchanges():
        if "/api/v1/streaming/" not in each.path or each.status != 200 or each.path.endswith("health"):
            continue

        async def chunks(text: str = each.text) -> AsyncIterator[bytes]:
            for start in range(0, len(text), 1000):  # as a network would cut it
                yield text.encode()[start : start + 1000] if text.isascii() else b""
            if not text.isascii():
                yield text.encode()

        happened = [one async for one in parsed(chunks())]
        assert len(happened) == each.text.count("\nevent:") + each.text.startswith("event:")
        events.update(one.event for one in happened)
        queued += pushes(happened)
    with capsys.disabled():
        print(f"\nserver-sent events: {dict(events)}, queued: {dict(queued)}")
    assert queued["status"] == events["update"] + events["status.update"] > 0
    assert queued["gone"] == events["delete"]


@pytest.mark.recordings
def test_recorded_messages_of_websockets_become_events(capsys: pytest.CaptureFixture[str]) -> None:
    events, queued, errors = Counter[str](), Counter[str](), 0
    for connections in sockets().values():
        for message in (one["receive"] for each in connections for one in each["interactions"] if "receive" in one):
            try:
                happened = said_in(_text(message), "ws://a.example")
            except StreamRefused:
                errors += 1
                continue
            assert happened is not None
            events[happened.event] += 1
            queued += pushes([happened])
    with capsys.disabled():
        print(f"\nWebSocket messages: {dict(events)}, queued: {dict(queued)}, errors: {errors}")
    assert queued["status"] == events["update"] + events["status.update"] > 0
    assert queued["gone"] == events["delete"]
    assert errors > 0


def _text(message: object) -> str:
    return dumps(message).decode()


def expected(world: World, name: str) -> set[str]:
    author = world.named(name)
    assert author is not None
    return {str(each.id) for each in world.of(author)}


@pytest.mark.slow
@pytest.mark.timeout(400)  # eleven processes
async def test_sigkill_at_ten_moments_of_a_crawl_and_a_stream_loses_nothing(backend: Mapping[str, Any]) -> None:
    world, tally = generate(SystemClock(), accounts=3, statuses=900), Tally()
    async with running(world, Setup(tokens={TOKEN: "user1"}, limit=100_000)) as server:
        spec = f"mastodon://{server.host}/q/post,profile,relations/user=user1?stream"
        for moment in range(10):
            await _one_life(server, backend, spec, moment)
        async with killable(server.host, backend).open(tally) as service:
            service.supervisor.start()
            await service.look_again()
            await until(lambda: server.streaming.connections == 1, within_s=60)
            world.post(_user(world), "the last one")
            wanted = expected(world, "user1")

            async def all_here() -> bool:
                return {each.body["id"] for each in (await left(service, tally)).of("status")} == wanted

            await until(all_here, within_s=60, every_s=0.1)
            await service.supervisor.until_empty(service.backend.queue, every_s=0.05)
            await service.supervisor.drain(5)
            crawled = await left(service, tally)
    assert crawled.deadletters == []
    assert Counter(each.body["id"] for each in crawled.of("status")) == Counter(wanted), "each once"
    assert crawled.counts["account"] == 1


def _user(world: World) -> Account:
    author = world.named("user1")
    assert author is not None
    return author


async def _one_life(server: Server, backend: Mapping[str, Any], spec: str, moment: int) -> None:
    """Kill it after some calls of the crawl, or in the middle of events; a post follows while no process runs."""
    begun = len(server.calls)
    async with killed(CHILD, server.host, json.dumps(backend), spec):
        if moment < 4:
            await until(lambda: len(server.calls) > begun + 2 * moment, within_s=60)
        else:
            await until(lambda: server.streaming.connections == 1, within_s=60)
            for number in range(moment):
                server.world.post(_user(server.world), f"live {moment} {number}")
                await asyncio.sleep(0.01)  # events come in several batches, and the kill falls between some
    server.world.post(_user(server.world), f"nobody looks {moment}")
