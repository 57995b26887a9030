"""How fast a service answers webhooks while it crawls, and whether any is lost when its broker is restarted.

    python -m benchmarks.webhooks [--rate 200] [--seconds 60] [--queue amqp|sqlite] [--idle] [--calm] [--folder DIR]

So many deliveries a second, each sent when its time has come, however slow the answers are; what counts is the time
from then to the answer. The service crawls a simulated GitHub meanwhile (not with --idle), works the deliveries off,
and its broker is stopped and started again half way (not with --calm). Deliveries that were answered 503 are sent again
in the end, as GitHub does when it is asked to; those that the store does not hold then are lost. Uses
GHCRAWL_TEST_AMQP_URL (and then restarts nothing), or starts a broker of its own. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from benchmarks.servers import Service, serving
from tests.support.cli import Shell, shell
from tests.support.services.fixtures import keeper
from tests.support.services.rabbitmq import Broker
from tests.support.services.wanted import AMQP_URL, distribution

SECRET: Final = "it is no secret here"
FILLER: Final = [{"page_name": f"Page{number}", "action": "edited", "sha": "0" * 40} for number in range(60)]
"""Makes a delivery as large as they are on average: 6 KB."""
GITHUB_WAITS_S: Final = 10.0
AGAIN_AT_ONCE: Final = 50
SETTLES_S: Final = 600.0


@dataclass
class Told:
    """What became of the deliveries. late_s: from when each was due to its answer."""

    answers: dict[int, int] = field(default_factory=dict)
    late_s: dict[int, list[float]] = field(default_factory=dict)

    def note(self, number: int, status: int, seconds: float) -> None:
        """One delivery was answered, so long after it was due."""
        self.answers[number] = status
        self.late_s.setdefault(status, []).append(seconds)

    def figures(self) -> dict[str, Any]:
        """By status."""
        return {
            f"answered {status or 'nothing'}": {"deliveries": len(late), **percentiles(late)}
            for status, late in sorted(self.late_s.items())
        }


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    at = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}
    return {name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000) for name, part in at.items()}


@dataclass
class Crawling(Service):
    """A service that crawls. api_url: of its GitHub."""

    api_url: str

    async def deliver(self, number: int) -> int:
        """The status that one delivery is answered with; 0 where there is no answer in time."""
        repository = {"id": 12, "name": "web", "full_name": "acme/web", "url": f"{self.api_url}/repos/acme/web"}
        body = json.dumps({"number": number, "pages": FILLER, "repository": repository}).encode()
        headers = {
            "X-GitHub-Event": "gollum",
            "X-GitHub-Delivery": f"delivery-{number}",
            "X-Hub-Signature-256": f"sha256={hmac.new(SECRET.encode(), body, sha256).hexdigest()}",
            "Content-Type": "application/json",
        }
        try:
            async with self.session.post(f"{self.url}/webhook", data=body, headers=headers) as response:
                await response.read()
                return response.status
        except (ClientError, TimeoutError):
            return 0

    async def taken(self) -> int:
        """Deliveries that have become documents."""
        counts = await self.ask("GET", "/api/v1/document-counts")
        return int(counts["by_type"].get("GollumEvent", 0))


async def deliver_all(service: Crawling, count: int, rate: float) -> Told:
    """Each when it is due."""
    told, began = Told(), time.perf_counter()

    async def one(number: int) -> None:
        due = began + number / rate
        told.note(number, await service.deliver(number), time.perf_counter() - due)

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            group.create_task(one(number))
    return told


async def send_again(service: Crawling, told: Told) -> int:
    """How many had to be sent again until all were taken."""
    again = [number for number, status in told.answers.items() if status != 202]
    sent, slots = len(again), asyncio.Semaphore(AGAIN_AT_ONCE)

    async def one(number: int) -> int:
        async with slots:
            return await service.deliver(number)

    async with asyncio.timeout(SETTLES_S):
        while again:
            statuses = await asyncio.gather(*map(one, again))
            again = [number for number, status in zip(again, statuses, strict=True) if status != 202]
    return sent


@asynccontextmanager
async def started(sh: Shell, given: argparse.Namespace, **environ: str) -> AsyncIterator[Crawling]:
    """A simulated GitHub and a service that crawls it, each a process of its own."""
    simulating = await sh.start(
        "simulate", "--port", "0", "--size", str(given.size), "--limit", "100000000", "--seed", "1", talks=True
    )
    assert simulating.process.stdout is not None
    api_url = (await simulating.process.stdout.readline()).decode().strip()
    async with (
        ClientSession(timeout=ClientTimeout(total=GITHUB_WAITS_S), connector=TCPConnector(limit=0)) as session,
        serving(sh, session, "--api-url", api_url, *given.serve, **environ) as service,
    ):
        yield Crawling(session, service.url, api_url)


async def restarted(broker: Broker, after_s: float) -> float:
    """The broker is stopped and started again; how many seconds it was away."""
    await asyncio.sleep(after_s)
    began = time.perf_counter()
    await asyncio.to_thread(broker.stop)
    await asyncio.to_thread(broker.start)
    return round(time.perf_counter() - began, 1)


async def measure(given: argparse.Namespace, folder: Path, url: str, broker: Broker | None) -> dict[str, Any]:
    environ = {
        "GHCRAWL_WEBHOOK_SECRETS": SECRET,
        "GHCRAWL_TOKENS": f"ghp_simulated01{'0' * 20}",
        "GHCRAWL_QUEUE__PROVIDER": given.queue,
        "GHCRAWL_AMQP__URL": url or "amqp://127.0.0.1",
    }
    count = int(given.rate * given.seconds)
    async with AsyncExitStack() as stack:
        sh = await stack.enter_async_context(shell(folder))
        service = await stack.enter_async_context(started(sh, given, **environ))
        if not given.idle:
            await service.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
            await asyncio.sleep(1)  # by then the crawl is at work
        away = asyncio.create_task(restarted(broker, given.seconds / 2)) if broker and not given.calm else None
        told = await deliver_all(service, count, given.rate)
        documents = (await service.ask("GET", "/api/v1/document-counts"))["total"]
        figures: dict[str, Any] = {
            "deliveries": count,
            "rate_per_s": given.rate,
            "queue": given.queue,
            "crawling": not given.idle,
            "documents_meanwhile": documents,
            "broker_away_s": await away if away else 0.0,
            **told.figures(),
            "sent_again": await send_again(service, told),
        }
        taken, deadline = await service.taken(), time.perf_counter() + SETTLES_S
        while taken < count and time.perf_counter() < deadline:
            await asyncio.sleep(0.5)  # metrics are there to be asked
            taken = await service.taken()
        return figures | {"lost": count - taken}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--queue", choices=("amqp", "sqlite"), default="amqp")
    parser.add_argument("--size", type=int, default=20_000, help="documents of the GitHub that is crawled meanwhile")
    parser.add_argument("--idle", action="store_true", help="nothing is crawled meanwhile")
    parser.add_argument("--calm", action="store_true", help="the broker is not restarted")
    parser.add_argument("--folder", type=Path, help="where the log and the file of the service are kept")
    parser.add_argument("serve", nargs="*", help="more words for `ghcrawl serve`")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, broker = os.environ.get(AMQP_URL, ""), None
        if given.queue == "amqp" and not url:
            broker = Broker(stack.enter_context(keeper("benchmark")), distribution())
            broker.start()
            url = broker.server.url
        print(json.dumps(asyncio.run(measure(given, folder, url, broker)), indent=2))


if __name__ == "__main__":
    main()
