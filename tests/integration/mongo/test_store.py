"""What documents in MongoDB promise beyond the contract: few round trips, no lost race, and fields for analysts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase

from ghcrawl.ports.store import DocumentFilter, Touch
from ghcrawl.values.errors import Unstorable
from ghcrawl.values.frozen import replace
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo
from stores.mongo.names import CLAIMANTS
from stores.mongo.settings import MongoSettings
from stores.mongo.writes import MAX_BYTES
from tests.contracts.store_contract import VALIDATOR, a_page, titled
from tests.integration.mongo.commands import COMMANDS
from tests.support.builders import API, NOW, a_document, a_type, at, by_type

WEB = f"{API}/repos/acme/web"


@pytest.fixture
async def store(mongo: Mongo) -> MongoStore:
    return await MongoStore.open(mongo)


@pytest.fixture
async def other(settings: MongoSettings, store: MongoStore) -> AsyncIterator[MongoStore]:
    """The store of another process."""
    mongo = await Mongo.open(settings)
    yield await MongoStore.open(mongo)
    await mongo.close()


@pytest.fixture
async def database(settings: MongoSettings) -> AsyncIterator[AsyncIOMotorDatabase[dict[str, Any]]]:
    """The database as an analyst has it."""
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(settings.url)
    yield client[settings.database]
    client.close()


async def title(store: MongoStore, urn: str = a_document().urn) -> str:
    document = await store.get(urn)
    assert document is not None
    return str(document.body["title"])


class TestRoundTrips:
    """What each step of a crawl costs, once the collection is there."""

    @pytest.fixture(autouse=True)
    async def _ready(self, store: MongoStore) -> None:
        await store.save(titled("before", 0, urn="urn:repo:12:issue:99", url="before"))

    async def test_a_look_up_is_one(self, store: MongoStore):
        with COMMANDS.heard() as heard:
            assert await store.look_up(a_type("issue"), "before") is not None
            assert await store.look_up(a_type("issue"), "nothing") is None
        assert heard == ["find", "find"]

    async def test_saving_something_new_is_one(self, store: MongoStore):
        with COMMANDS.heard() as heard:
            assert await store.save(titled("new", 1)) == "saved"
            assert await store.save(titled("new", 1, urn="urn:repo:12:issue:2", url="2")) == "saved"
        assert heard == ["insert", "insert"]

    async def test_saving_what_was_looked_up_is_one(self, store: MongoStore):
        for seen_s, outcome in ((2, "saved"), (3, "saved"), (1, "stale"), (3, "same")):
            await store.look_up(a_type("issue"), "before")
            with COMMANDS.heard() as heard:
                document = titled(str(seen_s), seen_s, urn="urn:repo:12:issue:99", url="before")
                assert await store.save(document) == outcome
            assert len(heard) == 1, heard

    async def test_saving_again_what_was_not_looked_up_is_two(self, store: MongoStore):
        await store.save(titled("first", 1))
        await store.save(titled("second", 2))
        with COMMANDS.heard() as heard:
            await store.save(titled("third", 3))
        assert heard == ["find", "update"]

    async def test_a_touch_is_one(self, store: MongoStore):
        with COMMANDS.heard() as heard:
            await store.touch(Touch(urn="urn:repo:12:issue:99", type_name=a_type("issue"), policy="p", visited_at=NOW))
        assert heard == ["update"]

    async def test_reading_by_urn_is_one(self, store: MongoStore):
        with COMMANDS.heard() as heard:
            assert await store.get("urn:repo:12:issue:99") is not None
        assert heard == ["find"]


class TestRaces:
    """Nothing is locked, and the truest stays."""

    @pytest.mark.parametrize("seed", range(5))
    async def test_of_many_writers_in_many_processes_the_newest_stays(
        self, store: MongoStore, other: MongoStore, seed: int
    ):
        rolls = random.Random(seed)
        documents = [titled(str(number), number) for number in range(20)]
        rolls.shuffle(documents)
        outcomes = await asyncio.gather(*(rolls.choice([store, other]).save(document) for document in documents))
        assert await title(store) == "19"
        assert outcomes[documents.index(titled("19", 19))] == "saved"

    async def test_all_of_those_who_come_at_once_leave_their_visits_and_their_names(
        self, store: MongoStore, other: MongoStore
    ):
        documents = [titled("x", n, aliases=(f"alias {n}",), visits={f"p{n}": at(n)}) for n in range(8)]
        touches = [
            Touch(urn=a_document().urn, type_name=a_type("issue"), policy=f"t{n}", visited_at=at(n)) for n in range(8)
        ]
        await store.save(documents[0])
        await asyncio.gather(
            *(each.save(document) for each in (store, other) for document in documents),
            *(other.touch(touch) for touch in touches),
        )
        stored = await store.look_up(a_type("issue"), "alias 5")
        assert stored is not None
        assert set(stored.visits) == {f"{kind}{n}" for kind in "pt" for n in range(8)}

    async def test_a_url_that_many_claim_at_once_leads_to_the_truest(self, store: MongoStore, other: MongoStore):
        sights = [titled(str(n), n, urn=f"urn:repo:{n}", url=WEB) for n in range(6)]
        await asyncio.gather(*((store, other)[n % 2].save(sight) for n, sight in enumerate(sights)))
        stored = await store.look_up(a_type("issue"), WEB)
        assert stored is not None
        assert stored.urn == "urn:repo:5"

    @pytest.mark.parametrize("backwards", [False, True])
    async def test_a_url_that_more_have_had_than_there_are_places_leads_to_the_truest(
        self, store: MongoStore, database: AsyncIOMotorDatabase[dict[str, Any]], backwards: bool
    ):
        sights = [titled(str(n), n, urn=f"urn:repo:{n}", url=WEB) for n in range(10, 10 + 2 * CLAIMANTS)]
        for sight in sights[::-1] if backwards else sights:
            assert await store.save(sight) == "saved"
        stored = await store.look_up(a_type("issue"), WEB)
        assert stored is not None
        assert stored.urn == sights[-1].urn
        assert [document.urn for document in await store.find(WEB)] == [sights[-1].urn]
        assert len([document async for document in store.list(DocumentFilter())]) == 2 * CLAIMANTS
        placeless = {"_metadata.urls.0": {"$regex": "^urn:repo:"}}  # MongoDB lets one document only have an empty list
        assert await database["issue"].count_documents(placeless) == CLAIMANTS

    async def test_what_was_looked_up_and_changed_by_another_process_meanwhile_is_judged_anew(
        self, store: MongoStore, other: MongoStore
    ):
        await store.save(titled("first", 1))
        await store.look_up(a_type("issue"), a_document().url)
        await other.save(titled("theirs", 3))
        assert await store.save(titled("ours", 2)) == "stale"
        await store.look_up(a_type("issue"), a_document().url)
        await other.touch(
            Touch(urn=a_document().urn, type_name=a_type("issue"), policy="p", visited_at=NOW, validator=VALIDATOR)
        )
        assert await store.save(titled("theirs", 4)) == "same"
        stored = await other.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert (stored.validator, set(stored.visits)) == (VALIDATOR, {"p"})

    async def test_documents_whose_urn_does_not_tell_their_type_are_found_and_forgotten(
        self, store: MongoStore, other: MongoStore, database: AsyncIOMotorDatabase[dict[str, Any]]
    ):
        for generation in (1, 2):
            page = replace(a_page(generation), type="crowd")
            await store.save(page, supersede="urn:org:9:members:")
            assert await other.get(page.urn) == page
        assert await other.get(a_page(1).urn) is None
        assert await database["ghcrawl.elsewhere"].distinct("_id") == [a_page(2).urn]

    async def test_what_was_looked_up_and_removed_by_another_process_meanwhile_is_new(
        self, store: MongoStore, other: MongoStore
    ):
        await store.save(a_page(1))
        await store.look_up(a_type("members"), a_page(1).url)
        await other.save(a_page(2), supersede="urn:org:9:members:")
        assert await store.save(a_page(1)) == "saved"

    async def test_processes_that_begin_at_once_on_an_empty_database_all_begin(self, settings: MongoSettings):
        async def begin(number: int) -> None:
            mongo = await Mongo.open(settings)
            await (await MongoStore.open(mongo)).save(a_document(number))
            await mongo.close()

        await asyncio.gather(*map(begin, range(6)))
        mongo = await Mongo.open(settings)
        assert await (await MongoStore.open(mongo)).counts() == by_type(issue=6)
        await mongo.close()


class TestFields:
    """What lies in the database, for whoever reads it without us."""

    async def test_a_document_is_its_body_under_its_urn(
        self, store: MongoStore, database: AsyncIOMotorDatabase[dict[str, Any]]
    ):
        body = {"number": 1, "title": "x", "user": {"login": "ada"}, "labels": [{"name": "bug"}]}
        await store.save(a_document(body=body, changed_at="2026-11-21T11:00:00Z"))
        row = await database["issue"].find_one({"_id": "urn:repo:12:issue:1"})
        assert row is not None
        assert {name: row[name] for name in body} == body
        meta = row["_metadata"]
        assert (meta["type"], meta["urn"], meta["url"]) == ("issue", row["_id"], a_document().url)
        assert meta["links"] == {"self": {"href": row["_id"], "type": "resource"}}
        assert (meta["changedAt"], meta["observedAt"]) == ("2026-11-21T11:00:00Z", "2026-11-21T12:00:00.000000Z")
        assert await database["issue"].count_documents({"labels.name": "bug", "user.login": "ada"}) == 1

    async def test_names_with_dots_and_dollars_lie_there_escaped_and_come_back(
        self, store: MongoStore, database: AsyncIOMotorDatabase[dict[str, Any]]
    ):
        body = {"files": {"a.py": 1, "$HOME": {"$set": 2}}, "count": 10**20}
        await store.save(a_document(body=body))
        row = await database["issue"].find_one()
        assert row is not None
        assert row["files"] == {"␛a\\u002epy": 1, "␛\\u0024HOME": {"␛\\u0024set": 2}}
        document = await store.get(a_document().urn)
        assert document is not None
        assert document.body == body

    async def test_every_collection_has_its_indexes_from_the_first_document_on(
        self, store: MongoStore, database: AsyncIOMotorDatabase[dict[str, Any]]
    ):
        await store.save(a_document())
        indexes = await database["issue"].index_information()
        assert {name for name, index in indexes.items() if index.get("unique")} >= {"urls", "revision"}
        assert set(indexes) == {"_id_", "urls", "revision", "tombstones", "processing"}

    async def test_an_index_that_somebody_dropped_is_there_again_after_a_start(
        self, store: MongoStore, mongo: Mongo, database: AsyncIOMotorDatabase[dict[str, Any]]
    ):
        await store.save(a_document())
        await database["issue"].drop_index("tombstones")
        await MongoStore.open(mongo)
        assert "tombstones" in await database["issue"].index_information()


class TestSize:
    """What is too large says so, and nothing of it is there."""

    async def test_a_document_that_mongodb_does_not_take_can_never_be_stored(self, store: MongoStore):
        with pytest.raises(Unstorable, match=r"urn:repo:12:issue:1 has 16,7\d\d,\d\d\d bytes and MongoDB takes 16,777"):
            await store.save(a_document(body={"text": "x" * MAX_BYTES}))
        assert await store.get(a_document().urn) is None

    async def test_a_document_that_just_fits_is_stored(self, store: MongoStore):
        text = "x" * (MAX_BYTES - 2000)
        await store.save(a_document(body={"text": text}))
        document = await store.get(a_document().urn)
        assert document is not None
        assert document.body == {"text": text}

    async def test_the_smaller_one_stays_when_a_larger_one_cannot_be_stored(self, store: MongoStore):
        await store.save(titled("small", 1))
        with pytest.raises(Unstorable):
            await store.save(a_document(body={"title": "x" * MAX_BYTES}, observed_at=at(2)))
        assert await title(store) == "small"
