"""Several platforms in one process, one of them with a host in every URL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.github import GITHUB
from ghcrawl.ports.clock import SystemClock
from ghcrawl.settings.loading import load
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import Service, open_service, settings_model
from tests.support.crawling import TOKEN, stage
from tests.support.library import BRANCHES, LIBRARY, LibrarySimulator
from tests.support.platforms import SIMULATED
from tests.support.waiting import until


@asynccontextmanager
async def crawling(
    folder: Path, platforms: Sequence[Platform], specs: Sequence[str], **settings: Any
) -> AsyncIterator[Service]:
    """Specs of any of these platforms, being crawled."""
    overrides = {"sqlite.path": folder / "a.db", "sqlite.synchronous": "normal"}
    overrides |= {name.replace("__", "."): value for name, value in settings.items()}
    model = settings_model(platforms)
    made, _ = load(None, {}, overrides | (SIMULATED if GITHUB in platforms else {}), model=model)
    tokens = {"github": read_tokens(TOKEN)}
    async with open_service(made, tokens, Tally(), platforms=platforms) as service:
        now = SystemClock().now()
        roots = [service.mounts.read_spec(spec, "default") for spec in specs]
        await service.backend.queue.push(
            [Push(request=replace(root, asked_at=now), queue="immediate") for root in roots]
        )
        service.supervisor.start()
        yield service
        await service.supervisor.drain(5)


async def until_stored(service: Service, type: TypeName, count: int) -> None:
    async def stored() -> bool:
        return (await service.backend.store.counts()).get(type, 0) >= count

    await until(stored)


async def test_two_platforms_are_crawled_in_one_process_and_one_that_is_blocked_stops_no_other(tmp_path: Path):
    library = LibrarySimulator(size=30)
    async with stage(tmp_path, TINY, limit=3) as it, library.running() as url:
        settings = {"github__api_url": it.server.url, "library__api_url": url}
        async with crawling(tmp_path, (GITHUB, LIBRARY), ["acme", "library:1"], **settings) as service:
            await until_stored(service, TypeName("library", "book"), 30)
            opened = service.opened
            await until(lambda: opened["github"].fetcher.blocked_until() is not None)
            assert opened["library"].fetcher.blocked_until() is None
            assert not await service.backend.queue.is_empty(), "what GitHub has still to be asked waits"
            stored = await service.backend.store.counts()
            assert stored[TypeName("library", "shelf")] == 1
            assert stored[TypeName("github", "org")] == 1


async def test_a_platform_with_a_host_in_every_url_crawls_two_hosts_each_with_its_own_limit(tmp_path: Path):
    free, limited = LibrarySimulator(size=12), LibrarySimulator(size=12, limit=2)
    async with free.running() as first, limited.running() as second:
        specs = [f"1@{url.removeprefix('http://')}" for url in (first, second)]
        async with crawling(tmp_path, (BRANCHES,), specs) as service:
            await until(lambda: ("/books/4", 200) in free.calls and ("/books/2", 429) in limited.calls)
            assert service.opened["branches"].fetcher.blocked_until() is None
            assert not await service.backend.queue.is_empty(), "the rest of the limited host waits"
    assert [status for _, status in limited.calls].count(429) == 1


async def test_a_host_that_is_down_stops_no_other_and_costs_no_attempt(tmp_path: Path):
    up, down = LibrarySimulator(size=6), LibrarySimulator(size=6)
    async with up.running() as first:
        async with down.running() as second:
            pass
        specs = [f"1@{url.removeprefix('http://')}" for url in (second, first)]
        async with crawling(tmp_path, (BRANCHES,), specs) as service:
            await until_stored(service, TypeName("branches", "book"), 6)
            assert service.opened["branches"].breaker.outage is None, "one of the hosts answers"
            (waiting,) = await service.backend.queue.peek("immediate", limit=9)
            assert (waiting.url, waiting.attempt) == (f"{second}/shelves/1", 0)
