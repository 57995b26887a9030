"""Deliveries while the broker goes away and comes back: what was answered 202 is there, what was not is 503."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from ghcrawl.simulator.github.generation.size import TINY
from tests.integration.service.conftest import Serve, Served
from tests.support.crawling import TOKEN, stage
from tests.support.services.rabbitmq import Broker

pytestmark = pytest.mark.crawl
DELIVERIES = 300
AT_ONCE = 10


def body(number: int, api: str) -> bytes:
    repository = {"id": 12, "name": "web", "full_name": "acme/web", "url": f"{api}/repos/acme/web"}
    return json.dumps({"action": "created", "number": number, "repository": repository}).encode()


async def deliver(served: Served, numbers: asyncio.Queue[int], api: str, answers: dict[int, int]) -> None:
    """Delivers as long as there is something to deliver."""
    while not numbers.empty():
        number = numbers.get_nowait()
        answers[number] = await served.deliver("gollum", f"delivery-{number}", body(number, api))


async def all_of(served: Served, wanted: list[int], api: str) -> dict[int, int]:
    """Number → status, of many deliveries at a time."""
    numbers: asyncio.Queue[int] = asyncio.Queue()
    for number in wanted:
        numbers.put_nowait(number)
    answers: dict[int, int] = {}
    await asyncio.gather(*(deliver(served, numbers, api, answers) for _ in range(AT_ONCE)))
    return answers


async def test_no_delivery_is_lost_when_the_broker_is_killed_under_them(
    tmp_path: Path, serve: Serve, broker: Broker, mongo_url: str
):
    environ = {
        "GHCRAWL_QUEUE__PROVIDER": "amqp",
        "GHCRAWL_AMQP__URL": broker.server.url,
        "GHCRAWL_STORE__PROVIDER": "mongo",
        "GHCRAWL_MONGO__URL": mongo_url,
        "GHCRAWL_MONGO__DATABASE": f"test-{uuid4().hex[:12]}",
        "GHCRAWL_SERVICE__WEBHOOK_TIMEOUT_S": "2",
        "GHCRAWL_TOKENS": TOKEN,
    }
    async with stage(tmp_path, TINY) as it, serve("--api-url", it.server.url, **environ) as served:
        delivering = asyncio.create_task(all_of(served, list(range(DELIVERIES)), it.server.url))
        await served.holds("/api/v1/document-counts", lambda counts: counts["by_type"].get("GollumEvent", 0) > 5)
        await asyncio.to_thread(broker.kill)
        ready = (await served.probe("/readyz"))[0]
        await asyncio.to_thread(broker.start)
        answers = await delivering
        assert set(answers.values()) <= {202, 503}, Counter(answers.values())
        assert ready == 503
        again = [number for number, status in answers.items() if status == 503]
        async with asyncio.timeout(60):
            while again:
                answers |= await all_of(served, again, it.server.url)
                again = [number for number, status in answers.items() if status == 503]
        wanted = DELIVERIES
        await served.holds("/api/v1/document-counts", lambda counts: counts["by_type"].get("GollumEvent") == wanted)
        assert (await served.ask("GET", "/api/v1/deadletter-counts"))["total"] == 0
