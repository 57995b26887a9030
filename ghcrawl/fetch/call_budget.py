"""A stated number of calls, and not one more: what a person says who has little quota left."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.ports.store import Stored
from ghcrawl.values.outcome import Retrieved, Throttled
from ghcrawl.values.requests import Request

SPENT: Final = "spent"
"""Why a request is put off that would be one too many."""
WAIT_S: Final = 1.0
"""How long it is; by then the loops pop nothing that needs a call."""


class Spending:
    """Observes the calls that are made, and admits requests while there are any left.

    A request that is redirected, or that another credential is asked for once more, takes as many calls as that needs:
    only then, and only with the last of them, may the total exceed the limit.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._made = 0
        self._under_way = 0

    @property
    def spent(self) -> bool:
        """Nothing may be asked any more."""
        return self._made >= self.limit

    def admit(self) -> bool:
        """Whether one more request may ask. It is under way then, until `leave`."""
        if self._made + self._under_way >= self.limit:
            return False
        self._under_way += 1
        return True

    def leave(self) -> None:
        """A request that was admitted is done."""
        self._under_way -= 1

    def called(self, _call: Call) -> None:
        """Count it."""
        self._made += 1

    def settled(self, settled: Settled) -> None:
        """As the port says; costs nothing."""


class Budgeted:
    """`fetcher`, as far as `spending` admits."""

    def __init__(self, fetcher: Fetcher, spending: Spending, clock: Clock) -> None:
        self._fetcher = fetcher
        self._spending = spending
        self._clock = clock

    def blocked_until(self) -> datetime | None:
        """As the port says; once all is spent, always a little later."""
        if self._spending.spent:
            return self._later()
        return self._fetcher.blocked_until()

    def credential_digest(self) -> str:
        """As the port says."""
        return self._fetcher.credential_digest()

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says; put off where it would be one call too many."""
        if not self._spending.admit():
            return Throttled(until=self._later(), reason=SPENT)
        try:
            return await self._fetcher.fetch(request, stored)
        finally:
            self._spending.leave()

    def _later(self) -> datetime:
        return self._clock.now() + timedelta(seconds=WAIT_S)
