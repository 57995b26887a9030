"""The contracts of tags and starts, on MongoDB."""

from __future__ import annotations

import pytest

from stores.mongo import Mongo
from stores.mongo_tags import RECEIPTS, MongoStarts, MongoTags
from stores.receipts import TagReceipts
from tests.contracts.receipts_contract import ReceiptsContract
from tests.contracts.tags_contract import StartsContract, TagsContract


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
