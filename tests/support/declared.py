"""Fifteen credentials of 150 calls an hour behind addresses of 1,000, and replicas that call as often as they may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from ghcrawl.fetch.budgets import DeclaredBudget, DeclaredBudgets
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.quotas import Egress, Quotas
from tests.support.clock import FakeClock

HOUR = 3600.0
CREDENTIALS = tuple(f"user{number:02}" for number in range(15))


def declared(tenth: int = 10) -> tuple[DeclaredBudget, ...]:
    """The budgets; with `tenth` 1 a tenth of each, for stores that are slow in a test."""
    address = DeclaredBudget(calls=100 * tenth, period_s=HOUR, per="address")
    return DeclaredBudget(calls=15 * tenth, period_s=HOUR), address


class Replica:
    """One process: it asks with the first credential that may, and heeds what it was told of the others."""

    def __init__(self, quotas: Quotas, clock: Clock, *, address: str = "", tenth: int = 10) -> None:
        egress = Egress(quotas=quotas, address=address)
        self._budgets = DeclaredBudgets("microblogs", declared(tenth), egress, clock, longest_s=60.0)
        self._clock = clock
        self._waits = dict.fromkeys(CREDENTIALS, 0.0)

    async def call(self) -> str:
        """Who called; empty: nobody may."""
        now = self._clock.now().timestamp()
        for credential in (each for each, until in self._waits.items() if until <= now):
            call = await self._budgets.take(credential)
            if not isinstance(call, float):
                await self._budgets.finish(call)
                return credential
            self._waits[credential] = call
        return ""


async def hour(clock: FakeClock, replicas: Sequence[Replica], *, looks: int = 12) -> Counter[str]:
    """Calls by credential of an hour in which every replica calls as often as it may, and looks again and again.

    An hour later, all of them may be made anew.
    """
    made = Counter[str]()
    for _ in range(looks):
        waiting = list(replicas)
        while waiting:
            callers = [await replica.call() for replica in waiting]
            made.update(filter(None, callers))
            waiting = [replica for replica, who in zip_longest(waiting, callers) if who]
        clock.advance(HOUR / looks)
    return made
