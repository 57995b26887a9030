"""An operator who requeues all deadletters, and may be killed at it: `python -m tests.faults.requeuing SETTINGS`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from ghcrawl.backend import open_backend
from ghcrawl.ports import DeadletterFilter
from ghcrawl.settings import Settings
from stores.deadletters import requeue

AT_ONCE = 100


async def main(settings: dict[str, Any]) -> None:
    async with open_backend(Settings.model_validate(settings)) as backend:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        now = backend.clock.now()
        await requeue(backend.deadletters, backend.queue, DeadletterFilter(), now=now, at_once=AT_ONCE)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
