"""Two services on one RabbitMQ and one MongoDB: what is said to one holds for both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from ghcrawl.simulator.github.generation.size import TINY
from tests.integration.service.conftest import Serve, Served
from tests.support.crawling import TOKEN, Stage, stage
from tests.support.services.rabbitmq import Server

pytestmark = pytest.mark.crawl


@pytest.fixture
def shared(vhost: Server, mongo_url: str) -> dict[str, str]:
    """The environment of services that share everything but their process."""
    return {
        "GHCRAWL_QUEUE__PROVIDER": "amqp",
        "GHCRAWL_AMQP__URL": vhost.url,
        "GHCRAWL_AMQP__MANAGEMENT_URL": vhost.management_url,
        "GHCRAWL_STORE__PROVIDER": "mongo",
        "GHCRAWL_MONGO__URL": mongo_url,
        "GHCRAWL_MONGO__DATABASE": f"test-{uuid4().hex[:12]}",
        "GHCRAWL_TOKENS": TOKEN,
    }


@asynccontextmanager
async def two(folder: Path, serve: Serve, shared: dict[str, str]) -> AsyncIterator[tuple[Stage, Served, Served]]:
    """A simulated GitHub, and two replicas that ask it."""
    async with stage(folder, TINY) as it:
        at = ("--api-url", it.server.url, "--loops", "2")
        async with serve(*at, **shared) as one, serve(*at, **shared) as other:
            yield it, one, other


async def test_what_is_patched_on_one_is_what_both_then_pop(tmp_path: Path, serve: Serve, shared: dict[str, str]):
    async with two(tmp_path, serve, shared) as (it, one, other):
        await one.ask("PATCH", "/api/v1/settings", {"crawl.loops": 5})
        await other.holds("/api/v1/loops", lambda workers: workers["running"] == 5)

        await other.ask("POST", "/api/v1/pause")
        await one.holds("/api/v1/loops", lambda workers: workers["paused"])
        await other.holds("/api/v1/loops", lambda workers: workers["paused"])

        closed = {f"crawl.weights.{name}": 0 for name in ("event", "immediate", "normal", "later")}
        await one.ask("PATCH", "/api/v1/settings", {**closed, "crawl.exclude": ["globex"]})
        wanted = (("soon", "user", f"/users/{it.member.login}"), ("later", "org", "/orgs/acme"))
        for queue, type, path in wanted:
            request = {"type": type, "url": f"{it.server.url}{path}", "policy": "default:self"}
            await one.ask("POST", "/api/v1/requests", {"requests": [request], "queue": queue})
        await one.ask("POST", "/api/v1/requests", {"specs": ["globex"], "policy": "default:self", "queue": "soon"})
        await one.ask("POST", "/api/v1/resume")
        await other.holds("/api/v1/document-counts", lambda counts: counts["by_type"].get("user") == 1)
        await other.holds("/api/v1/queues/soon", lambda queue: queue["total"] == 0)
        await one.holds("/api/v1/queues/later", lambda queue: queue["total"] == 1)
        assert [call.target for call in it.server.journal.calls] == [f"/users/{it.member.login}"]

        opened = dict.fromkeys(closed)
        await other.ask("PATCH", "/api/v1/settings", opened)
        await one.holds("/api/v1/document-counts", lambda counts: counts["by_type"].get("org") == 1)
        assert [call.target for call in it.server.journal.calls] == [path for *_, path in wanted]


async def test_a_patch_with_a_typo_changes_nothing_anywhere(tmp_path: Path, serve: Serve, shared: dict[str, str]):
    async with two(tmp_path, serve, shared) as (_, one, other):
        with pytest.raises(AssertionError, match=r"did you mean crawl\.weights\.later"):
            await one.ask("PATCH", "/api/v1/settings", {"crawl.loops": 5, "crawl.weights.latre": 1})
        assert (await other.ask("GET", "/api/v1/settings"))["live"] == {}
        assert (await other.ask("GET", "/api/v1/settings/audit"))["changes"] == []


async def test_a_delivery_that_reaches_both_is_taken_once(tmp_path: Path, serve: Serve, shared: dict[str, str]):
    async with two(tmp_path, serve, shared) as (it, one, other):
        repository = {"id": 12, "name": "web", "full_name": "acme/web", "url": f"{it.server.url}/repos/acme/web"}
        bodies = [json.dumps({"action": "created", "number": n, "repository": repository}).encode() for n in range(20)]
        deliveries = [
            served.deliver("star", f"delivery-{number}", body)
            for number, body in enumerate(bodies)
            for served in (one, other, one)
        ]
        assert set(await asyncio.gather(*deliveries)) == {202}
        results = [(await served.probe("/metrics"))[1] for served in (one, other)]

        def counted(result: str) -> float:
            start = f'ghcrawl_webhook_deliveries_total{{event="star",result="{result}"}} '
            lines = [line for text in results for line in text.splitlines() if line.startswith(start)]
            return sum(float(line.removeprefix(start)) for line in lines)

        assert (counted("accepted"), counted("duplicate")) == (20, 40)
        await one.holds("/api/v1/document-counts", lambda counts: counts["by_type"].get("StarEvent") == 20)
        assert (await other.ask("GET", "/api/v1/deadletter-counts"))["total"] == 0
