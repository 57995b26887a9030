"""One crawl, twice: on the embedded file by one process, and on RabbitMQ and MongoDB by three."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from ghcrawl.backend import open_backend
from ghcrawl.jsontext import dumps
from ghcrawl.model import Document, Push
from ghcrawl.ports import DeadletterFilter, DocumentFilter
from ghcrawl.settings import load
from ghcrawl.simulator.generation.size import TINY
from ghcrawl.wiring import github_platform
from tests.integration.amqp.rig import until
from tests.support.crawling import TOKEN, Crawled, Stage, stage
from tests.support.services.rabbitmq import Server

WORKERS = 3
ROOT = Path(__file__).parents[3]


@asynccontextmanager
async def workers(variables: Mapping[str, str], folder: Path) -> AsyncIterator[None]:
    """So many of them, each by its command, that end in good order when they are asked to."""
    command = [sys.executable, "-m", "ghcrawl", "serve", "--port", "0", "--metrics-port", "0"]
    running = []
    logs = [(folder / f"worker-{number}.log").open("wb") for number in range(WORKERS)]
    try:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
        for log in logs:
            started = await asyncio.create_subprocess_exec(*command, cwd=folder, env=environment, stderr=log)
            running.append(started)
        yield
        for each in running:
            each.send_signal(signal.SIGTERM)
        async with asyncio.timeout(40):
            codes = [await each.wait() for each in running]
        assert codes == [0] * WORKERS, (folder / "worker-0.log").read_text()[-2000:]
    finally:
        for each in running:
            if each.returncode is None:
                each.kill()
                await each.wait()
        for log in logs:
            log.close()


async def crawl_by_three(it: Stage, server: Server, mongo_url: str, folder: Path) -> Mapping[tuple[str, str], Document]:
    """What three workers make of the same organisation."""
    own = f"same-{uuid4().hex[:8]}"
    variables = {
        "GHCRAWL_QUEUE__PROVIDER": "amqp",
        "GHCRAWL_AMQP__URL": server.url,
        "GHCRAWL_AMQP__MANAGEMENT_URL": server.management_url,
        "GHCRAWL_AMQP__PREFIX": own,
        "GHCRAWL_STORE__PROVIDER": "mongo",
        "GHCRAWL_MONGO__URL": mongo_url,
        "GHCRAWL_MONGO__DATABASE": own,
        "GHCRAWL_GITHUB__API_URL": it.server.url,
    }
    settings, _ = load(None, variables)
    root = github_platform(settings).read_spec("acme", it.server.url, "default")
    async with workers(variables | {"GHCRAWL_TOKENS": TOKEN}, folder), open_backend(settings) as backend:
        await backend.queue.push([Push(request=replace(root, asked_at=datetime.now(UTC)), queue="immediate")])
        for _ in range(2):
            await until(backend.queue.is_empty, within_s=150)
            await asyncio.sleep(1.0)
        assert list(await backend.deadletters.list(DeadletterFilter(), limit=10)) == []
        return {(one.type, one.urn): one async for one in backend.store.list(DocumentFilter())}


GENERATION = re.compile(r"(?<=:pages:)[^:]+")
"""When a walk began, which names the pages of a relation."""


def essence(document: Document) -> str:
    """All that does not say when or by whom it was seen."""
    links = {name: link.to_json() for name, link in document.links.items()}
    return GENERATION.sub("*", dumps([document.urn, document.url, document.body, links], sort_keys=True).decode())


def essences(documents: Mapping[tuple[str, str], Document]) -> dict[str, str]:
    """Type and URN of each → the rest."""
    return {f"{type} {GENERATION.sub('*', urn)}": essence(document) for (type, urn), document in documents.items()}


@pytest.mark.timeout(240)
async def test_three_workers_on_servers_find_what_one_finds_on_a_file(
    rabbitmq: Server, mongo_url: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, TINY) as it:
        alone: Crawled = await it.crawl()
        together = await crawl_by_three(it, rabbitmq, mongo_url, tmp_path)
    one, three = essences(alone.documents), essences(together)
    assert set(one) == set(three)
    differing = {key: (one[key], three[key]) for key in one if one[key] != three[key]}
    assert {key: both for key, both in differing.items() if not key.startswith("cursor ")} == {}, "cursors say when"
