"""Starts a simulated GitHub."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.simulator.serving import serving


@asynccontextmanager
async def running(
    world: World, setup: Setup | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Server]:
    """A simulator of `world` that answers at `server.url` until the block is left.

    port: 0 takes a free one. Raises OSError where the address is taken.
    """
    setup = setup or Setup()

    def make(base: str) -> Server:
        return Server(world, base, setup)

    async with serving(make, host=host, port=port, public_url=setup.public_url) as server:
        yield server
