"""A process that crawls one request of a simulated host and reads its stream, until somebody kills it.

`python -m tests.support.mastodon_child FILE HOST SPEC`
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.ports.clock import SystemClock
from ghcrawl.settings.sections import load
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.model import Push
from ghcrawl.wiring import open_service, settings_model
from tests.support.mastodon import tokens


async def main(db: str, host: str, spec: str) -> None:
    """Never returns."""
    over: dict[str, Any] = {"sqlite.path": Path(db), "sqlite.synchronous": "normal", "mastodon.budgets": []}
    settings, _ = load(None, {}, over, model=settings_model((MASTODON,)))
    credentials = {"mastodon": tokens(host)}
    async with open_service(settings, credentials, Tally(), platforms=(MASTODON,), worker="child") as service:
        root = service.mounts.read_spec(spec, "default")
        await service.backend.queue.push([Push(request=replace(root, asked_at=SystemClock().now()), queue="immediate")])
        service.supervisor.start()
        while True:
            await service.streams.look()
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
