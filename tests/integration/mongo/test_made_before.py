"""A crawl that an older version left in RabbitMQ and MongoDB is crawled on: `tests/data/made_before/README.md`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import pytest
from bson import json_util
from pymongo import MongoClient

from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.simulator.github.expectation import Expected
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.simulator.github.oracle import expected
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Setup
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.wiring import Service, load, open_service
from stores.mongo.settings import MongoSettings
from tests.support.builders import NOW
from tests.support.clock import FastClock
from tests.support.crawling import TOKEN
from tests.support.services.fixtures import vhost
from tests.support.services.rabbitmq import Server, ask

__all__ = ["vhost"]

DUMP: Final = Path(__file__).parents[2] / "data" / "made_before" / "crawl-amqp-mongo.json.gz"
PORT: Final = 18475
"""Of the simulator that was crawled: keys of requests and digests of documents are made of its URLs."""


@pytest.fixture
def made_before(vhost: Server, settings: MongoSettings) -> Mapping[str, Any]:
    """The settings of a crawl whose broker and database hold what the older version left there."""
    made = json.loads(gzip.decompress(DUMP.read_bytes()))
    name = quote(urlsplit(vhost.url).path[1:], safe="")
    ask(vhost.management_url, "POST", f"/api/definitions/{name}", _moved(made["definitions"]))
    for message in made["messages"]:
        sent = {**message, "routing_key": message["queue"], "payload_encoding": "base64"}
        routed = ask(vhost.management_url, "POST", f"/api/exchanges/{name}/amq.default/publish", sent)
        assert routed == {"routed": True}
    with MongoClient(settings.url) as client:  # type: ignore[var-annotated]
        for collection, documents in json_util.loads(json.dumps(made["collections"])).items():
            if documents:
                client[settings.database][collection].insert_many(documents)
    return {
        "queue.provider": "amqp",
        "amqp.url": vhost.url,
        "amqp.management_url": vhost.management_url,
        "amqp.prefix": "made-before",
        "store.provider": "mongo",
        "mongo.url": settings.url,
        "mongo.database": settings.database,
        "github.api_url": f"http://127.0.0.1:{PORT}",
        "crawl.retry_base_s": 0.01,
        "crawl.retry_cap_s": 0.02,
    }


def _moved(definitions: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Definitions without the virtual host that they were made in."""
    return {
        kind: [{name: value for name, value in one.items() if name != "vhost"} for one in several]
        for kind, several in definitions.items()
    }


async def crawl_on(service: Service, clock: FastClock, *specs: str) -> None:
    """What waits, and these refreshed, to the end."""
    read, api = service.platforms["github"].read_spec, f"http://127.0.0.1:{PORT}"
    roots = [replace(read(spec, api, "refresh"), asked_at=clock.now()) for spec in specs]
    await service.backend.queue.push([Push(request=root, queue="immediate") for root in roots])
    service.supervisor.start()
    await service.supervisor.until_empty(service.backend.queue, every_s=5)
    await service.supervisor.drain(5)


async def heal(service: Service) -> None:
    """Its deadletters are those of today: one is deleted, one tried again."""
    deadletters = service.backend.deadletters
    letters = {letter.request.type: letter for letter in await deadletters.list(DeadletterFilter(), limit=10)}
    assert letters.keys() == {"labels", "issue"}
    assert {letter.request.platform for letter in letters.values()} == {"github"}
    await deadletters.delete([letters["issue"].urn])
    assert (await service.backend.requeue(DeadletterFilter())).queued == 1


async def test_its_crawl_goes_on_and_nothing_is_lost(made_before: Mapping[str, Any]):
    clock = FastClock(60, NOW + timedelta(hours=1))
    world = generate(TINY, seed=0, clock=clock)
    principal = world.principal(next(iter(world.org("acme").members.values())).user.login)
    settings, _ = load(None, {}, made_before)
    credentials = {"github": read_tokens(TOKEN)}
    async with running(world, Setup(tokens={TOKEN: principal}), port=PORT) as server:
        async with open_service(settings, credentials, Tally(), clock=clock) as service:
            await heal(service)
            await crawl_on(service, clock)
        async with open_service(settings, credentials, Tally(), clock=clock) as service:
            await crawl_on(service, clock, "acme", "globex")  # the simulator of today writes some bodies otherwise
        server.journal.clear()
        async with open_service(settings, credentials, Tally(), clock=clock) as service:
            await crawl_on(service, clock, "acme", "globex")
            store, deadletters = service.backend.store, service.backend.deadletters
            found = {(one.type, one.urn): one async for one in store.list(DocumentFilter(deleted=False))}
            letters = await deadletters.list(DeadletterFilter(), limit=10)

    assert [letter.reason for letter in letters] == []
    bodies: dict[tuple[str, str], Expected] = {}
    for login in ("acme", "globex"):
        bodies |= expected(world, login, base=server.url, viewer=principal.viewer)
    assert bodies.keys() <= found.keys()
    assert [key for key, thing in bodies.items() if dict(found[key].body) not in thing.bodies()] == []
    assert server.journal.charged == 0
