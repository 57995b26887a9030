"""The contracts of tags and starts, on MongoDB."""

from __future__ import annotations

from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient

from ghcrawl.values.frozen import replace
from stores.idempotency_keys import MarkerIdempotencyKeys
from stores.mongo.dedup import (
    RECEIPTS,
    TAGS,
    MongoCrashCounter,
    MongoDedupMarkers,
)
from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from tests.contracts.dedup_contract import StartsContract, TagsContract, a_tag
from tests.contracts.idempotency_keys_contract import ReceiptsContract
from tests.integration.mongo.commands import COMMANDS


@pytest.fixture
async def tags(mongo: Mongo) -> MongoDedupMarkers:
    return await MongoDedupMarkers.open(mongo)


@pytest.fixture
def starts(mongo: Mongo) -> MongoCrashCounter:
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
        idempotency_keys, tags = [await database[name].index_information() for name in (RECEIPTS, TAGS)]
    finally:
        client.close()
    assert idempotency_keys["at"]["key"] == [("at", 1)]
    assert set(idempotency_keys) - set(tags) == {"at"}


async def test_a_key_that_no_utf8_has_is_a_key(tags: MongoDedupMarkers):
    tag = a_tag("lone \ud800")
    assert await tags.insert([tag]) == frozenset()
    assert await tags.insert([tag]) == {tag.key}
    assert await tags.find([tag.key]) == {tag.key: tag}
    await tags.confirm([tag.key], tag.token)
    assert await tags.delete(tag.key, tag.token)


async def test_every_step_of_a_push_and_of_a_pop_is_one_round_trip(tags: MongoDedupMarkers):
    many = [a_tag(f"{n:032x}") for n in range(300)]
    keys = [tag.key for tag in many]
    with COMMANDS.heard() as heard:
        await tags.insert(many)
        await tags.find(keys)
        await tags.replace([(tag, replace(tag, token="yours")) for tag in many])
        await tags.confirm(keys, "yours")
        await tags.delete(keys[0], "yours")
    assert heard == ["insert", "find", "update", "update", "delete"]
