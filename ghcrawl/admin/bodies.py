"""Reading what comes in: counted while it comes, so that nobody can send more than is allowed, or for longer."""

from __future__ import annotations

import asyncio

from aiohttp import web
from aiohttp.client_exceptions import ClientError

from ghcrawl.admin.problems import Problem


async def read(request: web.Request, *, max_bytes: int, timeout_s: float) -> bytes:
    """The whole body. Raises Problem: 413 too large, 408 too slow, 400 cut short, 415 compressed."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise Problem(415, "send the body as it is, without Content-Encoding")
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
                parts.append(part)
    except TimeoutError:
        raise Problem(408, f"the body did not arrive within {timeout_s:g} s", headers={"Connection": "close"}) from None
    except (ClientError, web.HTTPException, ConnectionError) as error:
        raise Problem(400, "the body was cut short", headers={"Connection": "close"}) from error
    return b"".join(parts)


def _too_large(max_bytes: int) -> Problem:
    return Problem(413, f"the body is larger than {max_bytes:,} bytes", headers={"Connection": "close"})
