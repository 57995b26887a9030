"""The contract of streams on a simulated host of Mastodon: server-sent events, and a WebSocket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from ghcrawl.fetch.mastodon.fetcher import MastodonFetcher, MastodonSettings
from ghcrawl.fetch.mastodon.streams import MastodonStream, Subscription, Transport
from ghcrawl.ports.stream import Stream
from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.mastodon.server import Server, Setup, running
from ghcrawl.simulator.mastodon.world import World
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.documents import Document
from ghcrawl.values.requests import Push
from processors.mastodon.streams import channel, told
from tests.contracts.stream_contract import StreamContract, StreamRig
from tests.support.builders import a_document, an_egress
from tests.support.mastodon import TOKEN, tokens
from tests.support.waiting import until


def subscription(host: str, words: str = "%23rain") -> Document:
    request = f"mastodon://{host}/q/post/query={words}?stream"
    return a_document(platform="mastodon", type="stream", url=request, body={"request": request, "account_id": ""})


class MastodonRig(StreamRig):
    def __init__(self, server: Server, fetcher: MastodonFetcher, clock: SimClock, transport: Transport) -> None:
        self.server = server
        document = subscription(server.host)
        name, tag, timeline = channel(document)
        asked = Subscription(host=server.host, channel=name, tag=tag, timeline=timeline)
        self.stream: Stream = MastodonStream(fetcher, asked, partial(told, document), transport=transport)
        self._author = server.world.join("ada")
        self._clock = clock
        self._known = 0

    async def happen(self, *names: str) -> None:
        for name in names:
            self._clock.advance(1)
            self.server.world.post(self._author, name, tags=["rain"])
            self.server.world.post(self._author, f"not {name}", tags=["sun"])

    async def cut(self) -> None:
        self.server.streaming.cut()

    async def refuse(self) -> None:
        self.server.setup.tokens.clear()

    async def connected(self) -> None:
        await until(lambda: self.server.streaming.opened > self._known)
        self._known = self.server.streaming.opened

    async def idle(self) -> None:
        await until(lambda: self.server.streaming.connections == 0)

    def name(self, push: Push) -> str:
        if push.request.payload is None:
            return ""
        return str(push.request.payload.body["content"]).removeprefix("<p>").partition(" ")[0]


class TestMastodonStreams(StreamContract):
    @pytest.fixture(params=["sse", "websocket"])
    async def rig(self, request: pytest.FixtureRequest) -> AsyncIterator[StreamRig]:
        clock = SimClock()
        async with running(World(clock), Setup(tokens={TOKEN: "ada"})) as server:
            fetcher = MastodonFetcher(MastodonSettings(), tokens(server.host), clock, Tally(), an_egress())
            async with fetcher:
                yield MastodonRig(server, fetcher, clock, request.param)
