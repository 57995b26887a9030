"""A server that answers with what GitHub really answered, from `tests.support.recordings`.

Of several recordings of one URL the latest is served. What was never asked for by itself but is embedded in some other
answer (a pull request holds its repository) is served from there. A repository that occurs only in URLs is made up
from its name, because what lies in it is named after its number. Everything else is 404, as on GitHub.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from aiohttp import web

from tests.support.recordings import API, Exchange

SENT_ON = frozenset({"etag", "last-modified", "x-github-media-type", "x-github-api-version-selected", "vary"})
ASKING_FOR_A_PAGE = frozenset({"page", "after", "before", "cursor"})
IGNORED = frozenset({"per_page"})
_REPO = re.compile(r"/repos/[^/?]+/[^/?]+")


class Replay:
    """The recordings by URL."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.served: dict[str, Exchange] = {}
        self._by_path: dict[str, Exchange] = {}
        self._embedded: dict[str, Any] = {}
        self._repos: set[str] = set()
        for exchange in sorted(exchanges, key=_recorded_at):
            if exchange.method != "GET" or (exchange.status == 304 and _key(exchange.path) in self.served):
                continue
            if exchange.status == 200 and isinstance(exchange.body, dict | list):
                self._embed(exchange.body)
            self.served[_key(exchange.path)] = exchange
            path = unquote(exchange.path.partition("?")[0]).rstrip("/")
            self._by_path[path] = exchange
            if inside := _REPO.match(path):
                self._repos.add(inside[0])

    def _embed(self, body: Any) -> None:
        for item in _objects(body):
            url, identity = item.get("url"), item.get("id")
            if isinstance(url, str) and url.startswith(API) and isinstance(identity, int):
                self._embedded.setdefault(url.removeprefix(API), item)
                if isinstance(item.get("full_name"), str):
                    self._embedded.setdefault(f"/repositories/{identity}", item)

    def find(self, path_qs: str) -> Exchange | None:
        """The recorded answer to this URL, or to the same path where no particular page is asked for."""
        found = self.served.get(_key(path_qs))
        path, _, query = path_qs.partition("?")
        if found is None and not ASKING_FOR_A_PAGE & {name for name, _ in parse_qsl(query)}:
            found = self._by_path.get(path.rstrip("/"))
        if found is None and path in self._embedded:
            found = _made_up(path, self._embedded[path])
        if found is None and _REPO.fullmatch(path) and path in self._repos:
            identity = 900_000_000 + zlib.crc32(path.encode()) % 1_000_000
            name = path.removeprefix("/repos/")
            found = _made_up(path, {"id": identity, "url": API + path, "full_name": name, "private": False})
        return found

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Serve it, with GitHub's address replaced by ours."""
        exchange = self.find(unquote(request.raw_path))
        if exchange is None:
            return web.json_response({"message": "Not Found"}, status=404)
        here = f"http://{request.host}"
        headers = {name: value for name, value in exchange.headers.items() if name in SENT_ON}
        for name in ("link", "location"):
            if name in exchange.headers:
                headers[name] = exchange.headers[name].replace(API, here)
        text = exchange.text.replace(API, here)
        return web.Response(text=text, status=exchange.status, headers=headers, content_type="application/json")


@asynccontextmanager
async def replaying(replay: Replay) -> AsyncIterator[str]:
    """The server's base URL, for as long as the block lasts."""
    app = web.Application()
    app.router.add_get("/{path:.*}", replay.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def _made_up(path: str, body: Any) -> Exchange:
    return Exchange(source="made up", method="GET", path=path, status=200, headers={}, text=json.dumps(body))


def _key(path_qs: str) -> str:
    path, _, query = unquote(path_qs).partition("?")
    pairs = sorted((name, value) for name, value in parse_qsl(query) if name not in IGNORED)
    return f"{path.rstrip('/')}?{urlencode(pairs)}"


def _recorded_at(exchange: Exchange) -> float:
    try:
        return parsedate_to_datetime(exchange.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return 0.0


def _objects(body: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(body, dict):
        yield body
        for value in body.values():
            yield from _objects(value)
    elif isinstance(body, list):
        for value in body:
            yield from _objects(value)
