"""Look-ups and saves in MongoDB, against the least that the driver can do; and with many documents against few.

The bare loop is what one would write by hand: `find_one` by an indexed URL, and `replace_one` by `_id` with the newer
one winning, on the same server, with the same documents and promises, as many at a time. Both take turns, a few times,
and the median of the ratios is the result. How much slower deletions by hand are with many documents than with few
tells how much of what pops lose with a backlog is the server's own: a pop deletes a marker.

Runs on the server at `GHCRAWL_TEST_MONGO_URL`, or starts the one of the tests.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import uuid4

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import DeleteOne, WriteConcern
from pymongo.errors import DuplicateKeyError

from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.jsontext import digest
from ghcrawl.values.type_names import LEGACY_PLATFORM
from stores.merging import merged
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo, token
from stores.mongo.escaping import to_bson
from stores.mongo.rows import placed, remembered, row_of
from stores.mongo.settings import MongoSettings
from stores.mongo.writes import inserting
from tests.support.builders import a_type
from tests.support.services.fixtures import keeper
from tests.support.services.mongo import MongoServer
from tests.support.services.wanted import MONGO_URL

LOOPS = 20
TURNS = 300
ROUNDS = 5
FEW, MANY = 1_000, 100_000
API = "https://api.github.com/repos/acme/web/issues"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
Turn = Callable[[int], Awaitable[None]]


def main() -> None:
    """Run and print."""
    with _server() as url:
        asyncio.run(_against_the_driver(url))
        asyncio.run(_many_against_few(url))
        asyncio.run(_deletions(url))


@contextmanager
def _server() -> Iterator[str]:
    if url := os.environ.get(MONGO_URL):
        yield url
        return
    with keeper("mongo") as kept:
        server = MongoServer(kept)
        server.start()
        yield server.url


# The two sides ----------------------------------------------------------------------------------------------------


def a_document(number: int, *, seen: int = 0) -> Document:
    """About as large as GitHub's own issues are."""
    body = _body(number, seen)
    urn = f"urn:repo:12:issue:{number}"
    url = f"{API}/{number}"
    return Document(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=url,
        urn=urn,
        body=body,
        links={"self": Link(type="resource", href=urn), "siblings": Link(type="collection", href="urn:repo:12:issues")},
        observed_at=NOW,
        fetched_at=NOW,
        processed_at=NOW,
        version=1,
        digest=digest(body),
        changed_at=body["updated_at"],
        validator=Validator(url=url, etag=f'"{number:064x}"', accept="application/vnd.github+json"),
        visits={"default:issue": NOW},
    )


def _body(number: int, seen: int) -> dict[str, Any]:
    person = {"login": "ada", "id": 5, "node_id": "U_5", "url": "https://api.github.com/users/ada"}
    person |= {f"{name}_url": f"https://api.github.com/users/ada/{name}" for name in ("followers", "repos", "events")}
    return {
        "id": 10_000 + number,
        "number": number,
        "url": f"{API}/{number}",
        "title": f"Something is wrong with part {number}",
        "user": person,
        "assignees": [person],
        "labels": [{"id": n, "name": f"label {n}", "color": "ededed"} for n in range(3)],
        "comments": seen,
        "updated_at": f"2026-01-02T00:00:{seen % 60:02}Z",
        "body": "It does not do what it should. " * 20,
    }


def _row(document: Document) -> dict[str, Any]:
    """As one would store it by hand."""
    return {"_id": document.urn, **document.body, "_metadata": document.metadata()}


@dataclass
class Bare:
    """The driver alone."""

    collection: AsyncIOMotorCollection[dict[str, Any]]

    async def look_up(self, number: int) -> None:
        """By URL, without the body."""
        found = await self.collection.find_one({"_metadata.url": f"{API}/{number}"}, {"_metadata": 1})
        assert found is not None

    async def save(self, number: int, seen: int) -> None:
        """The newer one wins."""
        document = a_document(number, seen=seen)
        row = _row(document)
        which = {"_id": document.urn, "_metadata.changedAt": {"$lte": document.changed_at}}
        try:
            await self.collection.replace_one(which, row, upsert=True)
        except DuplicateKeyError:
            return


@dataclass
class Ours:
    """The store."""

    mongo: Mongo
    store: MongoStore

    async def look_up(self, number: int) -> None:
        """By URL, without the body."""
        assert await self.store.look_up(a_type("issue"), f"{API}/{number}") is not None

    async def save(self, number: int, seen: int) -> None:
        """The newer one wins."""
        await self.store.save(a_document(number, seen=seen))


@dataclass
class Pace:
    """Of some turns: how many a second, and what each costs this process."""

    a_second: float
    cpu_us: float


async def _pace(turn: Turn, turns: int = TURNS) -> Pace:
    """Of so many turns, 20 at a time."""
    numbers = iter(range(turns))

    async def loop() -> None:
        for number in numbers:
            await turn(number)

    began, spent = time.perf_counter(), time.process_time()
    await asyncio.gather(*(loop() for _ in range(LOOPS)))
    return Pace(turns / (time.perf_counter() - began), (time.process_time() - spent) / turns * 1e6)


# The questions ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _sides(url: str) -> AsyncIterator[tuple[Bare, Ours]]:
    """Both, with an empty collection each."""
    settings = MongoSettings(url=url, database=f"bench_{uuid4().hex[:8]}", timeout_s=60)
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(url)
    database = client.get_database(settings.database, write_concern=WriteConcern(w="majority", j=True))
    mongo = await Mongo.open(settings)
    try:
        bare, ours = Bare(database["bare"]), Ours(mongo, await MongoStore.open(mongo))
        await bare.collection.create_index("_metadata.url", unique=True)
        await ours.save(2 * MANY, 0)  # makes the collection, with its indexes
        yield bare, ours
    finally:
        await client.drop_database(settings.database)
        await mongo.close()
        client.close()


