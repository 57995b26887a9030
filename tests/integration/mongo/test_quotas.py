"""The contract of quotas on MongoDB."""

from __future__ import annotations

import pytest

from stores.mongo.driver import Mongo
from stores.mongo.quotas import MongoQuotas
from stores.mongo.settings import MongoSettings
from tests.contracts.quotas_contract import QuotasContract
from tests.support.clock import FakeClock
from tests.support.declared import Replica, hour


@pytest.fixture
async def quotas(mongo: Mongo) -> MongoQuotas:
    return await MongoQuotas.open(mongo)


class TestMongoQuotas(QuotasContract):
    pass


async def test_three_replicas_make_a_hundred_calls_an_hour_together_and_behind_two_addresses_two_hundred(
    mongo: Mongo, settings: MongoSettings
):
    clock = FakeClock()
    others = [await Mongo.open(settings) for _ in range(2)]
    try:
        quotas = [await MongoQuotas.open(each) for each in (mongo, *others)]
        calls = await hour(clock, [Replica(each, clock, tenth=1) for each in quotas], looks=2)
        assert (sum(calls.values()), max(calls.values())) == (100, 15)
        addresses = [
            Replica(each, clock, address=name, tenth=1) for each, name in zip(quotas, ("a", "b", "b"), strict=True)
        ]
        calls = await hour(clock, addresses, looks=2)
        assert (sum(calls.values()), max(calls.values())) == (200, 15)
    finally:
        for each in others:
            await each.close()
