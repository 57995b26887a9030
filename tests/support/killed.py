"""Processes that end as SIGKILL ends them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


@asynccontextmanager
async def killed(module: str, *arguments: str | Path) -> AsyncIterator[None]:
    """`python -m module` runs until the block is left, and is killed then."""
    words = [sys.executable, "-m", module, *map(str, arguments)]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.DEVNULL)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
