"""Reads request bodies within limits of size and time, enforced while they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aiohttp import web
from aiohttp.client_exceptions import ClientError

from ghcrawl.admin.problems import Problem, unavailable

SMALL: Final = 64 * 1024
"""What every body may take without asking: nearly all are smaller."""


class Share:
    """What one body has of a room."""

    def __init__(self, room: Room) -> None:
        self.taken = 0
        self._room = room

    def grow(self, size: int) -> None:
        """The body has `size` bytes by now. Raises Problem (503) where there is no room for more."""
        more = max(0, size - SMALL) - self.taken
        if more > self._room.left:
            raise unavailable("too many request bodies in flight; retry later")
        self._room.left -= more
        self.taken += more


class Room:
    """Memory for bodies of unverified senders, limited for all of them together."""

    def __init__(self, max_bytes: int) -> None:
        self.left = max_bytes

    @contextmanager
    def share(self) -> Iterator[Share]:
        """What is taken in the block is there again when it is left."""
        share = Share(self)
        try:
            yield share
        finally:
            self.left += share.taken


async def read(request: web.Request, *, max_bytes: int, timeout_s: float, share: Share | None = None) -> bytes:
    """The whole body. Raises Problem: 413 too large, 408 too slow, 400 cut short, 415 compressed, 503 no room."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise Problem(415, "Content-Encoding is not supported; send the body uncompressed")
    if (request.content_length or 0) > max_bytes:
        raise _too_large(max_bytes)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_s):
            async for part in request.content.iter_any():
                size += len(part)
                if size > max_bytes:
                    raise _too_large(max_bytes)
                if share is not None:
                    share.grow(size)
                parts.append(part)
    except TimeoutError:
        raise Problem(408, f"the body did not arrive within {timeout_s:g} s", headers={"Connection": "close"}) from None
    except (ClientError, web.HTTPException, ConnectionError) as error:
        raise Problem(400, "the body is incomplete", headers={"Connection": "close"}) from error
    return b"".join(parts)


def _too_large(max_bytes: int) -> Problem:
    return Problem(413, f"the body is larger than {max_bytes:,} bytes", headers={"Connection": "close"})
