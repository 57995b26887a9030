"""The contract of streams, bound to its implementations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ghcrawl.ports.stream import Stream
from ghcrawl.streams.memory import MemoryStream
from ghcrawl.values.requests import Payload, Push, Request
from tests.contracts.stream_contract import PATIENCE_S, StreamContract, StreamRig
from tests.support.builders import NOW


def item(name: str) -> Push:
    payload = Payload.of({"name": name}, origin="event", observed_at=NOW)
    return Push(request=Request(platform="p", type="post", url=f"p:{name}", payload=payload), queue="event")


class MemoryStreamRig(StreamRig):
    def __init__(self) -> None:
        self.memory = MemoryStream()
        self.stream: Stream = self.memory

    async def happen(self, *names: str) -> None:
        self.memory.tell(*map(item, names))

    async def cut(self) -> None:
        self.memory.cut()

    async def refuse(self) -> None:
        self.memory.refuse("not for you")

    async def connected(self) -> None:
        await self._until(lambda: self.memory.connections > 0)

    async def idle(self) -> None:
        await self._until(lambda: self.memory.connections == 0)

    def name(self, push: Push) -> str:
        return str(push.request.payload.body["name"]) if push.request.payload else ""

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110  # a turn of the event loop
                await asyncio.sleep(0)


class TestMemoryStream(StreamContract):
    @pytest.fixture
    def rig(self) -> StreamRig:
        return MemoryStreamRig()
