"""A door from another address to a server that listens on loopback only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

CHUNK = 65536


@asynccontextmanager
async def door(host: str, port: int) -> AsyncIterator[int]:
    """Connections to `host` at the port that this gives lead to 127.0.0.1:`port`, until the block is left."""
    passages: set[asyncio.Task[None]] = set()

    async def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        passages.add(task)
        try:
            await _through(reader, writer, port)
        finally:
            passages.discard(task)

    server = await asyncio.start_server(let_in, host, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for passage in passages:
            passage.cancel()
        await asyncio.gather(*passages, return_exceptions=True)


async def _through(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    """Both directions, until either end is closed. A server that is away closes at once, as a refusal would."""
    try:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.close()
        return
    ways = [asyncio.create_task(_carry(reader, inner_writer)), asyncio.create_task(_carry(inner_reader, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        inner_writer.close()
        writer.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK):
        writer.write(chunk)
        await writer.drain()
