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
    wanted = setup or Setup()
    opening = serving(lambda base: Server(world, base, wanted), host=host, port=port, public_url=wanted.public_url)
    async with opening as server:
        yield server
