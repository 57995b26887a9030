"""A process that crawls one request of a simulated host and reads its stream, until somebody kills it.

`python -m tests.support.mastodon_child HOST SETTINGS SPEC`, the settings as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys

from ghcrawl.telemetry.tally import Tally
from tests.support.mastodon import killable


async def main(host: str, settings: str, spec: str) -> None:
    """Never returns."""
    stage = killable(host, json.loads(settings))
    async with stage.open(Tally()) as service:
        await stage.push(service, spec)
        service.supervisor.start()
        while True:
            await service.streams.look()
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
