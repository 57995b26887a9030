"""A server on loopback that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Validator
from tests.support.builders import NOW, a_type
from tests.support.clock import FakeClock

NAMES = {"Authorization", "If-None-Match", "If-Modified-Since", "Accept", "X-GitHub-Api-Version", "User-Agent"}


@dataclass(slots=True)
class Hit:
    method: str
    path: str
    headers: dict[str, str]

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")


Handler = Callable[[Hit], Any]
"""Makes a reply, or an awaitable of one."""


@dataclass(slots=True)
class Reply:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    def to_response(self, date: str) -> web.Response:
        body = self.raw if self.raw is not None else b"" if self.body is None else json.dumps(self.body).encode()
        kind = {} if self.status in (204, 304) else {"Content-Type": "application/json; charset=utf-8"}
        return web.Response(status=self.status, body=body or None, headers={"Date": date, **kind, **self.headers})


def quota(
    remaining: int = 4999, *, limit: int = 5000, resets_in_s: int = 3600, resource: str = "core"
) -> dict[str, str]:
    """Rate-limit headers as of NOW."""
    return {
        "x-ratelimit-limit": str(limit),
        "x-ratelimit-remaining": str(remaining),
        "x-ratelimit-reset": str(int(NOW.timestamp()) + resets_in_s),
        "x-ratelimit-resource": resource,
    }


def ok(body: Any = None, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(body={"id": 1} if body is None else body, headers={**quota(), **named})


def no(status: int, message: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body={"message": message} if message else {}, headers={**quota(), **named})


class Scripted:
    """Answers each path from its script; the last line of a script is said again and again."""

    def __init__(self, clock: Clock) -> None:
        self.hits: list[Hit] = []
        self.skew = timedelta()
        self.url = ""
        self._clock = clock
        self._scripts: dict[str, deque[Reply | Handler]] = defaultdict(deque)
        self._runner: web.AppRunner | None = None

    def script(self, path: str, *lines: Reply | Handler) -> str:
        """Say these for `path` (with its query). Returns the URL."""
        self._scripts[path] = deque(lines)
        return self.url + path

    def asked(self, path: str) -> list[Hit]:
        return [hit for hit in self.hits if hit.path == path]

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    async def stop(self) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name in NAMES}
        hit = Hit(request.method, request.path_qs, headers)
        self.hits.append(hit)
        lines = self._scripts.get(request.path_qs) or self._scripts.get("*")
        if not lines:
            return web.json_response({"message": "Not Found"}, status=404)
        line = lines[0] if len(lines) == 1 else lines.popleft()
        reply = line if isinstance(line, Reply) else line(hit)
        if not isinstance(reply, Reply):
            reply = await reply
        if reply.status == 0:
            assert request.transport is not None
            request.transport.abort()
        date = format_datetime((self._clock.now() + self.skew).replace(microsecond=0).astimezone(UTC), usegmt=True)
        return reply.to_response(date)


HANG_UP = Reply(status=0)


async def until(holds: Callable[[], bool]) -> None:
    """Let others run until it holds."""
    while not holds():  # noqa: ASYNC110  # what is waited for is the inside of something that offers no event
        await asyncio.sleep(0)


class Watching:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def settled(self, settled: Settled) -> None:
        raise AssertionError(settled)

    def called(self, call: Call) -> None:
        self.calls.append(call)


class StandingClock(FakeClock):
    """Moves only when a test moves it: whoever sleeps wakes when that moment has come."""

    def __init__(self, start: datetime = NOW) -> None:
        super().__init__(start)
        self._sleepers: list[tuple[datetime, Any]] = []

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        due = [future for at, future in self._sleepers if at <= self.now()]
        self._sleepers = [(at, future) for at, future in self._sleepers if at > self.now()]
        for future in due:
            if not future.done():
                future.set_result(None)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now() + timedelta(seconds=seconds), future))
        await future


def a_stored(url: str, *, validator: Validator | None = None, **over: Any) -> Stored:
    fields: dict[str, Any] = {
        "urn": "urn:repo:12:issue:1",
        "type_name": a_type(over.pop("type", "issue")),
        "url": url,
        "digest": "d",
        "version": 1,
        "observed_at": NOW - timedelta(hours=1),
        "checked_at": NOW - timedelta(hours=1),
        "processed_at": NOW - timedelta(hours=1),
        "validator": validator,
    }
    return Stored(**(fields | over))
