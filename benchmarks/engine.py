"""Requests settled per CPU second, against the least that any crawler must do with the same answers.

The bare loop fetches with aiohttp, parses, and inserts into an SQLite file of the same kind. The engine also pops,
deduplicates, looks up, processes, queues, acknowledges, counts and logs. Both files survive a power cut, as the
default is. The answers come from another process; both sides run in this one, a few times in turn, and the median of
the ratios is the result.
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from ghcrawl.cli import COLLECTED_AFTER
from ghcrawl.telemetry.logs import SettledLog, configure_logging
from ghcrawl.telemetry.metrics import Metrics, Observers
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.requests import Context, Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from ghcrawl.wiring import load, open_service

REQUESTS = 3000
LOOPS = 20
ROUNDS = 5


def main() -> None:
    """Run and print."""
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])  # of both sides, as the command line does
    configure_logging(level="warning", format="json")
    with _answering() as url:
        ratios, bare_us, engine_us = [], [], []
        for _ in range(ROUNDS):
            bare = asyncio.run(_bare(url))
            engine = asyncio.run(_engine(url))
            ratios.append(bare / engine)
            bare_us.append(bare / REQUESTS * 1e6)
            engine_us.append(engine / REQUESTS * 1e6)
    print(
        f"engine: {statistics.median(ratios):.2f} of the bare loop's requests per CPU second "
        f"(bare {statistics.median(bare_us):.0f} us, engine {statistics.median(engine_us):.0f} us CPU a request; "
        f"ratios {', '.join(f'{ratio:.2f}' for ratio in ratios)})"
    )


# The answers ----------------------------------------------------------------------------------------------------


def _issue(url: str, number: int) -> bytes:
    """About as large as GitHub's own issues are."""
    person = {"login": "ada", "id": 5, "node_id": "U_5", "avatar_url": f"{url}/a/5", "url": f"{url}/users/ada"}
    person |= {f"{name}_url": f"{url}/users/ada/{name}" for name in ("followers", "gists", "repos", "events", "orgs")}
    body = {
        "id": 10_000 + number,
        "number": number,
        "url": f"{url}/repos/acme/web/issues/{number}",
        "repository_url": f"{url}/repos/acme/web",
        "title": f"Something is wrong with part {number}",
        "user": person,
        "assignees": [person],
        "labels": [{"id": n, "name": f"label {n}", "color": "ededed", "url": f"{url}/l/{n}"} for n in range(3)],
        "comments": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "body": "It does not do what it should. " * 20,
    }
    return json.dumps(body).encode()


def _serve(pipe: Connection) -> None:
    async def answer(request: web.Request) -> web.Response:
        number = int(request.path.rpartition("/")[2])
        headers = {
            "ETag": f'"{number:064x}"',
            "X-RateLimit-Limit": "1000000",
            "X-RateLimit-Remaining": "900000",
            "X-RateLimit-Used": "100000",
            "X-RateLimit-Reset": str(int(time.time()) + 3600),
            "X-RateLimit-Resource": "core",
            "Date": datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"),
        }
        return web.Response(
            body=_issue(f"http://{request.host}", number), headers=headers, content_type="application/json"
        )

    async def serve() -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.to_thread(pipe.recv)
        await runner.cleanup()

    asyncio.run(serve())


@contextmanager
def _answering() -> Iterator[str]:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        ours.send("stop")
        process.join(10)


# The two sides ----------------------------------------------------------------------------------------------------


async def _bare(url: str) -> float:
    """CPU seconds of the least there is to do."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE documents (url TEXT PRIMARY KEY, title TEXT, body BLOB)")
        numbers = iter(range(REQUESTS))
        began = time.process_time()
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(_bare_loop(session, connection, url, numbers) for _ in range(LOOPS)))
        spent = time.process_time() - began
        connection.close()
    return spent


async def _bare_loop(
    session: aiohttp.ClientSession, connection: sqlite3.Connection, url: str, numbers: Iterator[int]
) -> None:
    for number in numbers:
        async with session.get(f"{url}/repos/acme/web/issues/{number}") as response:
            body = await response.read()
        parsed: dict[str, Any] = json.loads(body)
        connection.execute("INSERT INTO documents VALUES (?, ?, ?)", (parsed["url"], parsed["title"], body))


async def _engine(url: str) -> float:
    """CPU seconds of the engine for the same requests, from the first pop to the empty queue."""
    async with _prepared(url, range(REQUESTS)) as service:
        began = time.process_time()
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        spent = time.process_time() - began
        await service.supervisor.drain(5)
        counts = await service.backend.store.counts()
        assert counts == {TypeName(LEGACY_PLATFORM, "issue"): REQUESTS}, counts
    return spent


@asynccontextmanager
async def _prepared(url: str, numbers: Sequence[int]) -> AsyncIterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        overrides = {
            "sqlite.path": Path(folder) / "engine.db",
            "github.api_url": url,
            "github.concurrency": LOOPS,
            "crawl.loops": LOOPS,
            "github.calls_per_min": 0,
            "github.response_s_per_min": 0,
        }
        settings, _ = load(None, {}, overrides)
        observer = Observers(Tally(), Metrics(), SettledLog())
        async with open_service(settings, {}, observer) as service:
            now, context = datetime.now(UTC), Context(qualifier="urn:repo:12", scope="acme/web")
            requests = [
                Request(
                    platform=LEGACY_PLATFORM,
                    type="issue",
                    url=f"{url}/repos/acme/web/issues/{number}",
                    policy="default:self",
                    context=context,
                    asked_at=now,
                )
                for number in numbers
            ]
            await service.backend.queue.push([Push(request=request, queue="normal") for request in requests])
            yield service


if __name__ == "__main__":
    main()
