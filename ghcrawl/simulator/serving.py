"""Starts a simulated API on loopback: inside a test, or as a program of its own."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol, TypeVar

from aiohttp import web

GRACE_S: Final = 0.1
"""How long calls in flight may still take when a server is stopped."""


class Api(Protocol):
    """A simulated API."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answers one call."""

    async def close(self) -> None:
        """Stop all background work."""


A = TypeVar("A", bound=Api)


@asynccontextmanager
async def serving(
    make: Callable[[str], A], *, host: str = "127.0.0.1", port: int = 0, public_url: str = ""
) -> AsyncIterator[A]:
    """The API that `make` returns for its base URL answers until the block is left.

    port: 0 takes a free one. public_url: its base URL where that is not the address it listens on.
    Raises OSError where the address is taken.
    """
    listening = socket.create_server((host, port))
    api = make(public_url.rstrip("/") or f"http://{host}:{listening.getsockname()[1]}")
    runner = web.ServerRunner(web.Server(api.handle, access_log=None), shutdown_timeout=GRACE_S)
    try:
        await runner.setup()
        await web.SockSite(runner, listening).start()
        yield api
    finally:
        await api.close()
        await runner.cleanup()
        listening.close()
