"""`kubectl`, as one asks it from a program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

NAMESPACE: Final = "ghcrawl-rehearsal"


class Failed(Exception):
    """kubectl said no, in these words."""


async def kubectl(*arguments: str, given: str | None = None) -> str:
    """What it prints. Raises Failed."""
    process = await asyncio.create_subprocess_exec(
        "kubectl",
        *("--namespace", NAMESPACE, *arguments),
        stdin=asyncio.subprocess.PIPE if given is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, error = await process.communicate(given.encode() if given is not None else None)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Failed(f"kubectl {' '.join(arguments)}: {error.decode().strip()}")
    return out.decode()


async def found(*arguments: str) -> Any:
    """The same as JSON."""
    return json.loads(await kubectl(*arguments, "--output=json"))


@asynccontextmanager
async def proxy() -> AsyncIterator[str]:
    """The API server, as a URL that asks for no credentials, until the block is left: cheap to ask."""
    process = await asyncio.create_subprocess_exec(
        *("kubectl", "proxy", "--port=0"), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()  # Starting to serve on 127.0.0.1:PORT
        if not line:
            raise Failed("kubectl proxy did not start")
        yield f"http://{line.rpartition(' ')[2].strip()}"
    finally:
        process.kill()
        await process.wait()


async def apply_folder(folder: Path) -> None:
    """What kustomize makes of it is in the cluster."""
    await kubectl("apply", "--kustomize", str(folder))


async def apply(thing: dict[str, Any]) -> None:
    """It is in the cluster."""
    await kubectl("apply", "--filename=-", given=json.dumps(thing))
