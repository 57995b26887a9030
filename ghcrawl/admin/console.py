"""The operator's console: one page at `/`, for browsers, and its files under `/console/`.

Nothing in it is secret, so it needs no token; all that it shows comes from the API, which demands one. The files
are read once, when the service starts. A browser asks each time whether its copy is still right, so that the page of a
replica that was just replaced is never mixed with yesterday's scripts for longer than that.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from msgspec import Struct

from ghcrawl.admin.problems import Problem

FILES: Final = Path(__file__).with_name("console")
PAGE: Final = "index.html"
TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Only what this service itself serves, nothing inline, and no way to make markup of text."""
HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class File(Struct, frozen=True, kw_only=True):
    """One file as it is sent. etag: of its bytes."""

    body: bytes
    type: str
    etag: str


def files(folder: Path = FILES) -> Mapping[str, File]:
    """Every file of the console, by its name below `folder`, `/` between folders."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in TYPES)
    return {path.relative_to(folder).as_posix(): _file(path) for path in found}


def _file(path: Path) -> File:
    body = path.read_bytes()
    return File(body=body, type=TYPES[path.suffix], etag=sha256(body).hexdigest()[:32])


class Console:
    """Answers with the console's files."""

    def __init__(self) -> None:
        self._files = files()

    def add(self, app: web.Application) -> None:
        """`app` answers for the files; and at `/`, where browsers ask, with the page."""
        app.router.add_get("/console/{name:.+}", self._show)
        app.middlewares.append(self._at_the_root())

    async def _show(self, request: web.Request) -> web.Response:
        return self._answer(request, request.match_info["name"])

    def _at_the_root(self) -> Middleware:
        """`/` is the predecessor's route as well: its clients ask for no HTML, and every browser does."""

        @web.middleware
        async def page(request: web.Request, handler: Handler) -> web.StreamResponse:
            browses = "text/html" in request.headers.get("Accept", "")
            if request.path == "/" and request.method in ("GET", "HEAD") and browses:
                return self._answer(request, PAGE)
            return await handler(request)

        return page

    def _answer(self, request: web.Request, name: str) -> web.Response:
        found = self._files.get(name)
        if found is None:
            raise Problem(404, f"console file {name[:100]} not found")
        answer = web.Response(headers={**HEADERS, "Vary": "Accept"})
        answer.etag = found.etag
        if any(known.value == found.etag for known in request.if_none_match or ()):
            answer.set_status(304)
            return answer
        answer.body = found.body
        answer.content_type = found.type
        answer.charset = "utf-8"
        return answer
