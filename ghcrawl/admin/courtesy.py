"""Every answer has the same headers, and every error is a problem document."""

from __future__ import annotations

from typing import Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from ghcrawl.admin.problems import Problem, of_error
from ghcrawl.values.errors import CrawlError

log = structlog.stdlib.get_logger(__name__)
HEADERS: Final = {
    "Server": "ghcrawl",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


@web.middleware
async def courteous(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns every error into a problem document; where it happened is told to the log only."""
    answered = await _answered(request, handler)
    for name, value in HEADERS.items():
        answered.headers.setdefault(name, value)
    return answered


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Problem as problem:
        return problem.response()
    except CrawlError as error:
        return of_error(error).response()
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _unrouted(request, error).response()
    except Exception:  # a bug in one route is not the end of the others
        log.exception("admin_failed", path=request.path, method=request.method)
        return Problem(500, "internal error, a bug in ghcrawl; see its log").response()


def _unrouted(request: web.Request, error: web.HTTPException) -> Problem:
    allowed = error.headers.get("Allow")
    if allowed:
        return Problem(error.status, f"{request.method} is not allowed; use {allowed}", headers={"Allow": allowed})
    if error.status == 404:
        return Problem(404, f"{request.path[:200]} not found; see /api/openapi.json")
    return Problem(error.status, error.reason)
