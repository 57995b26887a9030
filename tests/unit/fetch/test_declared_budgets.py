"""Declared budgets: the arithmetic of credentials behind addresses, with a clock that is moved."""

from __future__ import annotations

import pytest

from ghcrawl.fetch.budgets import DeclaredBudget, DeclaredBudgets, Spent
from ghcrawl.ports.quotas import Egress, Quotas
from stores.quotas import MemoryQuotas
from tests.support.builders import at
from tests.support.clock import FakeClock
from tests.support.declared import HOUR, Replica, hour


@pytest.mark.slow
async def test_fifteen_credentials_behind_one_address_make_a_thousand_calls_an_hour_and_never_one_more():
    clock, quotas = FakeClock(), MemoryQuotas()
    replica = Replica(quotas, clock)
    calls = await hour(clock, [replica])
    assert sum(calls.values()) == 1000
    assert max(calls.values()) == 150
    assert len(calls) == 7, "as many as that takes: 6 × 150 and 100 more"
    assert sum((await hour(clock, [replica])).values()) == 1000


@pytest.mark.slow
async def test_three_replicas_behind_one_address_make_a_thousand_together_and_behind_two_addresses_two_thousand():
    clock, quotas = FakeClock(), MemoryQuotas()
    calls = await hour(clock, [Replica(quotas, clock) for _ in range(3)])
    assert (sum(calls.values()), max(calls.values())) == (1000, 150)
    apart = MemoryQuotas()
    calls = await hour(clock, [Replica(apart, clock, address=address) for address in ("east", "west", "west")])
    assert (sum(calls.values()), max(calls.values())) == (2000, 150)


async def test_a_call_counts_until_its_period_is_over_from_its_end():
    clock = FakeClock()
    budgets = declared(MemoryQuotas(), clock, calls=1)
    call = await budgets.take("ada")
    assert not isinstance(call, float)
    clock.advance(20)
    await budgets.finish(call)
    assert await budgets.take("ada") == at(20 + HOUR).timestamp()


async def test_a_process_that_dies_in_a_call_leaves_it_counted_for_the_longest_that_it_could_take():
    clock, quotas = FakeClock(), MemoryQuotas()
    await declared(quotas, clock, calls=1).take("ada")
    assert await declared(quotas, clock, calls=1).take("ada") == at(HOUR).timestamp(), "it might end just now"
    clock.advance(HOUR)
    assert await declared(quotas, clock, calls=1).take("ada") == at(60 + HOUR).timestamp()


async def test_a_call_that_one_budget_forbids_costs_no_other():
    clock, quotas = FakeClock(), MemoryQuotas()
    address = DeclaredBudget(calls=1, period_s=HOUR, per="address")
    wanted = (DeclaredBudget(calls=9, period_s=HOUR), address)
    both = DeclaredBudgets("web", wanted, Egress(quotas=quotas), clock, longest_s=60)
    assert not isinstance(await both.take("ada"), float)
    for _ in range(20):
        assert isinstance(await both.take("ada"), float)
    alone = declared(quotas, clock, calls=9)
    left = [await alone.take("ada") for _ in range(9)]
    assert sum(not isinstance(each, float) for each in left) == 8


async def test_nobody_has_no_budget_of_a_credential_and_hosts_are_apart():
    budgets = declared(MemoryQuotas(), FakeClock(), calls=1)
    assert await budgets.take("") == ()
    for host in ("a.example", "b.example"):
        call = await budgets.take("ada", host=host)
        assert not isinstance(call, float)
        assert [type(each) for each in call] == [Spent]


async def test_of_two_budgets_for_one_period_the_smaller_holds():
    budgets = [DeclaredBudget(calls=calls, period_s=HOUR) for calls in (3, 2, 4)]
    both = DeclaredBudgets("web", budgets, Egress(quotas=MemoryQuotas()), FakeClock(), longest_s=60)
    taken = [await both.take("ada") for _ in range(5)]
    assert sum(not isinstance(each, float) for each in taken) == 2


def declared(quotas: Quotas, clock: FakeClock, *, calls: int) -> DeclaredBudgets:
    budgets = (DeclaredBudget(calls=calls, period_s=HOUR),)
    return DeclaredBudgets("web", budgets, Egress(quotas=quotas), clock, longest_s=60)
