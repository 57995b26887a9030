"""A wire that a test can cut, slow down, or make swallow everything, between somebody and a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Proxy:
    """Listens on a port of its own and passes on what comes. Made by `proxied`.

    delay_s: for each piece that passes, in either direction. held: pieces that `swallow` keeps from passing.
    """

    def __init__(self, host: str, port: int) -> None:
        self.port = 0
        self.delay_s = 0.0
        self.connections = 0
        self.held = 0
        self._target = (host, port)
        self._open = asyncio.Event()
        self._open.set()
        self._one_way = asyncio.Event()
        self._one_way.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def open(self) -> int:
        """Connections that are there."""
        return len(self._tasks)

    def cut(self) -> None:
        """Every connection is reset; new ones are welcome."""
        for writer in self._writers:
            writer.transport.abort()

    def swallow(self) -> None:
        """Nothing passes any more, and nobody is told."""
        self._open.clear()

    def swallow_answers(self) -> None:
        """What the server says does not pass any more; what it is told does."""
        self._one_way.clear()

    def pass_on(self) -> None:
        """Everything passes again, what was held back first."""
        self._open.set()
        self._one_way.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        with suppress(OSError):
            there, back = await asyncio.open_connection(*self._target)
            self._writers.add(back)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, back, answers=False))
                both.create_task(self._pump(there, writer, answers=True))
            self._writers.discard(back)
        writer.transport.abort()
        self._writers.discard(writer)
        self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                self.held += 1
                await self._open.wait()
                self.held -= 1
                if answers:
                    await self._one_way.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    async def close(self) -> None:
        """Nothing is left of it."""
        self.pass_on()
        self.cut()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def proxied(host: str, port: int) -> AsyncIterator[Proxy]:
    """A proxy in front of that server, until the block is left."""
    proxy = Proxy(host, port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
