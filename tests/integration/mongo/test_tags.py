"""The contracts of tags and starts, on MongoDB."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient

from stores.mongo import Mongo
from stores.mongo_settings import MongoSettings
from stores.mongo_tags import RECEIPTS, TAGS, MongoStarts, MongoTags
from stores.receipts import TagReceipts
from tests.contracts.receipts_contract import ReceiptsContract
from tests.contracts.tags_contract import StartsContract, TagsContract, a_tag
from tests.integration.mongo.commands import COMMANDS


@pytest.fixture
async def tags(mongo: Mongo) -> MongoTags:
    return await MongoTags.open(mongo)


@pytest.fixture
def starts(mongo: Mongo) -> MongoStarts:
    return MongoStarts(mongo)


class TestMongoTags(TagsContract):
    pass


class TestMongoStarts(StartsContract):
    pass


class TestMongoReceipts(ReceiptsContract):
    @pytest.fixture
    async def receipts(self, mongo: Mongo) -> TagReceipts:
        return TagReceipts(await MongoTags.open(mongo, RECEIPTS))


async def test_receipts_that_are_too_old_are_found_by_an_index_and_tags_pay_for_none(
    mongo: Mongo, settings: MongoSettings
):
    await MongoTags.open(mongo)
    await MongoTags.open(mongo, RECEIPTS)
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(settings.url)
    try:
        database = client[settings.database]
        receipts, tags = [await database[name].index_information() for name in (RECEIPTS, TAGS)]
    finally:
        client.close()
    assert receipts["at"]["key"] == [("at", 1)]
    assert set(receipts) - set(tags) == {"at"}


async def test_a_key_that_no_utf8_has_is_a_key(tags: MongoTags):
    tag = a_tag("lone \ud800")
    assert await tags.insert([tag]) == frozenset()
    assert await tags.insert([tag]) == {tag.key}
    assert await tags.find([tag.key]) == {tag.key: tag}
    await tags.confirm([tag.key], tag.token)
    assert await tags.delete(tag.key, tag.token)


async def test_every_step_of_a_push_and_of_a_pop_is_one_round_trip(tags: MongoTags):
    many = [a_tag(f"{n:032x}") for n in range(300)]
    keys = [tag.key for tag in many]
    with COMMANDS.heard() as heard:
        await tags.insert(many)
        await tags.find(keys)
        await tags.replace([(tag, replace(tag, token="yours")) for tag in many])
        await tags.confirm(keys, "yours")
        await tags.delete(keys[0], "yours")
    assert heard == ["insert", "find", "update", "update", "delete"]
