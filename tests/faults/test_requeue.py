"""Deadletters that go back to work while whoever sends them is killed, again and again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from ghcrawl.backend import Backend
from ghcrawl.ports.deadletters import DeadletterFilter
from tests.faults.crawl import ROOT, Crawl, crawl
from tests.faults.graph import PLATFORM, node
from tests.faults.test_database import mongo
from tests.support.builders import a_deadletter, at
from tests.support.lanes import lanes
from tests.support.services.rabbitmq import Server

SIZE = 1500
PATIENT_S = 20.0

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]


async def requeuing(it: Crawl) -> asyncio.subprocess.Process:
    """Somebody who has just begun."""
    command = [sys.executable, "-m", "tests.faults.requeuing", json.dumps(it.settings)]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def left(backend: Backend) -> int:
    return (await backend.deadletters.count(DeadletterFilter())).total


async def popped(backend: Backend) -> list[str]:
    """The URLs of all that waits."""
    urls: list[str] = []
    while (
        delivery := await backend.queue.pop(lanes(platform=PLATFORM), patience_s=PATIENT_S if not urls else 2.0)
    ) is not None:
        urls.append(delivery.request.url)
        await delivery.ack()
    return urls


async def test_whoever_requeues_is_killed_and_no_request_is_lost(
    rabbitmq: Server, mongo_url: str, tmp_path: Path
) -> None:
    store = mongo(mongo_url)
    store["mongo"]["database"] = f"requeue-{tmp_path.name[-20:]}"
    async with crawl(rabbitmq, tmp_path, size=SIZE, store=store) as it, it.watching() as backend:
        for start in range(0, SIZE, 100):
            numbers = range(start, start + 100)
            letters = [a_deadletter(n, request=node(n, it.started_at), last_at=at(n)) for n in numbers]
            await asyncio.gather(*map(backend.deadletters.bury, letters))
        steps = [SIZE]
        for _ in range(3):
            process = await requeuing(it)
            async with asyncio.timeout(60):
                while await left(backend) > steps[-1] - 200:  # noqa: ASYNC110  # a database tells nobody
                    await asyncio.sleep(0.05)
            process.kill()
            await process.wait()
            steps.append(await left(backend))
        assert steps[-1] > 0, "each was killed amid its work"
        assert await (await requeuing(it)).wait() == 0
        assert await left(backend) == 0
        urls = await popped(backend)
        assert {*urls} == {node(n, None).url for n in range(SIZE)}
        assert len(urls) <= SIZE + 3 * 200, "twice at the most what was under way"
