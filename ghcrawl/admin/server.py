"""The two ports of a service: the API and webhooks on one, metrics and probes on the other."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from aiohttp import web
from msgspec import Struct

from ghcrawl.admin import (
    deadletters,
    documents,
    history,
    legacy,
    openapi,
    probes,
    queues,
    redelivery,
    running,
    sources,
    whoami,
)
from ghcrawl.admin.access import Access
from ghcrawl.admin.connections import PROBES, Connections, Limits
from ghcrawl.admin.console import Console
from ghcrawl.admin.courtesy import courteous
from ghcrawl.admin.probes import Probed
from ghcrawl.admin.routing import Bounds, Handlers
from ghcrawl.admin.site import Site
from ghcrawl.admin.webhook import Webhook
from ghcrawl.values.errors import ConfigError

DESCRIBED: Final = (
    *running.ROUTES,
    *queues.ROUTES,
    *deadletters.ROUTES,
    *documents.ROUTES,
    *sources.ROUTES,
    *redelivery.ROUTES,
    *history.ROUTES,
    *whoami.ROUTES,
)
KEEPALIVE_S: Final = 75.0
QUIET: Final = logging.getLogger("ghcrawl.admin.http")
"""What strangers send that is no HTTP is no error of ours; what our handlers do wrong is logged where it happens."""
QUIET.setLevel(logging.CRITICAL)
BACKLOG: Final = 128
CLOSING_S: Final = 5.0
"""How long answers that are under way at the end may take."""
RUNNER: Final[Mapping[str, Any]] = {
    "access_log": None,
    "logger": QUIET,
    "auto_decompress": False,
    "max_line_size": 128 * 1024,
    "keepalive_timeout": KEEPALIVE_S,
    "shutdown_timeout": CLOSING_S,
}
"""How both ports speak HTTP. Filters may be long."""


class Addresses(Struct, frozen=True, kw_only=True):
    """Where to listen. Port 0: the system chooses."""

    host: str
    port: int
    probe_host: str
    probe_port: int


class Listening(Struct, frozen=True, kw_only=True):
    """The URLs that answer."""

    url: str
    probe_url: str


def application(site: Site, access: Access, webhook: Webhook, bounds: Bounds) -> web.Application:
    """The API, the predecessor's routes, the console, and `/webhook`."""
    app = web.Application(middlewares=[courteous])
    handlers = Handlers(site, access, bounds)
    handlers.add(app, (*DESCRIBED, openapi.route(DESCRIBED), *legacy.ROUTES))
    app.router.add_post("/webhook", webhook.handle)
    Console().add(app)
    return app


@asynccontextmanager
async def serving(
    app: web.Application, probed: Probed, addresses: Addresses, connections: Connections | None = None
) -> AsyncIterator[Listening]:
    """Both ports answer until the block is left. Raises ConfigError for an address that cannot be used.

    connections: those of the API; the probes have a budget of their own.
    """
    async with AsyncExitStack() as stack:
        probing = probes.application(probed)
        probe_url = await _listen(stack, probing, addresses.probe_host, addresses.probe_port, Connections(PROBES))
        url = await _listen(stack, app, addresses.host, addresses.port, connections or Connections(Limits()))
        yield Listening(url=url, probe_url=probe_url)


async def _listen(stack: AsyncExitStack, app: web.Application, host: str, port: int, connections: Connections) -> str:
    app.middlewares.insert(0, connections.middleware)
    runner = web.AppRunner(app, **RUNNER)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    assert runner.server is not None, "it was set up"
    site = _Site(runner, host, port, connections.over(runner.server))
    try:
        await site.start()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(
            f"cannot listen on {host}:{port} ({reason}); choose another host or port in section service"
        ) from error
    bound = runner.addresses[0]
    shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    return f"http://{shown}:{bound[1]}"


class _Site(web.BaseSite):
    """As `web.TCPSite`, with protocols that `factory` makes."""

    def __init__(self, runner: web.BaseRunner, host: str, port: int, factory: Callable[[], asyncio.Protocol]) -> None:
        super().__init__(runner)
        self._host, self._port, self._factory = host, port, factory

    @property
    def name(self) -> str:
        """Where it listens."""
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        """Listen. Raises OSError."""
        await super().start()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._factory, self._host, self._port, backlog=BACKLOG)
