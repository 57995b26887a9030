"""An answer on the wire: its headers, and the ways in which a connection fails."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from aiohttp import web
from msgspec import Struct

from ghcrawl.simulator.faults import Dropped, Fault, Truncated
from ghcrawl.simulator.github.limits import Budget, Resource
from ghcrawl.simulator.github.moments import stamp
from ghcrawl.simulator.github.principals import Principal
from ghcrawl.simulator.github.rendering import Rendered, http_date
from ghcrawl.simulator.github.validation import ANONYMOUS_VARY, VARY


class Reply(Struct, frozen=True, kw_only=True):
    """Everything that one answer says. unchanged: it is a 304. gzip: the asker accepts it and it is done here."""

    rendered: Rendered
    unchanged: bool
    charged: bool
    tag: str | None
    principal: Principal
    budget: Budget
    resource: Resource
    version: str
    number: int
    at: datetime
    gzip: bool

    @property
    def status(self) -> int:
        """The status on the wire."""
        return 304 if self.unchanged else self.rendered.status

    def headers(self) -> dict[str, str]:
        """All headers but those of the body's length."""
        headers: dict[str, str] = {
            "Server": "github.com",
            "Date": http_date(stamp(self.at)),
            "X-GitHub-Request-Id": f"{self.number:04X}:{self.budget.resets_at:X}:{self.number * 7919:X}",
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Api-Version-Selected": self.version,
            "X-RateLimit-Limit": str(self.budget.limit),
            "X-RateLimit-Remaining": str(self.budget.remaining),
            "X-RateLimit-Used": str(self.budget.used),
            "X-RateLimit-Reset": str(self.budget.resets_at),
            "X-RateLimit-Resource": self.resource,
            **self.rendered.headers,
        }
        if not self.unchanged:
            headers["Content-Type"] = self.rendered.content_type
        return headers | dict(self._validators())

    def _validators(self) -> Mapping[str, str]:
        """What caches need. Compressed answers carry the weak form of the tag; a 304 always the strong one."""
        if self.tag is None:
            return {}
        known = self.principal.viewer.authenticated
        headers = {
            "ETag": f"W/{self.tag}" if self.gzip and not self.unchanged else self.tag,
            "Vary": VARY if known else ANONYMOUS_VARY,
            "Cache-Control": f"{'private' if known else 'public'}, max-age=60, s-maxage=60",
        }
        if self.rendered.last_modified is not None:
            headers["Last-Modified"] = self.rendered.last_modified
        return headers


async def send(request: web.BaseRequest, reply: Reply, fault: Fault | None) -> web.StreamResponse:
    """`reply` is on its way, or as much of it as `fault` lets through."""
    if reply.unchanged:
        return web.Response(status=304, headers=reply.headers())
    body, headers = reply.rendered.body, reply.headers()
    if isinstance(fault, Truncated):
        body = body[: len(body) // 2]
    elif reply.gzip and body:
        body = reply.rendered.compressed
        headers["Content-Encoding"] = "gzip"
    if isinstance(fault, Dropped):
        return await _drop(request, reply.status, headers, body, mid_body=fault.mid_body)
    return web.Response(status=reply.status, headers=headers, body=body or None)


async def _drop(
    request: web.BaseRequest, status: int, headers: dict[str, str], body: bytes, *, mid_body: bool
) -> web.StreamResponse:
    """The connection is closed, with nothing sent or with half a body."""
    response = web.StreamResponse(status=status, headers=headers | {"Content-Length": str(len(body))})
    if mid_body:
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response
