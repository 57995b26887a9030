"""A stated number of calls is never exceeded by requests that take one call each."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from ghcrawl.fetch.call_budget import WAIT_S, Budgeted, Spending
from ghcrawl.ports.observer import Call
from ghcrawl.ports.store import Stored
from ghcrawl.values.outcome import Missing, Retrieved, Throttled
from ghcrawl.values.requests import Request
from tests.support.builders import NOW, a_request
from tests.support.clock import FakeClock


class OneCallEach:
    def __init__(self, spending: Spending) -> None:
        self.spending = spending
        self.most = 0
        self._now = 0

    def blocked_until(self) -> datetime | None:
        return None

    def credential_digest(self) -> str:
        return "everybody"

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        self.spending.called(Call(platform="p", principal="", resource="", status=404, seconds=0, charged=True))
        return Missing(status=404, detail="", observed_at=NOW)


async def test_so_many_calls_are_made_and_not_one_more():
    spending = Spending(5)
    fetcher = Budgeted(OneCallEach(spending), spending, FakeClock())

    answers = await asyncio.gather(*(fetcher.fetch(a_request(number), None) for number in range(9)))

    assert sum(isinstance(answer, Missing) for answer in answers) == 5
    put_off = {answer for answer in answers if isinstance(answer, Throttled)}
    assert put_off == {Throttled(until=NOW + timedelta(seconds=WAIT_S), reason="spent")}
    assert spending.spent


async def test_once_all_is_spent_nothing_that_needs_a_call_is_popped():
    spending = Spending(1)
    fetcher = Budgeted(OneCallEach(spending), spending, FakeClock())

    assert fetcher.blocked_until() is None
    await fetcher.fetch(a_request(), None)

    assert fetcher.blocked_until() == NOW + timedelta(seconds=WAIT_S)
    assert fetcher.credential_digest() == "everybody"
