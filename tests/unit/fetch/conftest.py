from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.principals import Credential, read_tokens
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.ports.clock import Clock
from tests.support.builders import an_egress
from tests.support.clock import FakeClock
from tests.unit.fetch.scripted import Scripted, Watching

Start = Callable[..., Any]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def server(clock: Clock) -> AsyncIterator[Scripted]:
    server = Scripted(clock)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def watching() -> Watching:
    return Watching()


@pytest.fixture
async def start(clock: Clock, server: Scripted, watching: Watching) -> AsyncIterator[Start]:
    """Opens fetchers for the scripted server; `start(tokens, **settings)`."""
    async with AsyncExitStack() as stack:

        async def opened(
            tokens: str = "token-aaaa", *, credentials: tuple[Credential, ...] | None = None, **settings: Any
        ) -> GitHubFetcher:
            made = GitHubSettings(api_url=server.url, **settings)
            held = read_tokens(tokens) if credentials is None else credentials
            fetcher = GitHubFetcher(made, held, clock, watching, an_egress())
            return await stack.enter_async_context(fetcher)

        yield opened
