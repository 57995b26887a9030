"""Waiting for what offers no event: counters, files, brokers and other processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(
    holds: Callable[[], bool | Awaitable[bool]],
    *,
    what: str = "the awaited condition",
    within_s: float = 20.0,
    every_s: float = 0.002,
) -> None:
    """Return once `holds`. Raises AssertionError with `what` after `within_s`."""
    try:
        async with asyncio.timeout(within_s):
            while not (await found if isinstance(found := holds(), Awaitable) else found):  # noqa: ASYNC110  # see above
                await asyncio.sleep(every_s)
    except TimeoutError:
        raise AssertionError(f"{what} did not hold within {within_s:g} s") from None
