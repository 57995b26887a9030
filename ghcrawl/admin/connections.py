"""Limits the connections of a port, per address and in all, and the time each may take to send a request.

At a limit, idle connections are closed first: the one that has waited longest for its first request, then the one that
has waited longest for another. A connection whose request is being answered is never closed to make room.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from itertools import chain
from typing import Final, cast

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from msgspec import Struct

log = structlog.stdlib.get_logger(__name__)

HEADERS_S: Final = 10.0
"""How long the headers of a request may take, from its first byte; of the first request, from the connection."""
RESERVED: Final = 256
"""Descriptors left to everything else: files, the broker, the database, calls to platforms, probes."""


class Limits(Struct, frozen=True, kw_only=True):
    """in_all, of_address: connections at a time. headers_s: as HEADERS_S."""

    in_all: int = 1000
    of_address: int = 250
    headers_s: float = HEADERS_S


PROBES: Final = Limits(in_all=64, of_address=32)
"""Of the port for metrics and probes."""


def raise_descriptor_limit() -> int:
    """How many descriptors this process may have open: as many as it is allowed to allow itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # some systems call it unlimited and mean less
            return soft
    return hard


def within(limits: Limits, descriptors: int) -> Limits:
    """`limits`, lowered to leave RESERVED of these descriptors, or half of them if that is less.

    descriptors: `resource.RLIM_INFINITY` for no limit.
    """
    if descriptors == resource.RLIM_INFINITY:
        return limits
    in_all = max(1, min(limits.in_all, descriptors - min(RESERVED, descriptors // 2)))
    return Limits(in_all=in_all, of_address=min(limits.of_address, max(1, in_all // 2)), headers_s=limits.headers_s)


class Connections:
    """The connections of one port. Called by the event loop for each new one; `server` speaks HTTP on it.

    closed: called with the reason each time a limit closes one: `headers`, `address` or `all`.
    """

    def __init__(self, limits: Limits, closed: Callable[[str], None] = lambda _: None) -> None:
        self.limits = limits
        self.tell = closed
        self._open: dict[object, _Connection] = {}
        self._of: dict[str, int] = {}
        self._new: dict[_Connection, None] = {}
        self._kept: dict[_Connection, None] = {}
        """Those that wait for their first request, or for another one; the longest first."""

    def over(self, server: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.Protocol]:
        """A factory of protocols that are `server`'s, within the limits."""
        return lambda: _Connection(self, server())

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Knows which connections are being answered."""
        connection = self._open.get(request.transport)
        if connection is None:
            return await handler(request)
        connection.busy()
        try:
            return await handler(request)
        finally:
            connection.done()

    # What connections say ---------------------------------------------------------------------------------------

    def admit(self, connection: _Connection, transport: asyncio.BaseTransport) -> bool:
        """Whether there is room for it, perhaps because another one goes."""
        address = connection.address
        if self._of.get(address, 0) >= self.limits.of_address:
            if not self._close_one("address", lambda one: one.address == address):
                return False
        elif len(self._open) >= self.limits.in_all and not self._close_one("all", lambda _: True):
            return False
        self._open[transport] = connection
        self._of[address] = self._of.get(address, 0) + 1
        self._new[connection] = None
        return True

    def waits(self, connection: _Connection) -> None:
        """It waits for another request from now on."""
        self._kept[connection] = None

    def works(self, connection: _Connection) -> None:
        """Its request is being answered."""
        self._new.pop(connection, None)
        self._kept.pop(connection, None)

    def forget(self, connection: _Connection, transport: object) -> None:
        """It is gone."""
        self.works(connection)
        if self._open.pop(transport, None) is not None:
            self._of[connection.address] -= 1
            if not self._of[connection.address]:
                del self._of[connection.address]

    def _close_one(self, why: str, may_go: Callable[[_Connection], bool]) -> bool:
        oldest = next(filter(may_go, chain(self._new, self._kept)), None)
        if oldest is None:
            self.refuse(why, "")
            return False
        oldest.close(why)
        return True

    def refuse(self, why: str, address: str) -> None:
        """A connection is closed for a limit."""
        self.tell(why)
        log.warning("connection_closed", why=why, address=address, open=len(self._open))


class _Connection(asyncio.Protocol):
    """One connection: passes everything on to the protocol that speaks HTTP."""

    def __init__(self, connections: Connections, speaks: asyncio.Protocol) -> None:
        self.address = ""
        self._connections = connections
        self._speaks = speaks
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._answering = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        connection = cast("asyncio.Transport", transport)
        if not self._connections.admit(self, transport):
            connection.abort()
            return
        self._transport = connection
        self._speaks.connection_made(transport)
        self._time()

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            return
        if self._timer is None and not self._answering:
            self._time()
        self._speaks.data_received(data)

    def eof_received(self) -> bool | None:
        return self._speaks.eof_received() if self._transport is not None else None

    def pause_writing(self) -> None:
        self._speaks.pause_writing()

    def resume_writing(self) -> None:
        self._speaks.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        if self._transport is not None:
            self._untime()
            self._connections.forget(self, self._transport)
            self._transport = None
            self._speaks.connection_lost(error)

    def busy(self) -> None:
        """A request has come, with all its headers."""
        self._untime()
        self._answering = True
        self._connections.works(self)

    def done(self) -> None:
        """It is answered."""
        self._answering = False
        if self._transport is not None:
            self._connections.waits(self)

    def close(self, why: str) -> None:
        """It goes, for a limit."""
        transport = self._transport
        if transport is not None:
            self._connections.refuse(why, self.address)
            self._connections.forget(self, transport)
            transport.abort()

    def _time(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._connections.limits.headers_s, self.close, "headers")

    def _untime(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
