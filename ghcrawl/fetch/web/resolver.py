"""The resolver of sessions that may reach public addresses only."""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from ghcrawl.fetch.web.addresses import PrivateAddressError, is_public


class PublicResolver(AbstractResolver):
    """Resolves names to public addresses only. The connection goes to what was checked, so DNS cannot change it."""

    def __init__(self) -> None:
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises PrivateAddressError where any address is not public: one name is one site."""
        found = await self._inner.resolve(host, port, family)
        if any(not is_public(each["host"]) for each in found):
            raise PrivateAddressError(f"{host} has an address that is not public")
        return found

    async def close(self) -> None:
        """Nothing is held."""
        await self._inner.close()
