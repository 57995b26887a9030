"""What a crawl keeps its requests and documents in, as settings: one file, or real servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pymongo import MongoClient

EMBEDDED, SERVERS = "sqlite", "mongodb-rabbitmq"


@pytest.fixture(params=[EMBEDDED, SERVERS])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Mapping[str, Any]]:
    """Settings of a backend that nobody else has. Needs the fixtures `vhost` and `mongo_url`."""
    if request.param == EMBEDDED:
        yield {"sqlite.path": str(tmp_path / "a.db"), "sqlite.synchronous": "normal"}
        return
    url, database = request.getfixturevalue("mongo_url"), f"test_{uuid4().hex[:12]}"
    yield {
        "queue.provider": "amqp",
        "amqp.url": request.getfixturevalue("vhost").url,
        "store.provider": "mongo",
        "mongo.url": url,
        "mongo.database": database,
        "mongo.timeout_s": 60,
        "amqp.max_starts": 1000,  # processes die of what the test does, not of a message
    }
    client: MongoClient[dict[str, Any]] = MongoClient(url)
    with client:
        client.drop_database(database)
