"""Patience with an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(ready: Callable[[], Awaitable[bool]], *, what: str, within_s: float, every_s: float = 0.3) -> None:
    """Return once `ready`. Raises AssertionError with `what` after `within_s`."""
    try:
        async with asyncio.timeout(within_s):
            while True:
                if await ready():
                    return
                await asyncio.sleep(every_s)
    except TimeoutError:
        raise AssertionError(f"{what} did not come within {within_s:g} s") from None
