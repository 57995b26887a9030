"""Strangers who hold connections open take nothing from the API, from the probes, or from the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from ghcrawl.simulator.github.generation.size import TINY
from tests.integration.service.conftest import Serve
from tests.support.crawling import TOKEN, stage

DESCRIPTORS = 512
HELD = 600
QUICK_S = 5.0
"""What a probe may take on a busy machine. Kubernetes gives up on one after a second or a few."""


@asynccontextmanager
async def held(url: str, number: int) -> AsyncIterator[None]:
    """So many connections that begin a request and never end it; those that are closed are opened again."""
    place = urlsplit(url)

    async def hold() -> None:
        while True:
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            try:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                with suppress(OSError):
                    await reader.read()
            finally:
                writer.close()
            await asyncio.sleep(0.5)

    tasks = [asyncio.create_task(hold()) for _ in range(number)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_600_half_sent_requests_with_512_descriptors_stop_neither_the_api_nor_the_probes(
    tmp_path: Path, serve: Serve
):
    async with (
        stage(tmp_path, TINY) as it,
        serve("--api-url", it.server.url, descriptors=DESCRIPTORS, GHCRAWL_TOKENS=TOKEN) as served,
    ):
        longest = 0.0
        async with held(served.url, HELD):
            end = time.monotonic() + 15
            while time.monotonic() < end:
                began = time.monotonic()
                assert (await served.probe("/livez"))[0] == 200
                assert (await served.probe("/readyz"))[0] == 200
                assert (await served.ask("GET", "/api/v1/loops"))["running"]
                longest = max(longest, time.monotonic() - began)
                await asyncio.sleep(0.1)
        assert longest < QUICK_S
        metrics = (await served.probe("/metrics"))[1]
        closed = [line for line in metrics.splitlines() if line.startswith("ghcrawl_connections_closed_total")]
        assert sum(float(line.rpartition(" ")[2]) for line in closed) > HELD
        assert len(served.logged()) < 500
        assert any(line["event"] == "log_suppressed" for line in served.logged())
