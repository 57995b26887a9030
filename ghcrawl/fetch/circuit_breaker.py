"""A circuit breaker around a fetcher: while the platform is unreachable, requests wait and lose no attempt.

After a call without an answer, one plain connection decides. If the host accepts it, the request failed. If not, the
breaker opens: requests are deferred, the loops pop nothing that needs a call, and one request at a time tries whether
the host is back. Until the first answer, any failure counts as unreachable: a mistyped name, a closed port and an
untrusted certificate are found when a crawl starts.

While no principal may ask, for lack of quota or of an accepted token, nothing is popped anyway. Requests in flight are
then deferred for a moment only, so that a crawl resumed with better credentials need not wait for the quota's reset.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import structlog
from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.store import Stored
from ghcrawl.values.errors import FetchError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Retrieved, Throttled
from ghcrawl.values.requests import Request

log = structlog.stdlib.get_logger(__name__)

CONNECT_S: Final = 5.0
MAX_HOSTS: Final = 10_000
"""Hosts of a federated platform that are remembered; forgetting one costs one more try."""
BLOCKED_S: Final = 5.0
PROBING_S: Final = 1.0
"""How long requests are put off while one of them finds out."""
_PORTS: Final = {"http": 80, "https": 443}

Connect = Callable[[str, int], Awaitable[str]]
"""Why host and port do not take a connection; empty if they do."""


class Outage(Struct, frozen=True, kw_only=True):
    """Nothing answers. failures: how often that was found; until: when it is tried again; heard: it has answered once.

    reason: in the words of the system or of the first failure.
    """

    base_url: str
    reason: str
    since: datetime
    until: datetime
    failures: int = 1
    heard: bool = False


class CircuitBreaker:
    """Wraps the fetcher of the API at `base_url`. base_s, cap_s: the n-th wait is base · 2ⁿ, at most cap."""

    def __init__(
        self,
        fetcher: Fetcher,
        base_url: str,
        clock: Clock,
        *,
        base_s: float = 2.0,
        cap_s: float = 30.0,
        connect: Connect | None = None,
    ) -> None:
        self.outage: Outage | None = None
        self._fetcher = fetcher
        self._base_url = base_url
        self._clock = clock
        self._base_s = base_s
        self._cap_s = cap_s
        self._connect = connect or refusal
        self._heard = False
        self._probing = False

    @property
    def outages(self) -> Sequence[Outage]:
        """That of the one host, if it is out of reach."""
        return [self.outage] if self.outage else []

    def blocked_until(self) -> datetime | None:
        """As the port says; also while the host is out of reach."""
        closed, blocked = self._closed_until(), self._fetcher.blocked_until()
        return max(closed, blocked) if closed and blocked else closed or blocked

    def credential_digest(self) -> str:
        """As the port says."""
        return self._fetcher.credential_digest()

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says; put off while the host is out of reach. Raises FetchError where only this request fails."""
        until = self._closed_until()
        if until is not None:
            return Throttled(until=until, reason="unreachable")
        began = self._clock.now()
        probe, self._probing = self.outage is not None, self.outage is not None
        try:
            retrieved = await self._fetcher.fetch(request, stored)
        except FetchError as error:
            return Throttled(until=await self._silent(error, began), reason="unreachable")
        finally:
            if probe:
                self._probing = False
        if isinstance(retrieved, Throttled):
            return self._briefly(retrieved)
        self._answered()
        return retrieved

    def _briefly(self, throttled: Throttled) -> Throttled:
        if self._fetcher.blocked_until() is None:
            return throttled
        soon = self._clock.now() + timedelta(seconds=BLOCKED_S)
        return replace(throttled, until=min(throttled.until, soon))

    def _closed_until(self) -> datetime | None:
        if self.outage is None:
            return None
        now = self._clock.now()
        if now < self.outage.until:
            return self.outage.until
        return now + timedelta(seconds=PROBING_S) if self._probing else None

    def _answered(self) -> None:
        self._heard = True
        if self.outage is not None:
            log.info("platform_reached", url=self._base_url)
            self.outage = None

    async def _silent(self, error: FetchError, began: datetime) -> datetime:
        """Until when to put requests off. Raises `error` where the host is there, so that it is the request's own."""
        if error.status is not None:
            self._answered()
            raise error
        if self.outage is None or began >= self.outage.until:
            reason = await self._connect(*_address(self._base_url))
            if not reason and self._heard:
                self._answered()
                raise error
            self._note(reason or str(error), began)
        assert self.outage is not None, "noted just now, and forgotten only where an answer came"
        return self.outage.until

    def _note(self, reason: str, began: datetime) -> None:
        before, now = self.outage, self._clock.now()
        if before is None:
            until = now + timedelta(seconds=min(self._base_s, self._cap_s))
            self.outage = Outage(base_url=self._base_url, reason=reason, since=began, until=until, heard=self._heard)
            log.warning("platform_unreachable", url=self._base_url, reason=reason)
        elif began >= before.until:
            wait_s = min(self._base_s * 2.0 ** min(before.failures, 16), self._cap_s)
            until = now + timedelta(seconds=wait_s)
            self.outage = replace(before, reason=reason, until=until, failures=before.failures + 1)


class HostCircuitBreakers:
    """Wraps the fetcher of a platform whose URLs name their hosts: each host has a circuit breaker of its own.

    A host that is out of reach puts off the requests for it, and stops no other. base_s, cap_s: as for one.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        clock: Clock,
        *,
        base_s: float = 2.0,
        cap_s: float = 30.0,
        connect: Connect | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._new = partial(CircuitBreaker, fetcher, clock=clock, base_s=base_s, cap_s=cap_s, connect=connect)
        self._breakers: OrderedDict[str, CircuitBreaker] = OrderedDict()

    @property
    def outage(self) -> Outage | None:
        """The one that has lasted longest, while no host that was asked can be reached; else None."""
        found = self.outages
        return found[0] if found and len(found) == len(self._breakers) else None

    @property
    def outages(self) -> Sequence[Outage]:
        """Those of the hosts that are out of reach, the longest first."""
        found = [outage for breaker in self._breakers.values() if (outage := breaker.outage) is not None]
        return sorted(found, key=lambda outage: outage.since)

    def blocked_until(self) -> datetime | None:
        """As the port says; also while no host that was asked can be reached."""
        waits = [breaker.blocked_until() for breaker in self._breakers.values()]
        known = [until for until in waits if until is not None]
        return min(known) if known and len(known) == len(waits) else self._fetcher.blocked_until()

    def credential_digest(self) -> str:
        """As the port says."""
        return self._fetcher.credential_digest()

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says; put off while that host is out of reach. Raises FetchError where only this one fails."""
        origin = "/".join(request.url.split("/", 3)[:3])
        breaker = self._breakers.get(origin)
        if breaker is None:
            breaker = self._breakers[origin] = self._new(origin)
            if len(self._breakers) > MAX_HOSTS:
                self._breakers.popitem(last=False)
        self._breakers.move_to_end(origin)
        return await breaker.fetch(request, stored)


async def refusal(host: str, port: int) -> str:
    """Why `host` takes no connection at `port`; empty if it does."""
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return "no answer within 5 s"
    except OSError as error:
        return _said(error)
    writer.transport.abort()
    return ""


def _said(error: OSError) -> str:
    """The system's words. An attempt at several addresses fails with all of their errors in one."""
    if error.strerror and not error.strerror.startswith("Connect call failed"):
        return error.strerror
    text = str(error)
    return "connection refused" if isinstance(error, ConnectionRefusedError) else text or type(error).__name__


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)
