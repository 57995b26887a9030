"""The contracts of markers and crashes, on MongoDB."""

from __future__ import annotations

from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient

from ghcrawl.values.frozen import replace
from stores.idempotency_keys import MarkerIdempotencyKeys
from stores.mongo.dedup import (
    MARKERS,
    RECEIPTS,
    MongoCrashCounter,
    MongoDedupMarkers,
)
from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from tests.contracts.dedup_contract import StartsContract, TagsContract, a_tag
from tests.contracts.idempotency_keys_contract import ReceiptsContract
from tests.integration.mongo.commands import COMMANDS


@pytest.fixture
async def markers(mongo: Mongo) -> MongoDedupMarkers:
    return await MongoDedupMarkers.open(mongo)


@pytest.fixture
def crashes(mongo: Mongo) -> MongoCrashCounter:
    return MongoCrashCounter(mongo)


class TestMongoTags(TagsContract):
    pass


class TestMongoStarts(StartsContract):
    pass


class TestMongoReceipts(ReceiptsContract):
    @pytest.fixture
    async def idempotency_keys(self, mongo: Mongo) -> MarkerIdempotencyKeys:
        return MarkerIdempotencyKeys(await MongoDedupMarkers.open(mongo, RECEIPTS))


async def test_idempotency_keys_that_are_too_old_are_found_by_an_index_and_tags_pay_for_none(
    mongo: Mongo, settings: MongoSettings
):
    await MongoDedupMarkers.open(mongo)
    await MongoDedupMarkers.open(mongo, RECEIPTS)
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(settings.url)
    try:
        database = client[settings.database]
        idempotency_keys, markers = [await database[name].index_information() for name in (RECEIPTS, MARKERS)]
    finally:
        client.close()
    assert idempotency_keys["at"]["key"] == [("at", 1)]
    assert set(idempotency_keys) - set(markers) == {"at"}


async def test_a_key_that_no_utf8_has_is_a_key(markers: MongoDedupMarkers):
    marker = a_tag("lone \ud800")
    assert await markers.insert([marker]) == frozenset()
    assert await markers.insert([marker]) == {marker.key}
    assert await markers.find([marker.key]) == {marker.key: marker}
    await markers.confirm([marker.key], marker.token)
    assert await markers.delete(marker.key, marker.token)


async def test_every_step_of_a_push_and_of_a_pop_is_one_round_trip(markers: MongoDedupMarkers):
    many = [a_tag(f"{n:032x}") for n in range(300)]
    keys = [marker.key for marker in many]
    with COMMANDS.heard() as heard:
        await markers.insert(many)
        await markers.find(keys)
        await markers.replace([(marker, replace(marker, token="yours")) for marker in many])
        await markers.confirm(keys, "yours")
        await markers.delete(keys[0], "yours")
    assert heard == ["insert", "find", "update", "update", "delete"]
