"""One connection a host at a time, by all replicas together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from ghcrawl.fetch.web.hosts import Host, Origin
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.quotas import Quotas, Slot
from ghcrawl.values.errors import StoreError

LEASE_S: Final = 15.0
"""How long a host is not called after the process that called it was killed. A living process renews its lease."""
LOOK_S: Final = 1.0
"""How soon to look again for a host that another replica asks."""


class Taken(Exception):  # not an error: another's turn
    """Another replica asks the host; `until`: when to come again."""

    def __init__(self, until: datetime) -> None:
        super().__init__()
        self.until = until


class Leases:
    """Who asks which host. timeout_s: of one call."""

    def __init__(self, quotas: Quotas, clock: Clock, timeout_s: float) -> None:
        self._quotas = quotas
        self._clock = clock
        self._lease_s = min(LEASE_S, 2 * timeout_s)

    @asynccontextmanager
    async def hold(self, place: Origin, host: Host) -> AsyncIterator[None]:
        """No other process calls the host until the block is left and its pause is over. Raises Taken, StoreError."""
        host.busy = True
        try:
            lease, over = await self._take(place), asyncio.Event()
            renewing = asyncio.create_task(self._renew(lease, over))
            try:
                yield
            finally:
                over.set()
                lease = await renewing
                now = self._clock.now()
                await self._leave(lease, max(now, host.free_at or now).timestamp())
        finally:
            host.busy = False

    async def _take(self, place: Origin) -> Slot:
        scheme, name, port = place
        now = self._clock.now()
        quota, until = f"web/{scheme}://{name}:{port}", now + timedelta(seconds=self._lease_s)
        slot = await self._quotas.take(quota, 1, now=now.timestamp(), until=until.timestamp())
        if isinstance(slot, Slot):
            return slot
        free_at = min(slot, (now + timedelta(seconds=LOOK_S)).timestamp())
        raise Taken(datetime.fromtimestamp(free_at, UTC))

    async def _renew(self, lease: Slot, over: asyncio.Event) -> Slot:
        """The lease as it is when it is `over`; one that cannot be renewed expires."""
        while not over.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._lease_s / 3):
                    await over.wait()
                    return lease
            until = self._clock.now() + timedelta(seconds=self._lease_s)
            with suppress(StoreError):
                lease = await self._quotas.extend(lease, until.timestamp()) or lease
        return lease

    async def _leave(self, lease: Slot, free_at: float) -> None:
        if free_at > lease.until:
            await self._quotas.extend(lease, free_at)
        else:
            await self._quotas.release(lease, free_at)
