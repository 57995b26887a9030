"""A simulator per test, and a client that shows everything an answer says."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from msgspec import Struct
from yarl import URL

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import SMALL, TINY
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace

ODD = replace(SMALL, repos=2, issues=16, commits=20, owners=1, commit_comments=0.2)
"""With everything odd in it, and otherwise as small as that goes."""

Start = Callable[..., Awaitable["Hub"]]


class Got(Struct, frozen=True, kw_only=True):
    status: int
    headers: Any
    raw: bytes
    json: Any = None

    @property
    def remaining(self) -> int:
        return int(self.headers["X-RateLimit-Remaining"])

    @property
    def links(self) -> dict[str, str]:
        parts = [part.split(">; rel=") for part in self.headers.get("Link", "").split(", ") if part]
        return {rel.strip('"'): url.lstrip("<") for url, rel in parts}


@dataclass(slots=True)
class Hub:
    """A running simulator with a client. `token` is sent unless a call says otherwise."""

    server: Server
    session: aiohttp.ClientSession
    token: str | None = "token-a"
    sent: dict[str, str] = field(default_factory=lambda: {"Accept": "application/vnd.github+json"})

    @property
    def world(self) -> World:
        return self.server.world

    async def get(self, path: str, *, token: str | None = "", method: str = "GET", **headers: str) -> Got:
        """Ask for a path or a whole URL. Header names are written with underscores."""
        token = self.token if token == "" else token
        sent = self.sent | {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None and "Authorization" not in sent:
            sent["Authorization"] = f"Bearer {token}"
        url = path if path.startswith("http") else self.server.url + path
        async with self.session.request(method, URL(url, encoded=True), headers=sent, allow_redirects=False) as answer:
            raw = await answer.read()
            is_json = answer.headers.get("Content-Type", "").startswith("application/json") and raw
            return Got(
                status=answer.status,
                headers=answer.headers,
                raw=raw,
                json=await answer.json(encoding="utf-8") if is_json else None,
            )

    async def pagination(self, path: str) -> list[Any]:
        """All elements of a list, by following `next`."""
        elements: list[Any] = []
        url: str | None = path
        while url:
            got = await self.get(url)
            assert got.status == 200, (url, got.status, got.raw[:200])
            elements += got.json
            url = got.links.get("next")
        return elements


def an_insider(world: World, org: str = "acme") -> str:
    return next(iter(world.org(org).members.values())).user.login


def an_outsider(world: World, org: str = "acme") -> str:
    members = world.org(org).members
    return next(
        account.login
        for account in world.accounts.values()
        if account.id not in members and getattr(account, "type", "") == "User"
    )


@pytest.fixture
def clock() -> SimClock:
    return SimClock()


@pytest.fixture
def tiny(clock: SimClock) -> World:
    return generate(TINY, seed=1, clock=clock)


@pytest.fixture(scope="session")
def settled() -> World:
    """With everything odd in it, for all tests that change nothing."""
    return generate(ODD, seed=1, clock=SimClock())


@pytest.fixture(scope="session")
def _fresh() -> bytes:
    """The same as nobody has seen it: to read it takes a third of the time that making it takes."""
    return pickle.dumps(generate(ODD, seed=1, clock=SimClock()))


@pytest.fixture
def small(_fresh: bytes, clock: SimClock) -> World:
    """A copy, for tests that change it."""
    world: World = pickle.loads(_fresh)
    world.clock = clock
    return world


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts simulators, and ends them with the test. Without a setup, `token-a` and `token-b` are an insider's."""
    async with AsyncExitStack() as stack:

        async def begin(world: World, setup: Setup | None = None) -> Hub:
            insider = world.principal(an_insider(world))
            setup = setup or Setup(tokens={"token-a": insider, "token-b": insider})
            server = await stack.enter_async_context(running(world, setup))
            session = await stack.enter_async_context(aiohttp.ClientSession())
            return Hub(server, session)

        yield begin
