"""Ten thousand deadletters: how soon a service answers each question about them, and how long requeueing all takes.

    python -m benchmarks deadletters [--letters 10000] [--stores sqlite mongo]

A `ghcrawl serve` of its own for each store (SQLite for queue and documents; RabbitMQ and the database of the tests),
paused, asked over HTTP. What takes several answers is asked for until nothing is left, as the command line and the
console do: told are the slowest of these answers and all of them together. Nothing may be lost: afterwards as many
requests wait as there were deadletters.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

from aiohttp import ClientSession, ClientTimeout

from benchmarks.servers import Servers, Service, servers, serving, tell
from ghcrawl.backend import open_backend
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.logs import configure_logging
from ghcrawl.values.deadletters import Deadletter
from tests.support.builders import a_deadletter, a_failure, a_request, at
from tests.support.cli import shell

WITHIN_S: Final = 2.0
TIMEOUT_S: Final = 120.0
FILED_AT_ONCE: Final = 100
CLASSES: Final = ("http_503", "KeyError", "http_404")
FILTER: Final = {"kind": list(CLASSES)}
NOWHERE: Final = "http://127.0.0.1:1"
"""Where a paused service asks for nothing."""


def one_of_many(number: int) -> Deadletter:
    """As they are: five failures, a traceback."""
    return a_deadletter(
        number,
        last_at=at(number),
        kind=CLASSES[number % 3],
        request=a_request(number, type=("repo", "issue")[number % 2]),
        reason=f"Reason {number % 7}",
        failures=tuple(a_failure(at=at(number - ago)) for ago in (900, 300, 90, 20, 0)),
        traceback="Traceback …\n" * 50,
    )


async def timed(answer: Awaitable[Any]) -> tuple[Any, float]:
    """An answer, and after how many seconds it was there."""
    began = time.perf_counter()
    return await answer, time.perf_counter() - began


async def throughout(service: Service, action: str) -> dict[str, float]:
    """All that the filter means, in as many answers as it takes."""
    body, took, done, left = dict[str, Any](FILTER), list[float](), 0, 1
    while left:
        answer, seconds = await timed(service.ask("POST", f"/api/v1/deadletters/{action}", body))
        took.append(seconds)
        done += answer["queued"] if action == "requeue" else answer["deleted"]
        body["before"], left = answer["before"], answer["left"]
    rounded = {"slowest_s": max(took), "whole_s": sum(took)}
    return {"letters": done, "answers": len(took)} | {name: round(value, 2) for name, value in rounded.items()}


@asynccontextmanager
async def paused(settings: Settings, secret: Mapping[str, Mapping[str, str]], folder: Path) -> AsyncIterator[Service]:
    """A service on these settings that crawls nothing and can be asked."""
    variables = {
        f"GHCRAWL_{section.upper()}__{name.upper()}": value
        for section, values in secret.items()
        for name, value in values.items()
    }
    providers = {"GHCRAWL_QUEUE__PROVIDER": settings.queue.provider, "GHCRAWL_STORE__PROVIDER": settings.store.provider}
    async with (
        shell(folder, **providers, **variables) as sh,
        ClientSession(timeout=ClientTimeout(total=TIMEOUT_S)) as session,
        serving(sh, session, "--api-url", NOWHERE) as service,
    ):
        await service.ask("POST", "/api/v1/pause")
        yield service


async def fill(settings: Settings, letters: int) -> None:
    """So many are there."""
    async with open_backend(settings) as backend:
        for start in range(0, letters, FILED_AT_ONCE):
            numbers = range(start, min(letters, start + FILED_AT_ONCE))
            await asyncio.gather(*(backend.deadletters.bury(one_of_many(number)) for number in numbers))


async def measure(settings: Settings, secret: Mapping[str, Mapping[str, str]], letters: int) -> dict[str, Any]:
    await fill(settings, letters)
    looks = {
        "list": "/api/v1/deadletters?limit=500",
        "filter": "/api/v1/deadletters?limit=500&kind=http_404&type=repo&reason=reason+1",
        "count": "/api/v1/deadletter-counts",
        "count by filter": "/api/v1/deadletter-counts?kind=http_503&reason=reason+3",
    }
    with TemporaryDirectory() as folder:
        async with paused(settings, secret, Path(folder)) as service:
            found: dict[str, Any] = {}
            for name, path in looks.items():
                took = [(await timed(service.ask("GET", path)))[1] for _ in range(3)]
                found[name] = {"slowest_s": round(max(took), 2)}
            found["requeue"] = await throughout(service, "requeue")
            queues = (await service.ask("GET", "/api/v1/queues"))["queues"]
            assert sum(queue["total"] for queue in queues) == letters, "as many wait as were given up"
            await fill(settings, letters)
            found["delete"] = await throughout(service, "delete")
            counts = await service.ask("GET", "/api/v1/deadletter-counts")
            assert counts["total"] == 0
    slowest = max(each["slowest_s"] for each in found.values())
    return found | {"slowest_s": slowest, "within two seconds": slowest <= WITHIN_S}


async def on_sqlite(letters: int) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "ghcrawl.db")
        settings = Settings.model_validate({"sqlite": {"path": path}})
        return await measure(settings, {"sqlite": {"path": path}}, letters)


async def on_mongo(where: Servers, letters: int) -> dict[str, Any]:
    name = f"deadletters-{uuid4().hex[:8]}"
    settings = where.settings(name)
    secret = {
        "amqp": {"url": where.amqp_url, "management_url": where.management_url, "prefix": name},
        "mongo": {"url": where.mongo_url, "database": name},
    }
    try:
        return await measure(settings, secret, letters)
    finally:
        async with open_backend(settings) as backend:
            await where.forget(name, backend)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letters", type=int, default=10_000)
    parser.add_argument("--stores", nargs="+", choices=("sqlite", "mongo"), default=("sqlite", "mongo"))
    given = parser.parse_args()
    configure_logging(level="warning", format="console", stream=sys.stderr)
    found: dict[str, Any] = {"letters": given.letters}
    if "sqlite" in given.stores:
        found["sqlite"] = asyncio.run(on_sqlite(given.letters))
        tell("sqlite is done")
    if "mongo" in given.stores:
        with servers() as where:
            found["rabbitmq and the database"] = asyncio.run(on_mongo(where, given.letters))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
