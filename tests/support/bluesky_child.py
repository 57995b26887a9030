"""A process that crawls one request of a simulated network and reads its Jetstream, until somebody kills it.

`python -m tests.support.bluesky_child FILE URL SPEC`
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ghcrawl.telemetry.tally import Tally
from tests.support.bluesky import Stage, jetstream


async def main(db: str, url: str, spec: str) -> None:
    """Never returns."""
    stage = Stage(db=Path(db), api_url=url, settings={"bluesky.stream_url": jetstream(url)}, worker="one")
    async with stage.open(Tally()) as service:
        await stage.push(service, spec)
        service.supervisor.start()
        while True:
            await service.streams.look()
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
