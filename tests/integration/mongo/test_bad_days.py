"""What goes wrong with a database: each in one clear sentence, and nothing is lost when it is over."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient

from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.errors import ConfigError, StoreError, Unstorable
from ghcrawl.values.frozen import replace
from queues import codec
from stores.mongo.deadletters import MongoDeadletters
from stores.mongo.dedup import MongoDedupMarkers
from stores.mongo.documents import MongoStore
from stores.mongo.driver import OLDEST, SCHEMA, Mongo
from stores.mongo.settings import MongoSettings
from tests.contracts.store_contract import titled
from tests.integration.mongo import refusing
from tests.integration.mongo.refusing import Refusing
from tests.integration.mongo.rig import database
from tests.support.builders import a_deadletter, a_document, a_type, by_type
from tests.support.services.mongo import MongoServer

PASSWORD = "hunter2secret"


@pytest.fixture
async def between(settings: MongoSettings) -> AsyncIterator[Refusing]:
    async with refusing.refusing(settings.url) as opened:
        yield opened


@pytest.fixture
def through(settings: MongoSettings, between: Refusing) -> MongoSettings:
    """The database by way of the server that refuses."""
    return replace(settings, url=between.url)


async def opened(settings: MongoSettings) -> tuple[Mongo, MongoStore]:
    mongo = await Mongo.open(settings)
    return mongo, await MongoStore.open(mongo)


async def everything_opened(settings: MongoSettings) -> None:
    mongo, _ = await opened(settings)
    try:
        await MongoDeadletters.open(mongo, codec)
    finally:
        await mongo.close()


def said(caught: pytest.ExceptionInfo[Exception]) -> str:
    text = str(caught.value)
    assert "\n" not in text
    assert PASSWORD not in "".join(map(str, [text, caught.value.__cause__, caught.value.__context__]))
    return text


class TestOpening:
    """What must be mended before anything can begin."""

    async def test_nobody_answers(self, settings: MongoSettings):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        url = f"mongodb://ada:{PASSWORD}@127.0.0.1:{port}"
        with pytest.raises(StoreError) as caught:
            await Mongo.open(replace(settings, url=url, connect_timeout_s=0.3))
        assert said(caught) == f"no MongoDB that takes writes answers at 127.0.0.1:{port}/{settings.database}"

    async def test_the_password_is_wrong(self, through: MongoSettings, between: Refusing):
        between.refuse(refusing.WRONG_PASSWORD, "saslStart")
        url = through.url.replace("://", f"://ada:{PASSWORD}@")
        with pytest.raises(ConfigError) as caught:
            await Mongo.open(replace(through, url=url))
        assert said(caught) == (
            f"MongoDB at {through.place} does not know this user with this password: Authentication failed."
        )

    @pytest.mark.parametrize(
        "url",
        [
            f"mongodb://ada:{PASSWORD}/@127.0.0.1",
            f"mongodb://{PASSWORD}@/@127.0.0.1",
            f"mongodb://ada:{PASSWORD}%@127.0.0.1",
            f"mongodb://ada:{PASSWORD}@127.0.0.1:port",
            "http://127.0.0.1",
            "",
        ],
    )
    async def test_the_url_is_none(self, settings: MongoSettings, url: str):
        with pytest.raises(ConfigError) as caught:
            await Mongo.open(replace(settings, url=url))
        assert said(caught).startswith("the MongoDB URL cannot be used; it should look like mongodb://user:password@")

    @pytest.mark.parametrize("commands", [("find",), ("listCollections",), ("insert",), ("createIndexes",)])
    async def test_the_user_may_not(self, through: MongoSettings, between: Refusing, commands: tuple[str, ...]):
        between.refuse(refusing.NO_RIGHT, *commands)
        with pytest.raises(ConfigError, match=r"this user may not do that in .*; grant it the role readWrite: not au"):
            await everything_opened(through)

    async def test_an_index_has_other_options(self, settings: MongoSettings, through: MongoSettings, between: Refusing):
        mongo, store = await opened(settings)
        await store.save(a_document())
        await mongo.close()
        between.refuse(refusing.OTHER_OPTIONS, "createIndexes")
        mongo = await Mongo.open(through)
        with pytest.raises(ConfigError, match="has an index with the right name and other options; drop it: Index wi"):
            await MongoStore.open(mongo)
        await mongo.close()

    @pytest.mark.parametrize(
        ("version", "advice"),
        [
            (SCHEMA + 1, "a newer ghcrawl wrote it; use that one"),
            (OLDEST - 1, "export it with the older one"),
        ],
    )
    async def test_another_ghcrawl_made_the_database(self, settings: MongoSettings, version: int, advice: str):
        mongo, _ = await opened(settings)
        await mongo.close()
        await change(settings, "ghcrawl.schema", {"version": version})
        with pytest.raises(ConfigError) as caught:
            await Mongo.open(settings)
        assert said(caught) == (
            f"the database {settings.place} has schema {version} and this ghcrawl reads and writes "
            f"{OLDEST} to {SCHEMA}: {advice}"
        )

    async def test_an_older_ghcrawl_refuses_a_database_from_its_first_documents_of_another_platform_on(
        self, settings: MongoSettings
    ):
        mongo, store = await opened(settings)
        await store.save(a_document())
        assert await mongo.find_one("ghcrawl.schema", {}) == {"_id": "schema", "version": OLDEST}
        await store.save(a_document(platform="library", type="book", urn="urn:library:book:1"))
        assert await mongo.find_one("ghcrawl.schema", {}) == {"_id": "schema", "version": SCHEMA}
        await mongo.close()
        mongo, store = await opened(settings)
        assert await store.get("urn:library:book:1") is not None
        await mongo.close()

    async def test_the_database_is_somebody_elses(self, settings: MongoSettings):
        await change(settings, "invoices", {"number": 1}, upsert=True)
        with pytest.raises(ConfigError, match=r"holds collections that this ghcrawl did not make \(invoices\); name"):
            await Mongo.open(settings)


async def change(settings: MongoSettings, collection: str, fields: Mapping[str, Any], *, upsert: bool = False) -> None:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(settings.url)
    await client[settings.database][collection].update_one({}, {"$set": fields}, upsert=upsert)
    client.close()


class TestMeanwhile:
    """What passes: the request in hand comes again, and then it works."""

    @pytest.mark.parametrize(
        ("error", "sentence"),
        [
            (refusing.NOT_PRIMARY, "takes no writes now: it is not the primary"),
            (refusing.BLOCKED, "is set to take no writes: User writes blocked"),
            (refusing.NO_SPACE, "No space left on device"),
        ],
    )
    async def test_no_writes_are_taken_and_then_they_are(
        self, through: MongoSettings, between: Refusing, error: Mapping[str, Any], sentence: str
    ):
        mongo, store = await opened(through)
        await store.save(titled("before", 1))
        between.refuse(error)
        for document in (titled("after", 2), a_document(2)):
            with pytest.raises(StoreError, match=sentence) as caught:
                await store.save(document)
            assert not isinstance(caught.value, Unstorable)
        letters = MongoDeadletters(mongo, codec)
        with pytest.raises(StoreError, match=sentence):
            await letters.bury(a_deadletter())
        assert (await store.look_up(a_type("issue"), a_document().url)) is not None
        between.refusals.clear()
        assert await store.save(titled("after", 2)) == "saved"
        await letters.bury(a_deadletter())
        assert await store.counts() == by_type(issue=1)
        await mongo.close()

    async def test_a_server_that_does_not_answer_is_given_up(self, settings: MongoSettings):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"mongodb://127.0.0.1:{silent.getsockname()[1]}"
            with pytest.raises(StoreError, match=r"no MongoDB that takes writes answers at 127.0.0.1:\d+/"):
                await Mongo.open(replace(settings, url=url, connect_timeout_s=0.3))

    async def test_a_connection_that_breaks_is_made_again(self, settings: MongoSettings, between: Refusing):
        mongo, store = await opened(replace(settings, url=f"{between.url}/?retryWrites=false"))
        await store.save(titled("before", 1))
        between.hang_up()
        with pytest.raises(StoreError, match=r"the connection to MongoDB at .* broke, or was too slow"):
            await store.save(titled("lost", 2))
        assert await store.save(titled("after", 3)) == "saved"
        await mongo.close()

    async def test_a_list_of_many_types_that_breaks_off_says_what_broke(
        self, through: MongoSettings, between: Refusing
    ):
        mongo, store = await opened(through)
        for type in ("issue", "label", "release", "marker", "user"):
            await store.save(a_document(type=type, urn=f"urn:{type}:1", url=f"https://api.example/{type}"))
        between.refuse(refusing.NO_RIGHT, "find")
        with pytest.raises(StoreError, match="not authorized"):
            _ = [one async for one in store.list(DocumentFilter())]
        between.refusals.clear()
        assert len([one async for one in store.list(DocumentFilter())]) == 5
        await mongo.close()

    async def test_a_server_that_is_killed_comes_back_with_everything_that_was_saved(self, mongo_server: MongoServer):
        async with database(mongo_server.url) as theirs:
            mongo, store = await opened(replace(theirs, timeout_s=6.0))
            markers = await MongoDedupMarkers.open(mongo)
            await asyncio.gather(*(store.save(a_document(number)) for number in range(50)))
            await asyncio.to_thread(mongo_server.kill)
            work = (
                store.save(a_document(1)),
                store.look_up(a_type("issue"), "x"),
                markers.any_queued(),
                store.counts(),
            )
            for error in await asyncio.gather(*work, return_exceptions=True):
                assert isinstance(error, StoreError)
                assert "MongoDB" in str(error)
            await asyncio.to_thread(mongo_server.start)
            assert await store.counts() == by_type(issue=50)
            assert await store.save(titled("after", 9)) == "saved"
            assert not await markers.any_queued()
            await mongo.close()
