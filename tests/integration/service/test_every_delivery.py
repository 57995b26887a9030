"""Every payload of octokit's webhook examples, signed, over HTTP, to three replicas at once, twice and shuffled."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import AsyncExitStack
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5

import pytest

from ghcrawl.platforms.github import platform
from queues.memory import MemoryQueue
from queues.memory_dedup import MemoryDedupMarkers
from stores.idempotency_keys import MarkerIdempotencyKeys
from tests.support.clock import FakeClock
from tests.support.recordings import Hook, webhooks
from tests.unit.admin.conftest import Asker, Rig, signature

pytestmark = pytest.mark.recordings
FORM = "application/x-www-form-urlencoded"


async def deliver(asker: Asker, number: int, hook: Hook) -> int:
    """Every third one as a form."""
    body, kind = json.dumps(hook.payload).encode(), "application/json"
    if number % 3 == 0:
        body, kind = urlencode({"payload": body}).encode(), FORM
    answer = await asker.deliver(
        body,
        X_GitHub_Event=hook.event,
        X_GitHub_Delivery=str(uuid5(NAMESPACE_URL, str(number))),
        X_Hub_Signature_256=signature(body),
        Content_Type=kind,
    )
    return answer.status


async def test_every_example_is_taken_once_whoever_gets_it_and_however_often():
    hooks = list(enumerate(webhooks()))
    queue, idempotency_keys = MemoryQueue(FakeClock()), MarkerIdempotencyKeys(MemoryDedupMarkers())
    rigs = [Rig(platform=platform(), over={"queue": queue, "idempotency_keys": idempotency_keys}) for _ in range(3)]
    async with AsyncExitStack() as stack:
        askers = [await stack.enter_async_context(rig.running()) for rig in rigs]
        for turn in range(2):
            wanted = [(asker, number, hook) for number, hook in hooks for asker in askers]
            random.Random(turn).shuffle(wanted)
            for start in range(0, len(wanted), 50):
                some = wanted[start : start + 50]
                statuses = await asyncio.gather(*(deliver(asker, number, hook) for asker, number, hook in some))
                assert set(statuses) <= {200, 202}
    taken = [number for number, hook in hooks if hook.event != "ping"]
    waiting = await queue.peek("event", limit=10_000)
    assert len(waiting) == len(taken) > 100
    assert {request.payload.delivery_id for request in waiting if request.payload} == {
        str(uuid5(NAMESPACE_URL, str(number))) for number in taken
    }
    results = [result for rig in rigs for _, result in rig.counted]
    assert results.count("accepted") == len(taken)
    assert set(results) == {"accepted", "duplicate", "ping"}
