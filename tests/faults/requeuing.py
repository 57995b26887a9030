"""An operator who requeues all deadletters, and may be killed at it: `python -m tests.faults.requeuing SETTINGS`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from ghcrawl.backend import open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.settings.sections import Settings
from ghcrawl.values.frozen import replace
from stores.deadletters import TimeBudget, requeue

AT_ONCE = 100
ROUND_S = 0.5


async def main(settings: dict[str, Any]) -> None:
    async with open_backend(Settings.model_validate(settings)) as backend:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        which, left = DeadletterFilter(), 1
        while left:
            now, time_budget = backend.clock.now(), TimeBudget(ROUND_S, at_once=AT_ONCE)
            done = await requeue(backend.deadletters, backend.queue, which, now=now, time_budget=time_budget)
            which, left = replace(which, before=done.before), done.left


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
