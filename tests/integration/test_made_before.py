"""A file that an older version left in the middle of a crawl is crawled on: `tests/data/made_before/README.md`."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from ghcrawl.backend import MIGRATIONS, open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Setup
from ghcrawl.values.lanes import Lane
from ghcrawl.values.type_names import LEGACY_PLATFORM
from ghcrawl.wiring import load
from tests.support.builders import NOW, at
from tests.support.cli import shell
from tests.support.clock import FastClock
from tests.support.crawling import TOKEN, Stage, stage

DUMP = Path(__file__).parents[1] / "data" / "made_before" / "crawl-schema-1.sql.gz"
PORT = 18474
"""Of the simulator that was crawled: keys of requests and digests of documents are made of its URLs."""


@pytest.fixture
def made_before(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(gzip.decompress(DUMP.read_bytes()).decode())
    connection.close()
    return path


@asynccontextmanager
async def the_same_world(db: Path) -> AsyncIterator[Stage]:
    """The world that was being crawled, an hour later."""
    clock = FastClock(60, NOW + timedelta(hours=1))
    world = generate(TINY, seed=0, clock=clock)
    member = next(iter(world.org("acme").members.values())).user
    principal = world.principal(member.login)
    setup = Setup(tokens={TOKEN: principal}, manners=Manners())
    async with running(world, setup, port=PORT) as server:
        yield Stage(world=world, server=server, db=db, tokens=(TOKEN,), viewers=[principal.viewer], clock=clock)


async def fresh(folder: Path) -> int:
    """How many calls the same takes from nothing."""
    async with stage(folder, TINY, clock=FastClock(60)) as it:
        await it.crawl("acme", "globex")
        await it.crawl("acme", policy="refresh")
        return it.server.journal.total


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


async def test_its_crawl_goes_on_and_nothing_is_lost(made_before: Path, tmp_path: Path):
    assert version(made_before) == 1
    async with the_same_world(made_before) as it:
        crawled = await it.crawl()
        calls = it.server.journal.total
        (letter,) = crawled.deadletters
        assert (letter.request.platform, letter.request.type) == (LEGACY_PLATFORM, "labels")
        assert crawled.entities >= set(it.expected())
        assert set(it.expected("globex")) <= crawled.entities, "what waited in another queue"

        settings, _ = load(None, {}, {"sqlite.path": made_before})
        async with open_backend(settings, clock=it.clock) as backend:
            assert (await backend.requeue(DeadletterFilter())).queued == 1
        healed = await it.crawl()
        it.server.journal.clear()
        again = await it.crawl(policy="refresh")

        bodies = it.bodies() | it.bodies("globex")
        assert healed.entities == again.entities == set(bodies)
        assert [key for key, true in bodies.items() if dict(again.documents[key].body) not in true] == []
        assert list(again.deadletters) == []
        assert it.server.journal.charged == 0
    assert version(made_before) == len(MIGRATIONS) + 1
    fresh_folder = tmp_path / "fresh"
    fresh_folder.mkdir()
    assert calls <= await fresh(fresh_folder)


async def test_what_waits_in_it_waits_in_lanes(made_before: Path):
    settings, _ = load(None, {}, {"sqlite.path": made_before})
    async with open_backend(settings, clock=FastClock(1)) as backend:
        found = {lane: depth.total for lane, depth in (await backend.queue.depths()).items() if depth.total}
        assert found == {
            Lane(LEGACY_PLATFORM, "immediate"): 1,
            Lane(LEGACY_PLATFORM, "soon"): 5,
            Lane(LEGACY_PLATFORM, "normal"): 1,
            Lane(LEGACY_PLATFORM, "later"): 1,
        }
        assert await backend.store.read_state("live") == {"crawl.retry_cap_s": 45.0}
        long_ago = at(-86400)
        claim = await backend.idempotency_keys.claim("delivery-1", "another", at(60), stale_before=long_ago)
        assert claim == "taken"


async def test_the_command_line_reads_it(made_before: Path, tmp_path: Path):
    async with shell(tmp_path) as run:
        status = await run.run("status", "--db", made_before, "--json")
        assert status.status == 0, status.err
        documents = await run.run("documents", "count", "--db", made_before, "--json")
        assert documents.status == 0, documents.err
        letters = await run.run("deadletters", "list", "--db", made_before, "--json")
        assert letters.status == 0, letters.err
        assert "labels" in letters.out
