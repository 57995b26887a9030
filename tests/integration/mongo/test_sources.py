"""The contract of sources on MongoDB, and the plans of its queries."""

from __future__ import annotations

from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.errors import OperationFailure

from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from stores.mongo.sources import SOURCES, MongoSources
from tests.contracts.sources_contract import SourcesContract, a_source

COMMAND_NOT_FOUND = 59


@pytest.fixture
async def sources(mongo: Mongo) -> MongoSources:
    return await MongoSources.open(mongo)


class TestMongoSources(SourcesContract):
    pass


@pytest.mark.parametrize(
    ("which", "by", "index"),
    [
        ({"platform": "web"}, "due", "due"),
        ({"platform": "web", "read": {"$gte": 0.0, "$lt": 9.0}}, "read", "read"),
    ],
)
async def test_no_question_reads_the_collection(
    sources: MongoSources, settings: MongoSettings, which: dict[str, Any], by: str, index: str
):
    await sources.add([a_source(str(number)) for number in range(20)])
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(settings.url)
    try:
        plan = await client[settings.database][SOURCES].find(which).sort(by, 1).limit(5).explain()
    except OperationFailure as error:
        if error.code != COMMAND_NOT_FOUND:
            raise
        pytest.skip("this server explains nothing")
    finally:
        client.close()
    told = str(plan)
    assert "IXSCAN" in told
    assert index in told
    assert "'SORT'" not in told
