"""Processes of their own: three services that share RabbitMQ and MongoDB, and the command line on a database."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ghcrawl.backend import Backend, open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.values.documents import Document
from ghcrawl.wiring import load
from stores.mongo.settings import MongoSettings
from tests.integration.amqp.own import forgotten
from tests.integration.mongo.contents import assert_same
from tests.integration.mongo.test_crawl import WORLD
from tests.support.cli import shell
from tests.support.crawling import TOKEN, stage
from tests.support.services.rabbitmq import Server

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(300)]

WORKERS = 3
QUIET_S = 0.5
PATIENCE_S = 200.0


def variables(settings: dict[str, Any]) -> dict[str, str]:
    return {f"GHCRAWL_{name.upper().replace('.', '__')}": str(value) for name, value in settings.items()}


async def drained(backend: Backend) -> None:
    """Nothing waited anywhere, look after look."""
    quiet = 0
    async with asyncio.timeout(PATIENCE_S):
        while quiet < 5:
            quiet = quiet + 1 if await backend.queue.is_empty() else 0
            await asyncio.sleep(QUIET_S)


async def all_of(backend: Backend) -> list[Document]:
    return [document async for document in backend.store.list(DocumentFilter())]


async def test_three_workers_find_what_one_finds_in_the_embedded_file(
    tmp_path: Path, settings: MongoSettings, rabbitmq: Server
):
    async with stage(tmp_path, WORLD) as it:
        embedded = await it.crawl()
        alone = it.server.journal.total
        it.server.journal.clear()
        prefix = f"test-{uuid4().hex[:8]}"
        shared = {
            "queue.provider": "amqp",
            "amqp.url": rabbitmq.url,
            "amqp.management_url": rabbitmq.management_url,
            "amqp.prefix": prefix,
            "store.provider": "mongo",
            "mongo.url": settings.url,
            "mongo.database": settings.database,
            "github.api_url": it.server.url,
            "service.port": 0,
            "service.metrics_port": 0,
        }
        async with (
            shell(tmp_path, GHCRAWL_TOKENS=TOKEN, **variables(shared)) as sh,
            open_backend(load(None, {}, shared)[0]) as backend,
        ):
            workers = [await sh.start("serve") for _ in range(WORKERS)]
            pushed = await sh.run("requests", "push", "acme")
            assert pushed.status == 0, pushed.err
            await drained(backend)
            assert [await worker.ended() for worker in workers if worker.process.returncode is not None] == []
            for worker in workers:
                worker.send(signal.SIGTERM)
            ended = [await worker.ended() for worker in workers]
            documents = await all_of(backend)
            letters = await backend.deadletters.count(DeadletterFilter())
        together = it.server.journal.total
        await forgotten(rabbitmq, prefix)

    assert [ran.status for ran in ended] == [0] * WORKERS, ended[0].err
    assert letters.total == 0
    assert_same(documents, embedded.documents.values())
    assert together <= 1.2 * alone
    settled = [ran.err.count("request_settled") for ran in ended]
    assert min(settled) > 0, settled


async def test_the_command_line_crawls_into_a_database_and_looks_at_it(tmp_path: Path, settings: MongoSettings):
    secret = settings.url.replace("://", "://ada:hunter2secret@")
    async with stage(tmp_path, TINY) as it:
        shared = {
            "store.provider": "mongo",
            "mongo.url": settings.url,
            "mongo.database": settings.database,
            "github.api_url": it.server.url,
        }
        async with shell(tmp_path, GHCRAWL_TOKENS=TOKEN, **variables(shared)) as sh:
            crawled = await sh.run("crawl", "acme", "--json")
            exported = await sh.run("documents", "export")
            status = await sh.run("status", "--json")
            checked = await sh.run("config", "check", GHCRAWL_MONGO__URL=secret)
            refused = await sh.run("crawl", "acme", GHCRAWL_MONGO__URL="mongodb://ada:hunter2secret@127.0.0.1:1")

    assert crawled.status == 0, crawled.err
    assert f"into the MongoDB database {settings.database}, with 1 token." in crawled.err
    assert (crawled.json["db"], status.json["db"]) == (f"the MongoDB database {settings.database}",) * 2
    assert len(exported.out.splitlines()) >= status.json["documents"]["entities"] > 0
    assert "mongodb://***@127.0.0.1" in checked.out
    assert "hunter2" not in checked.out + checked.err + refused.out + refused.err
    assert (refused.status, refused.err) == (
        2,
        f"ghcrawl: no MongoDB that takes writes answers at 127.0.0.1:1/{settings.database}\n",
    )
