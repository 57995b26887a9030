"""A crawl of the graph by several processes that a test harms, and the nine things that must be true in the end."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ghcrawl.backend import Backend, open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.lanes import QUEUES, Lane
from ghcrawl.values.requests import Push
from queues.amqp.message import Outgoing
from queues.amqp.queue import AmqpQueue
from queues.codec import encode
from queues.dedup_protocol import key_of
from tests.faults.graph import ALONE, ATTEMPTS, ONWARD, PLATFORM, expected, lasting, node, number_of, queue_of
from tests.faults.worker import Assignment
from tests.support.services.rabbitmq import Server, ask
from tests.support.waiting import until

ROOT: Final = Path(__file__).parents[2]
QUIET_TIMES: Final = 3
QUIET_EVERY_S: Final = 1.1
"""Longer than the servers of tests take to hand on what died, or to count what is held."""


@dataclass
class Worker:
    process: asyncio.subprocess.Process
    assignment: Assignment

    @property
    def alive(self) -> bool:
        return self.process.returncode is None


@dataclass
class Crawl:
    """Settings, workers, and what they wrote down.

    pushed: (number, when) of what was asked for during the crawl.
    shocks: how often something made messages come again that were done already.
    """

    settings: dict[str, Any]
    server: Server
    folder: Path
    size: int
    poison: int = 0
    over: dict[str, Any] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    pushed: list[tuple[int, int]] = field(default_factory=list)
    kills: int = 0
    shocks: int = 0
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    worker_numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    # What a test does to it -----------------------------------------------------------------------------------

    async def start(self, **over: Any) -> Worker:
        """A worker that pops."""
        fields = {"poison": self.poison} | self.over | over
        assignment = Assignment(
            settings=fields.pop("settings", self.settings),
            size=self.size,
            journal=str(self.journal),
            name=f"w{next(self.worker_numbers)}",
            **fields,
        )
        log = (self.folder / f"{assignment.name}.log").open("wb")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.faults.worker",
            assignment.text(),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
        log.close()
        assert process.stdout is not None
        worker = Worker(process, assignment)
        self.workers.append(worker)
        if await process.stdout.readline() != b"ready\n" and not assignment.crash_at:
            raise AssertionError(f"a worker did not start: {self.log_of(worker)}")
        return worker

    def log_of(self, worker: Worker) -> str:
        return (self.folder / f"{worker.assignment.name}.log").read_text()[-3000:]

    async def kill(self, worker: Worker) -> None:
        """It is gone at once."""
        with suppress(ProcessLookupError):
            worker.process.kill()
        await worker.process.wait()
        self.kills += 1
        self.shocks += 8

    async def end(self, worker: Worker, within_s: float = 20.0) -> dict[str, Any]:
        """It was asked to end, and did, in good order. Returns what it said."""
        worker.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(within_s):
            assert worker.process.stdout is not None
            said = await worker.process.stdout.read()
            code = await worker.process.wait()
        assert code == 0, self.log_of(worker)
        result: dict[str, Any] = json.loads(said.splitlines()[-1])
        return result

    def alive(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.alive]

    async def kill_at_random(self, times: int, dice: random.Random, every_s: float) -> None:
        """Workers are killed, and others take their place."""
        for _ in range(times):
            await asyncio.sleep(every_s * (0.5 + dice.random()))
            await self.kill(dice.choice(self.alive()))
            await self.start()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[Backend]:
        """Queues, documents and deadletters, for looking and pushing."""
        async with open_backend(Settings.model_validate(self.settings)) as backend:
            yield backend

    async def push(self, *numbers: int) -> None:
        """These are asked for anew, and nothing that they lead to."""
        async with self.watching() as backend:
            now, at = datetime.now(UTC), time.time_ns()
            pushes = [Push(request=node(n, now, policy=ALONE), queue="immediate") for n in numbers]
            await backend.queue.push(pushes)
            self.pushed += [(n, at) for n in numbers]

    def blame_nobody(self) -> None:
        """Workers die of what the test does, so often that a message might be taken for the reason."""
        self.settings["amqp"]["max_starts"] = 1000

    async def seed(self) -> None:
        """The first node waits."""
        async with self.watching() as backend:
            await backend.queue.push([Push(request=node(1, self.started_at), queue="normal")])

    async def push_untagged(self, *numbers: int) -> None:
        """Copies of these are there that nobody knows of."""
        async with self.watching() as backend:
            queue = backend.queue
            assert isinstance(queue, AmqpQueue)
            for number in numbers:
                body = encode(node(number, self.started_at))
                lane = Lane(PLATFORM, queue_of(number))
                await queue.link.send([Outgoing(exchange=queue.names.work, lane=lane, body=body, token="copy")])

    async def begin(self, workers: int, **over: Any) -> None:
        """The first node waits, and so many workers are there."""
        await self.seed()
        await asyncio.gather(*(self.start(**over) for _ in range(workers)))

    async def settled(self, count: int, within_s: float = 60.0) -> None:
        """Return once so many nodes were settled."""

        def are_settled() -> bool:
            return len({number for number, *_ in self.lines("settled")}) >= count

        await until(are_settled, within_s=within_s, every_s=0.1)

    async def quiet(self, within_s: float = 100.0) -> None:
        """Return once nothing waits and nobody holds anything, and that stays so."""
        times = 0
        async with asyncio.timeout(within_s), self.watching() as backend:
            while times < QUIET_TIMES:
                await asyncio.sleep(QUIET_EVERY_S)
                try:
                    times = times + 1 if self._idle() and await self._nothing_waits(backend) else 0
                except CrawlError:
                    times = 0

    async def _nothing_waits(self, backend: Backend) -> bool:
        queue = backend.queue
        assert isinstance(queue, AmqpQueue)
        return not await queue._markers.any_queued() and not await queue._inspection.anything([PLATFORM])

    def _idle(self) -> bool:
        """Whether no living worker holds anything, by its own word: the broker tells that only some seconds later."""
        said = [Path(f"{self.journal}.{worker.assignment.name}") for worker in self.alive()]
        return all(
            each.exists() and time.time() - each.stat().st_mtime < 2.0 and each.read_text() == "0" for each in said
        )

    def lines(self, word: str) -> list[list[Any]]:
        """What the workers wrote down with that word, numbers as such."""
        if not self.journal.exists():
            return []
        found = [line.split() for line in self.journal.read_text().splitlines() if line.startswith(f"{word} ")]
        return [[int(part) if part.isdecimal() else part for part in line[1:]] for line in found]

    def begun_again(self) -> list[str]:
        """Copies of requests that work was begun on more than once."""
        return [copy for copy, times in Counter(str(copy) for (copy,) in self.lines("begun")).items() if times > 1]

    # What must be true in the end -----------------------------------------------------------------------------

    async def hold_invariants(self, *, duplicates: float = 1.5, pending: bool = False) -> None:
        """The nine.

        duplicates: fetches for each time that a node is to be fetched, at the most.
        pending: markers of dead pushers may be left.
        """
        documents, dead = expected(self.size, self.poison)
        async with self.watching() as backend:
            await self._hold_what_is_kept(backend, documents, dead)
            await self._hold_tags(backend, documents.keys() | dead, pending=pending)
        await self._hold_queues()
        self._hold_journal(documents, duplicates)
        for worker in self.alive():
            said = await self.end(worker)
            assert said["restarts"] == 0, "I7: every loop is alive"
            assert said["running"] == worker.assignment.loops, "I7: every loop is alive"

    async def _hold_what_is_kept(self, backend: Backend, documents: dict[int, str], dead: set[int]) -> None:
        kept = {number_of(doc.url): doc async for doc in backend.store.list(DocumentFilter())}
        assert {number: lasting(doc.body) for number, doc in kept.items()} == documents, (
            "I1: what was to be found, and no more"
        )
        letters = await backend.deadletters.list(DeadletterFilter(), limit=1000)
        given_up = {number_of(letter.request.url): letter.kind for letter in letters}
        assert given_up.keys() == dead, f"I2: what was to be given up, {given_up}"
        assert len(letters) <= len(dead) + self.shocks, "I2: once, or once more where its parent was done again"
        fetched: dict[int, set[int]] = defaultdict(set)
        for number, version, _ in self.lines("fetch"):
            fetched[number].add(version)
        newest: dict[int, int] = defaultdict(int)
        for number, version, _ in self.lines("saved"):
            newest[number] = max(newest[number], version)
        for number, document in kept.items():
            version = document.body["version"]
            assert version in fetched[number], f"I5: what is kept of {number} was fetched"
            assert version >= newest[number], f"I5: nothing older than what was saved of {number} is kept"

    async def _hold_tags(self, backend: Backend, numbers: Sequence[int] | set[int], *, pending: bool) -> None:
        queue = backend.queue
        assert isinstance(queue, AmqpQueue)
        keys = [key_of(node(number, None, policy=policy)) for number in numbers for policy in (ONWARD, ALONE)]
        left = await queue._markers.find(keys)
        assert not [marker for marker in left.values() if marker.queued], "I3: a queued marker has its copy"
        assert pending or not left, "I3: no marker is left"

    async def _hold_queues(self) -> None:
        vhost = quote(urlsplit(self.settings["amqp"]["url"]).path[1:].replace("%2F", "/") or "/", safe="")
        prefix = self.settings["amqp"]["prefix"]
        held: dict[str, int] = {}
        consumers: dict[str, int] = {}
        for _ in range(50):  # the management API tells what was some seconds ago
            rows = await asyncio.to_thread(ask, self.server.management_url, "GET", f"/api/queues/{vhost}")
            ours = {row["name"]: row for row in rows if row["name"].startswith(f"{prefix}.")}
            held = {name: row.get("messages", 0) for name, row in ours.items() if row.get("messages", 0)}
            consumers = {name: ours.get(f"{prefix}.q.{PLATFORM}.{name}", {}).get("consumers", 0) for name in QUEUES}
            if not held and set(consumers.values()) == {len(self.alive())}:
                return
            await asyncio.sleep(0.2)
        raise AssertionError(f"I4: nothing is held, and every worker consumes from every queue: {held} {consumers}")

    def _hold_journal(self, documents: dict[int, str], duplicates: float) -> None:
        fetches = self.lines("fetch")
        once = len({number for number, *_ in fetches})
        asked = once + sum(attempt > 0 for *_, attempt in fetches) + len(self.pushed)
        assert len(fetches) <= duplicates * asked, f"I6: {len(fetches)} for {asked}"
        assert all(attempt < ATTEMPTS for *_, attempt in fetches), "I8: nothing is tried too often"
        for number, at in self.pushed:
            if number in documents:
                assert max(f[1] for f in fetches if f[0] == number) >= at, "I9: what was pushed was fetched after that"


@asynccontextmanager
async def crawl(
    server: Server, folder: Path, *, size: int, store: dict[str, Any] | None = None, **over: Any
) -> AsyncIterator[Crawl]:
    """A crawl that nobody else has to do with; its workers are gone in the end."""
    prefix = f"fault-{time.time_ns() % 10**10}"
    settings: dict[str, Any] = {
        "queue": {"provider": "amqp"},
        "amqp": {"url": server.url, "management_url": server.management_url, "prefix": prefix, "heartbeat_s": 5},
        "crawl": {"loops": 8},
    }
    settings |= store or {
        "store": {"provider": "sqlite"},
        "sqlite": {"path": str(folder / "crawl.db"), "synchronous": "normal"},
    }
    crawling = Crawl(settings, server, folder, size, **over)
    try:
        yield crawling
    finally:
        for worker in crawling.alive():
            await crawling.kill(worker)
        await clear(crawling)


async def clear(crawling: Crawl) -> None:
    """Its queues are gone."""
    with suppress(CrawlError):
        async with crawling.watching() as backend:
            queue = backend.queue
            assert isinstance(queue, AmqpQueue)
            channel = await queue.link.channel()
            for spec in queue.names.specs():
                await channel.queue_delete(spec.name)
                await channel.exchange_delete(spec.exchange)


def through(settings: dict[str, Any], port: int) -> dict[str, Any]:
    """The same settings, with the broker behind another port."""
    split = urlsplit(settings["amqp"]["url"])
    url = settings["amqp"]["url"].replace(f":{split.port}", f":{port}")
    return settings | {"amqp": settings["amqp"] | {"url": url}}
