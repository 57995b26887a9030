"""An operator who requeues all deadletters, and may be killed at it: `python -m tests.faults.requeuing SETTINGS`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from ghcrawl.backend import open_backend
from ghcrawl.ports import DeadletterFilter
from ghcrawl.settings import Settings
from stores.deadletters import Allowance, requeue

AT_ONCE = 100


async def main(settings: dict[str, Any]) -> None:
    async with open_backend(Settings.model_validate(settings)) as backend:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        now, allowance = backend.clock.now(), Allowance(at_once=AT_ONCE)
        await requeue(backend.deadletters, backend.queue, DeadletterFilter(), now=now, allowance=allowance)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
