"""A process that crawls a tree on one SQLite file and says, on its standard output, what it is about to do.

It is started by `test_kill.py` and ends when it is killed, or when nothing is left to do.
Every line is written in one piece: `settling N` before a commit, `settled N` after it; `pushing N`, `pushed N`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from ghcrawl.backend import MIGRATIONS, SCHEMA
from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.unit_of_work import Effects
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.requests import Context, Push, Request
from queues import codec
from queues.sqlite.queue import SqliteQueue
from stores.sqlite.deadletters import SqliteDeadletters
from stores.sqlite.documents import SqliteStore
from stores.sqlite.unit_of_work import SqliteUnitOfWork
from tests.support.builders import a_document, a_request
from tests.support.lanes import LANES

NODES = 600
EXTRA = 10_000
"""Numbers of requests that are pushed on their own begin here."""


def say(word: str, number: int) -> None:
    os.write(1, f"{word} {number}\n".encode())


def node(number: int) -> Request:
    return a_request(number, context=Context(qualifier=str(number)))


def children(number: int) -> list[int]:
    """The node's children in a binary tree; requests that were pushed on their own have none."""
    return [child for child in (2 * number, 2 * number + 1) if child <= NODES]


async def settle(queue: SqliteQueue, unit_of_work: SqliteUnitOfWork) -> None:
    while (delivery := await queue.pop(LANES, patience_s=0.05)) is not None:
        number = int(delivery.request.context.qualifier)
        pushes = tuple(Push(request=node(child), queue=QUEUES[child % 5]) for child in children(number))
        say("settling", number)
        await unit_of_work.commit(delivery, Effects(pushes=pushes, document=a_document(number)))
        say("settled", number)


async def push(queue: SqliteQueue, start: int) -> None:
    for number in range(start, start + 200):
        say("pushing", number)
        await queue.push([Push(request=node(number), queue="later")])
        say("pushed", number)


async def crawl(path: Path, start: int) -> None:
    file = await SqliteFile.open(path, schema=SCHEMA, migrations=MIGRATIONS)
    deadletters = SqliteDeadletters(file, codec)
    queue = SqliteQueue(file, SystemClock(), bury=deadletters.burying)
    unit_of_work = SqliteUnitOfWork(file, queue, SqliteStore(file), deadletters)
    await asyncio.gather(push(queue, start), *(settle(queue, unit_of_work) for _ in range(4)))
    await file.close()


if __name__ == "__main__":
    asyncio.run(crawl(Path(sys.argv[1]), int(sys.argv[2])))
