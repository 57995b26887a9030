"""Which adapters settings become, where they are of different kinds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.backend import open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.unit_of_work import Effects
from ghcrawl.values.requests import Push
from ghcrawl.wiring import load
from stores.sequential_unit_of_work import SequentialUnitOfWork
from stores.sqlite.unit_of_work import SqliteUnitOfWork
from tests.support.builders import a_deadletter, a_document, a_request
from tests.support.lanes import lanes


def settings(db: Path, queue: str, store: str) -> Any:
    return load(None, {}, {"sqlite.path": db, "queue.provider": queue, "store.provider": store})[0]


@pytest.mark.parametrize("queue", ["memory", "sqlite"])
@pytest.mark.parametrize("store", ["memory", "sqlite"])
async def test_one_file_settles_at_once_and_a_mixture_one_after_another(tmp_path: Path, queue: str, store: str):
    told: list[str] = []
    opening = open_backend(settings(tmp_path / "c.db", queue, store), phase=lambda part, _: told.append(part))
    async with opening as backend:
        wanted = SqliteUnitOfWork if (queue, store) == ("sqlite", "sqlite") else SequentialUnitOfWork
        assert isinstance(backend.unit_of_work, wanted)
        await backend.queue.push([Push(request=a_request(1), queue="soon")])
        delivery = await backend.queue.pop(lanes("soon"), patience_s=0)
        assert delivery is not None
        await backend.unit_of_work.commit(delivery, Effects(document=a_document()))
    assert told == ([] if wanted is SqliteUnitOfWork else ["save"]), "of one transaction only the whole is known"
    assert (tmp_path / "c.db").exists() == ("sqlite" in (queue, store))


async def test_what_the_queue_file_had_to_bury_is_found_where_the_documents_are(tmp_path: Path):
    async with open_backend(settings(tmp_path / "c.db", "sqlite", "sqlite")) as backend:
        await backend.deadletters.bury(a_deadletter())
    async with open_backend(settings(tmp_path / "c.db", "sqlite", "memory")) as backend:
        assert (await backend.deadletters.count(DeadletterFilter())).total == 1
    async with open_backend(settings(tmp_path / "c.db", "sqlite", "sqlite")) as backend:
        assert (await backend.deadletters.count(DeadletterFilter())).total == 0


def test_what_needs_no_server_loads_no_driver_of_one():
    drivers = {"aio_pika", "aiormq", "bson", "cryptography", "jwt", "motor", "pymongo"}
    script = f"import sys, ghcrawl.wiring; print(sorted({drivers} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_commands_on_a_file_load_nothing_that_asks_a_network():
    script = "import sys, ghcrawl.cli.tables, ghcrawl.cli.documents; print('aiohttp.client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
