"""Real answers of Mastodon 4, recorded by the authors of Mastodon.py and fetched with its source distribution.

Nothing of them is kept in this repository; see `tests.support.recordings`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import yaml
from aiohttp import web
from msgspec import Struct

from tests.support.recordings import download_sdist, installed

MASTODON_PY = "Mastodon.py==2.3.3 --hash=sha256:a3cda3db86d65809957c978aef8ac7fb3dfc93abfeda3f1c6bdef4c79090ab7b"
SENT_ON = frozenset({"etag", "link", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "date"})


class Recorded(Struct, frozen=True, kw_only=True):
    """One recorded question and its answer. origin: the server's; path: with its query."""

    source: str
    method: str
    origin: str
    path: str
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """The answer's JSON; None where it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None


def _folder() -> Path:
    return installed("mastodonpy", lambda into: download_sdist(MASTODON_PY, into))


@cache
def exchanges() -> tuple[Recorded, ...]:
    """Every exchange in Mastodon.py's recordings of present servers, in the order of files."""
    files = sorted(_folder().glob("*/tests/cassettes/*.yaml"))
    assert files, "Mastodon.py's source distribution has no recordings any more"
    return tuple(each for path in files if not path.name.endswith(".ws.yaml") for each in _read(path))


def sockets() -> Mapping[str, Any]:
    """Name of a recording → its WebSocket connections."""
    return {path.name: _yaml(path)["connections"] for path in sorted(_folder().glob("*/tests/cassettes/*.ws.yaml"))}


def _read(path: Path) -> Iterable[Recorded]:
    for each in _yaml(path)["interactions"]:
        asked, answer = each["request"], each["response"]
        parts = urlsplit(asked["uri"])
        text = answer["body"].get("string", "")
        yield Recorded(
            source=path.name,
            method=asked["method"],
            origin=f"{parts.scheme}://{parts.netloc}",
            path=f"{parts.path}?{parts.query}" if parts.query else parts.path,
            status=answer["status"]["code"],
            headers={name.lower(): values[0] for name, values in answer["headers"].items()},
            text=text if isinstance(text, str) else text.decode("utf-8", "replace"),
        )


def _yaml(path: Path) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # a safe one


def key(path: str) -> str:
    """Path and query, whatever the order of its parameters."""
    parts = urlsplit(path)
    return f"{parts.path.rstrip('/')}?{urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))}"


class Replay:
    """Answers GET requests as they were recorded; of several recordings of one URL, the last."""

    def __init__(self, recorded: Iterable[Recorded]) -> None:
        self.served = {key(each.path): each for each in recorded if each.method == "GET"}
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Serve it, with the recorded server's address replaced by ours."""
        self.asked.append(request.raw_path)
        found = self.served.get(key(request.raw_path))
        if found is None:
            return web.json_response({"error": "Record not found"}, status=404)
        here = f"http://{request.host}"
        headers = {name: value for name, value in found.headers.items() if name in SENT_ON - {"date"}}
        headers = {name: value.replace(found.origin, here) for name, value in headers.items()}
        headers.pop("x-ratelimit-reset", None)  # of another year
        if "etag" in headers and request.headers.get("If-None-Match") == headers["etag"]:
            return web.Response(status=304)
        text = found.text.replace(found.origin, here)
        return web.Response(text=text, status=found.status, headers=headers, content_type="application/json")


@asynccontextmanager
async def replaying(replay: Replay) -> AsyncIterator[str]:
    """The server's host and port, for as long as the block lasts."""
    app = web.Application()
    app.router.add_get("/{path:.*}", replay.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield "{}:{}".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()
