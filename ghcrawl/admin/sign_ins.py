"""Failed sign-ins: counted, and slowed for each address, against guessing of tokens."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import web

from ghcrawl.admin.problems import Problem

DELAY_S: Final = 1.0
"""How long the answer to an unknown token takes."""
AT_ONCE: Final = 10
"""Failed sign-ins of one address that may wait for their answer: at most this many guesses within DELAY_S."""
IPV6_PREFIX: Final = 64
"""One client controls at least all IPv6 addresses that share this prefix."""

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """The networks in CIDR notation; an address is one too. Raises ValueError."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def client_address(request: web.Request, proxies: Sequence[Network]) -> str:
    """Where a request comes from. X-Forwarded-For is believed only as far as `proxies` wrote it."""
    address = request.remote or ""
    hops = [hop.strip() for line in request.headers.getall("X-Forwarded-For", []) for hop in line.split(",")]
    while hops and _is_in(address, proxies):
        address = hops.pop()
    return address[:64]


def _is_in(address: str, found: Sequence[Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in found)


def _group(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))


@dataclass(kw_only=True)
class SignIns:
    """failed: called for each failed sign-in. proxies: addresses whose X-Forwarded-For is trusted."""

    failed: Callable[[], None] = lambda: None
    proxies: Sequence[Network] = ()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _waiting: Counter[str] = field(default_factory=Counter)

    def demand_calm(self, request: web.Request) -> str:
        """The address of `request`. Raises Problem (429) while too many sign-ins from there have just failed."""
        address = client_address(request, self.proxies)
        if self._waiting[_group(address)] >= AT_ONCE:
            self.failed()
            raise Problem(429, "too many failed sign-ins from this address; retry later", headers={"Retry-After": "1"})
        return address

    async def fail(self, address: str) -> None:
        """A sign-in from `address` failed. Returns when to answer."""
        self.failed()
        group = _group(address)
        self._waiting[group] += 1
        try:
            await self.sleep(DELAY_S)
        finally:
            self._waiting[group] -= 1
            if not self._waiting[group]:
                del self._waiting[group]
