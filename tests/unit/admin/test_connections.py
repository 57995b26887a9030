"""Connections that ask for nothing are closed in time, and those who hold many lose their own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from resource import RLIM_INFINITY
from typing import Self

from aiohttp import web

from ghcrawl.admin.connections import Connections, Limits, within
from ghcrawl.admin.server import _listen

HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Port:
    """A port within `limits`, whose one route answers when it may."""

    def __init__(self, limits: Limits) -> None:
        self.closed = Counter[str]()
        self.connections = Connections(limits, lambda why: self.closed.update([why]))
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked = asyncio.Semaphore(0)
        self.place = ("", 0)
        self._stack = AsyncExitStack()

    async def _answer(self, _: web.Request) -> web.Response:
        self.asked.release()
        await self.may_answer.wait()
        return web.Response(text="here")

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/", self._answer)
        url = await _listen(self._stack, app, "127.0.0.1", 0, self.connections)
        self.place = ("127.0.0.1", int(url.rpartition(":")[2]))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.may_answer.set()
        await self._stack.aclose()

    @asynccontextmanager
    async def client(self, sent: bytes) -> AsyncIterator[asyncio.StreamReader]:
        reader, writer = await asyncio.open_connection(*self.place)
        writer.write(sent)
        try:
            yield reader
        finally:
            writer.close()


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What came until the other side closed."""
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionResetError:
        return b""


async def answered(reader: asyncio.StreamReader) -> bool:
    async with asyncio.timeout(10):
        return (await reader.readline()).startswith(b"HTTP/1.1 200") and b"here" in await reader.readuntil(b"here")


async def test_headers_that_never_end_are_waited_for_only_so_long():
    async with Port(Limits(headers_s=0.05)) as port, port.client(HALF) as half, port.client(b"") as silent:
        assert await ended(half) == await ended(silent) == b""
        assert port.closed == {"headers": 2}


async def test_a_request_that_takes_its_time_to_be_answered_is_no_slow_sender():
    async with Port(Limits(headers_s=0.05)) as port, port.client(WHOLE) as slow, port.client(HALF) as half:
        port.may_answer.clear()
        await port.asked.acquire()
        await ended(half)
        port.may_answer.set()
        assert await answered(slow)
        assert port.closed == {"headers": 1}


async def test_whoever_holds_many_connections_loses_the_oldest_of_them_and_who_is_being_answered_stays():
    async with Port(Limits(of_address=3)) as port, AsyncExitStack() as stack:
        port.may_answer.clear()
        working = await stack.enter_async_context(port.client(WHOLE))
        await port.asked.acquire()
        held = [await stack.enter_async_context(port.client(HALF)) for _ in range(10)]
        for gone in held[:8]:
            assert await ended(gone) == b""
        port.may_answer.set()
        assert await answered(working)
        assert port.closed == {"address": 8}


async def test_with_the_port_full_of_half_sent_requests_a_whole_one_is_answered():
    async with Port(Limits(in_all=5)) as port, AsyncExitStack() as stack:
        for _ in range(50):
            await stack.enter_async_context(port.client(HALF))
        assert await answered(await stack.enter_async_context(port.client(WHOLE)))
        assert port.closed["all"] >= 45


async def test_a_connection_too_many_is_refused_while_all_the_others_are_being_answered():
    async with Port(Limits(in_all=2)) as port, AsyncExitStack() as stack:
        port.may_answer.clear()
        working = [await stack.enter_async_context(port.client(WHOLE)) for _ in range(2)]
        for _ in working:
            await port.asked.acquire()
        assert await ended(await stack.enter_async_context(port.client(WHOLE))) == b""
        port.may_answer.set()
        assert all([await answered(each) for each in working])


async def test_closed_connections_make_room():
    async with Port(Limits(in_all=2, of_address=2)) as port:
        for _ in range(20):
            async with port.client(WHOLE) as each:
                assert await answered(each)


def test_limits_leave_descriptors_for_everything_else():
    assert within(Limits(), RLIM_INFINITY) == within(Limits(), 20_000) == Limits()
    assert within(Limits(), 512) == Limits(in_all=256, of_address=128)
    assert within(Limits(), 64).in_all == 32