async def _against_the_driver(url: str) -> None:
    """A turn looks up and saves a change, as a crawl does with what it has seen before; or saves something new."""
    async with _sides(url) as (bare, ours):
        await _fill(ours, FEW)
        await bare.collection.insert_many([_row(a_document(number)) for number in range(FEW)])
        new, seen = count(MANY), count(1)
        changed, created = [], []
        for _ in range(ROUNDS):
            now = next(seen)
            changed.append([await _pace(_again(side, now)) for side in (bare, ours)])
            created.append([await _pace(_created(side, new)) for side in (bare, ours)])
    _print("look up and save a change", changed)
    _print("save something new", created)


def _again(side: Bare | Ours, seen: int) -> Turn:
    async def turn(number: int) -> None:
        await side.look_up(number)
        await side.save(number, seen)

    return turn


def _created(side: Bare | Ours, new: Iterator[int]) -> Turn:
    return lambda _: side.save(next(new), 0)


def _print(what: str, paces: list[list[Pace]]) -> None:
    """The ratio of rates says most on a quiet machine, that of CPU time the same on any."""
    rate = statistics.median(ours.a_second / bare.a_second for bare, ours in paces)
    cpu = statistics.median(bare.cpu_us / ours.cpu_us for bare, ours in paces)
    bare_us, ours_us = (statistics.median(pace.cpu_us for pace in side) for side in zip(*paces, strict=True))
    print(
        f"mongo: {what}: {cpu:.2f} of the bare driver's turns per CPU second (bare {bare_us:.0f} us, store "
        f"{ours_us:.0f} us CPU a turn), and {rate:.2f} of its rate, {LOOPS} at a time",
        flush=True,
    )


async def _many_against_few(url: str) -> None:
    """The store's turns with a hundred thousand documents in the collection and with a thousand.

    Not the bare driver's: where a server looks at every document for a condition beside the `_id`, its saves take
    seconds each.
    """
    rates: dict[str, list[float]] = {}
    for size in (FEW, MANY):
        async with _sides(url) as (_, ours):
            await _fill(ours, size)
            turns = {
                "look-ups": _looked_up(ours, size // TURNS),
                "look-ups and saves": _again(ours, 1),
                "new ones": _created(ours, count(MANY)),
            }
            for name, turn in turns.items():
                rates.setdefault(name, []).append(max([(await _pace(turn)).a_second for _ in range(3)]))
    for name, (few, many) in rates.items():
        print(
            f"mongo: {name}: with {MANY:,} documents {many / few:.2f} of the rate with {FEW:,} "
            f"({few:.0f}/s and {many:.0f}/s)",
            flush=True,
        )


def _looked_up(side: Bare | Ours, step: int) -> Turn:
    return lambda number: side.look_up(number * step)


async def _fill(ours: Ours, size: int) -> None:
    for start in range(0, size, FEW):
        documents = [a_document(number) for number in range(start, start + FEW)]
        await ours.mongo.bulk("issue", [inserting(as_stored(document)) for document in documents])


async def _deletions(url: str) -> None:
    """By the driver alone, by `_id` and twenty at a time, the oldest first; what was deleted is replaced in between.

    The `_id`s are as those of markers: in no order.
    """
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(url)
    name = f"bench_{uuid4().hex[:8]}"
    database = client.get_database(name, write_concern=WriteConcern(w="majority", j=True))
    sides = [(database[str(size)], deque[str]()) for size in (FEW, MANY)]
    try:
        for (collection, waiting), size in zip(sides, (FEW, MANY), strict=True):
            await _insert(collection, waiting, size)
        paces = [[await _deleted(*side) for side in sides] for _ in range(ROUNDS)]
    finally:
        await client.drop_database(name)
        client.close()
    few, many = (statistics.median(side) for side in zip(*paces, strict=True))
    ratio = statistics.median(many / few for few, many in paces)
    print(
        f"mongo: deletions by the driver alone: with {MANY:,} documents {ratio:.2f} of the rate with {FEW:,} "
        f"({few:.0f}/s and {many:.0f}/s)",
        flush=True,
    )


async def _insert(collection: AsyncIOMotorCollection[dict[str, Any]], waiting: deque[str], size: int) -> None:
    for start in range(0, size, FEW):
        ids = [uuid4().hex for _ in range(min(FEW, size - start))]
        await collection.insert_many([{"_id": id, "queue": "normal", "queued": True} for id in ids], ordered=False)
        waiting.extend(ids)


async def _deleted(collection: AsyncIOMotorCollection[dict[str, Any]], waiting: deque[str]) -> float:
    """How many a second."""
    began = time.perf_counter()
    for _ in range(TURNS // LOOPS):
        await collection.bulk_write([DeleteOne({"_id": waiting.popleft()}) for _ in range(LOOPS)], ordered=False)
    rate = TURNS / (time.perf_counter() - began)
    await _insert(collection, waiting, TURNS)
    return rate


def as_stored(document: Document) -> dict[str, Any]:
    """As the store would make it."""
    memory = placed(document.urn, remembered(None, merged(None, document)), ()).remembered
    return row_of(document, memory, to_bson(document.body, document.urn, outermost=True), token())


if __name__ == "__main__":
    main()
