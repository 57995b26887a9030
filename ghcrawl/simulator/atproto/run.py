"""Starts a simulated network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ghcrawl.simulator.atproto.server import Limits, Server
from ghcrawl.simulator.atproto.world import World
from ghcrawl.simulator.serving import serving


@asynccontextmanager
async def running(world: World, *, limits: Limits | None = None, port: int = 0) -> AsyncIterator[Server]:
    """It answers at `server.url` until the block is left. Raises OSError where the address is taken."""
    async with serving(lambda base: Server(world, base, limits=limits), port=port) as server:
        yield server
