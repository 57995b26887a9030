"""Starts a simulator: inside a test, or as a program of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from ghcrawl.simulator.server import Server, Setup
from ghcrawl.simulator.world import World

GRACE_S: Final = 0.1
"""How long calls in hand may still take when a simulator is stopped."""


@asynccontextmanager
async def running(
    world: World, setup: Setup | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Server]:
    """A simulator of `world` that answers at `server.url` until the block is left.

    port: 0 takes a free one. Raises OSError where the address is taken.
    """
    listening = socket.create_server((host, port))
    setup = setup or Setup()
    base = setup.public_url.rstrip("/") or f"http://{host}:{listening.getsockname()[1]}"
    server = Server(world, base, setup)
    runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=GRACE_S)
    try:
        await runner.setup()
        await web.SockSite(runner, listening).start()
        yield server
    finally:
        await server.webhooks.close()
        await runner.cleanup()
        listening.close()


async def serve(
    world: World,
    setup: Setup,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[Server], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Simulate GitHub until `stop` is set, or for ever; `ready` is told the server once it answers.

    Prints nothing and handles no signal: whoever calls it does. Raises OSError where the address is taken.
    """
    async with running(world, setup, host=host, port=port) as server:
        if ready is not None:
            ready(server)
        await (stop or asyncio.Event()).wait()
