"""A collection that many loops share: as many round trips as one of them needs, and to each its own answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from ghcrawl.values.errors import StoreError
from ghcrawl.values.frozen import replace
from stores.mongo.batched import FEW, LARGE, Shared
from stores.mongo.driver import Mongo
from stores.mongo.settings import Index, MongoSettings
from tests.integration.mongo.commands import COMMANDS
from tests.integration.mongo.refusing import refusing

NUMBERS = range(10)


def a_row(number: int, revision: str = "first", **fields: Any) -> Mapping[str, Any]:
    return {"_id": str(number), "revision": f"{number} {revision}", **fields}


@pytest.fixture
async def shared(mongo: Mongo) -> Shared:
    """With every second row, and its indexes."""
    await mongo.index("things", Index(name="revision", fields=("revision",), unique=True))
    shared = Shared(mongo, "things", unique="revision", seen={"_id": 1, "revision": 1})
    await shared.insert_all([a_row(number, text="x") for number in NUMBERS[::2]])
    return shared


async def revisions(mongo: Mongo) -> Mapping[str, str]:
    return {row["_id"]: row["revision"].partition(" ")[2] for row in await mongo.find("things", {})}


async def test_inserts_at_once_are_one_round_trip_and_each_knows_whether_it_collided(shared: Shared):
    with COMMANDS.heard() as heard:
        there = await asyncio.gather(*(shared.insert(a_row(number)) for number in NUMBERS))
    assert there == [number % 2 == 1 for number in NUMBERS]
    assert heard == ["insert"]


async def test_of_inserts_of_the_same_one_gets_its_place(shared: Shared, mongo: Mongo):
    there = await asyncio.gather(*(shared.insert(a_row(1, f"by {n}")) for n in range(5)))
    assert sum(there) == 1
    assert (await revisions(mongo))["1"] == f"by {there.index(True)}"


@pytest.mark.parametrize("number", [FEW, FEW + 1])
async def test_inserts_of_one_go_as_they_are_given(shared: Shared, number: int):
    with COMMANDS.heard() as heard:
        assert await shared.insert_all([a_row(n) for n in range(number)]) == [n % 2 == 1 for n in range(number)]
    assert heard == ["insert"]
    assert await shared.insert_all([]) == []


async def test_replacements_at_once_are_one_round_trip(shared: Shared, mongo: Mongo):
    with COMMANDS.heard() as heard:
        made = await asyncio.gather(
            *(shared.replace(f"{n} first", f"{n} next", a_row(n, "next")) for n in NUMBERS[::2])
        )
    assert made == [True] * len(NUMBERS[::2])
    assert heard == ["update"]
    assert await revisions(mongo) == {str(n): "next" for n in NUMBERS[::2]}


async def test_each_knows_whether_its_change_found_what_it_means(shared: Shared, mongo: Mongo):
    with COMMANDS.heard() as heard:
        made = await asyncio.gather(
            *(shared.change(f"{n} first", f"{n} next", {"$set": {"revision": f"{n} next"}}) for n in NUMBERS),
            shared.replace("2 gone", "2 late", a_row(2, "late")),
        )
    assert made == [*(n % 2 == 0 for n in NUMBERS), False]
    assert heard == ["update", "find"]
    assert await revisions(mongo) == {str(n): "next" for n in NUMBERS[::2]}


async def test_nothing_is_looked_for_where_nothing_was_found(shared: Shared):
    with COMMANDS.heard() as heard:
        made = await asyncio.gather(*(shared.replace(f"{n} gone", f"{n} next", a_row(n, "next")) for n in NUMBERS))
    assert made == [False] * len(NUMBERS)
    assert heard == ["update"]


async def test_a_replacement_that_collides_knows_it(shared: Shared, mongo: Mongo):
    made = await asyncio.gather(
        shared.replace("0 first", "2 first", {"_id": "0", "revision": "2 first"}),
        shared.replace("4 first", "4 next", a_row(4, "next")),
    )
    assert tuple(made) == (False, True)
    assert (await revisions(mongo))["0"] == "first"


async def test_a_large_document_keeps_nobody_waiting(shared: Shared):
    large = "x" * LARGE
    with COMMANDS.heard() as heard:
        there = await asyncio.gather(
            *(shared.insert(a_row(n)) for n in (1, 3)),
            shared.insert(a_row(5, text=large)),
            shared.insert(a_row(4, text=large)),
            shared.replace("0 first", "0 next", a_row(0, "next", text=large)),
            shared.replace("2 gone", "2 next", a_row(2, "next", text=large)),
        )
    assert there == [True, True, True, False, True, False]
    assert sorted(heard) == ["insert"] * 3 + ["update"] * 2


async def test_updates_at_once_are_one_round_trip(shared: Shared, mongo: Mongo):
    with COMMANDS.heard() as heard:
        await asyncio.gather(*(shared.update(str(n), {"$set": {"revision": f"{n} touched"}}) for n in NUMBERS))
    assert heard == ["update"]
    assert await revisions(mongo) == {str(n): "touched" for n in NUMBERS[::2]}


async def test_deletions_at_once_are_two_round_trips_and_each_knows_whether_it_was_there(shared: Shared, mongo: Mongo):
    with COMMANDS.heard() as heard:
        gone = await asyncio.gather(*(shared.delete(f"{n} first") for n in NUMBERS))
    assert gone == [n % 2 == 0 for n in NUMBERS]
    assert heard == ["find", "delete"]
    assert await revisions(mongo) == {}


async def test_deletions_of_what_is_gone_delete_nothing(shared: Shared):
    with COMMANDS.heard() as heard:
        assert await asyncio.gather(*(shared.delete(f"{n} gone") for n in NUMBERS)) == [False] * len(NUMBERS)
    assert heard == ["find"]


async def test_a_deletion_alone_is_one_round_trip(shared: Shared):
    with COMMANDS.heard() as heard:
        assert await shared.delete("0 first")
        assert not await shared.delete("0 first")
    assert heard == ["delete", "delete"]


async def test_where_others_delete_the_same_at_the_same_moment_nobody_is_told_twice(shared: Shared, mongo: Mongo):
    theirs = Shared(mongo, "things", unique="revision")
    gone = await asyncio.gather(*(each.delete(f"{n} first") for n in NUMBERS for each in (shared, theirs)))
    assert all(gone[2 * n] + gone[2 * n + 1] <= (n % 2 == 0) for n in NUMBERS)
    assert await revisions(mongo) == {}


async def test_look_ups_at_once_are_one_round_trip_and_see_what_they_ask_for(shared: Shared):
    with COMMANDS.heard() as heard:
        found = await asyncio.gather(*(shared.find("_id", [str(n), str(n + 1)]) for n in NUMBERS))
    assert [[row["_id"] for row in rows] for rows in found] == [[str(n + n % 2)] for n in NUMBERS[:-1]] + [[]]
    assert found[0] == [{"_id": "0", "revision": "0 first"}]
    assert heard == ["find"]


async def test_where_the_server_does_not_take_a_command_each_goes_by_itself(shared: Shared, settings: MongoSettings):
    async with refusing(settings.url) as between:
        mongo = await Mongo.open(replace(settings, url=between.url))
        try:
            between.refuse({"code": 2, "codeName": "BadValue", "errmsg": "too deep"}, "insert")
            ours = Shared(mongo, "things", unique="revision")
            with COMMANDS.heard() as heard:
                ends = await asyncio.gather(*(ours.insert(a_row(n)) for n in (1, 3)), return_exceptions=True)
        finally:
            await mongo.close()
    assert heard == ["insert", "insert", "insert"]
    assert all(isinstance(end, StoreError) and "too deep" in str(end) for end in ends)
