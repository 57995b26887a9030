"""A process that crawls one request of a network and reads its stream, until somebody kills it.

`python -m tests.support.bluesky_child URL SETTINGS [SPEC]`, the settings as JSON; without a SPEC it goes on with what
waits.
"""

from __future__ import annotations

import asyncio
import json
import sys

from ghcrawl.telemetry.tally import Tally
from tests.support.bluesky import killable


async def main(url: str, settings: str, *specs: str) -> None:
    """Never returns."""
    stage = killable(url, json.loads(settings))
    async with stage.open(Tally()) as service:
        await stage.push(service, *specs)
        service.supervisor.start()
        while True:
            await service.streams.look()
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
