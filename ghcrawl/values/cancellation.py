"""Work that is finished even if its caller is cancelled, or something beside it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which runs to its end even if the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            await asyncio.wait([task])
        raise


async def all_of(calls: Iterable[Awaitable[T]], *, first: type[BaseException] = BaseException) -> list[T]:
    """Their results, concurrently. Once all have ended, raises the first error of type `first`, or else the first."""
    ends = await asyncio.gather(*calls, return_exceptions=True)
    errors = [end for end in ends if isinstance(end, BaseException)]
    if errors:
        raise next((error for error in errors if isinstance(error, first)), errors[0])
    return [end for end in ends if not isinstance(end, BaseException)]
