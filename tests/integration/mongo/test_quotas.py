"""The contract of quotas on MongoDB."""

from __future__ import annotations

import pytest

from stores.mongo.driver import Mongo
from stores.mongo.quotas import QUOTAS, MongoQuotas
from stores.mongo.settings import MongoSettings
from tests.contracts.quotas_contract import QuotasContract
from tests.support.clock import FakeClock
from tests.support.declared import Replica, hour


@pytest.fixture
async def quotas(mongo: Mongo) -> MongoQuotas:
    return await MongoQuotas.open(mongo)


class TestMongoQuotas(QuotasContract):
    async def kept(self, quotas: MongoQuotas) -> int:
        return await quotas._mongo.count(QUOTAS, {})


@pytest.mark.parametrize("tenth", [1, pytest.param(10, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
async def test_three_replicas_make_the_calls_of_one_address_together_and_of_two_addresses_twice_as_many(
    mongo: Mongo, settings: MongoSettings, tenth: int
):
    """Fifteen credentials of 150 calls an hour: behind an address of 1,000 exactly 1,000, behind two 2,000."""
    clock = FakeClock()
    others = [await Mongo.open(settings) for _ in range(2)]
    try:
        quotas = [await MongoQuotas.open(each) for each in (mongo, *others)]
        calls = await hour(clock, [Replica(each, clock, tenth=tenth) for each in quotas], looks=2)
        assert (sum(calls.values()), max(calls.values())) == (100 * tenth, 15 * tenth)
        addresses = [
            Replica(each, clock, address=name, tenth=tenth) for each, name in zip(quotas, ("a", "b", "b"), strict=True)
        ]
        calls = await hour(clock, addresses, looks=2)
        assert (sum(calls.values()), max(calls.values())) == (200 * tenth, 15 * tenth)
    finally:
        for each in others:
            await each.close()
