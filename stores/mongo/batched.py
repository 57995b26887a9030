"""A collection of MongoDB that many loops read and write at once: what they ask in one moment is one round trip.

Each call means one document, and comes to what it would have come to alone. A bulk of writes tells which of them
collided, but only how many found what they mean: where not all did, those that did are looked for by the value that
they left in the collection's unique field.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ghcrawl.values.errors import Unstorable
from stores.batcher import Batcher
from stores.mongo.driver import Mongo
from stores.mongo.errors import Rejected
from stores.mongo.writes import (
    Bulk,
    Fields,
    Write,
    deleting,
    inserting,
    replacing,
    updating,
)

Row = dict[str, Any]
Answers = Sequence[bool | Exception]
FEW: Final = 2
"""Up to this many documents are inserted together with those of other calls; more go in a call of their own."""
LARGE: Final = 256 * 1024
"""A document of this many bytes goes in a call of its own, so that others need not wait for it."""

_OF_ONE: Final = (Rejected, Unstorable)


class _Change(NamedTuple):
    """A write that leaves `after` in the unique field."""

    write: Write
    after: Any


class Shared:
    """The collection `name`, as far as it is read and written by all loops.

    unique: a field with a unique index, in which a document has another value after each replacement and each change.
    seen: the fields that look-ups are about.
    """

    def __init__(self, mongo: Mongo, name: str, *, unique: str, seen: Fields | None = None) -> None:
        self._mongo = mongo
        self._name = name
        self._unique = unique
        self._seen = seen
        self._inserts: Batcher[Write, bool] = Batcher(self._write, alone=_OF_ONE)
        self._updates: Batcher[Write, bool] = Batcher(self._write, alone=_OF_ONE)
        self._changes: Batcher[_Change, bool] = Batcher(self._change, alone=_OF_ONE)
        self._deletions: Batcher[Any, bool] = Batcher(self._delete)
        self._finds: dict[str, Batcher[Collection[str], Sequence[Row]]] = {}

    # Writing

    async def insert(self, document: Fields) -> bool:
        """Whether it is there now; False: it collides with a unique index, of `_id` or another."""
        write = inserting(document)
        return await self._inserts.ask(write, alone=write.size > LARGE)

    async def insert_all(self, documents: Sequence[Fields]) -> Sequence[bool]:
        """Whether each was inserted. Raises the error of any of them."""
        if len(documents) <= FEW:
            return await asyncio.gather(*map(self.insert, documents))
        done = await self._mongo.bulk(self._name, [inserting(document) for document in documents])
        done.demand_taken()
        return [number not in done.refused for number in range(len(documents))]

    async def replace(self, before: Any, after: Any, document: Fields) -> bool:
        """Whether the document with `before` in the unique field was there and is this one now, which has `after`.

        False also for a collision, and where it was replaced again before anybody could tell.
        """
        write = replacing({self._unique: before}, document)
        return await self._changes.ask(_Change(write, after), alone=write.size > LARGE)

    async def change(self, before: Any, after: Any, change: Fields) -> bool:
        """The same by an update, which sets the unique field to `after`."""
        return await self._changes.ask(_Change(updating({self._unique: before}, change), after))

    async def update(self, id: str, change: Fields) -> None:
        """The document of this `_id` is changed, if it is there."""
        await self._updates.ask(updating({"_id": id}, change))

    async def delete(self, value: Any) -> bool:
        """Whether the document with that value in the unique field was there and is gone.

        Of many who ask, one at the most is told so; none, where others deleted some of the same in the same moment.
        """
        return await self._deletions.ask(value)

    # Reading

    async def find(self, field: str, values: Collection[str]) -> Sequence[Row]:
        """The documents that have one of these in `field`, which may be a list."""
        if field not in self._finds:
            self._finds[field] = Batcher(lambda asked: self._find(field, asked))
        return await self._finds[field].ask(values)

    # Round trips

    async def _write(self, writes: Sequence[Write]) -> Answers:
        done = await self._mongo.bulk(self._name, writes)
        return [_answer(done, number) for number in range(len(writes))]

    async def _change(self, changes: Sequence[_Change]) -> Answers:
        done = await self._mongo.bulk(self._name, [each.write for each in changes])
        answers = [_answer(done, number) for number in range(len(changes))]
        if done.found + len(done.refused) == len(changes):
            return answers
        left = await self._there([each.after for each in changes]) if done.found else frozenset()
        return [each.after in left if answer is True else answer for each, answer in zip(changes, answers, strict=True)]

    async def _delete(self, values: Sequence[Any]) -> Answers:
        there = await self._there(values) if len(values) > 1 else frozenset(values)
        if not there:
            return [False] * len(values)
        done = await self._mongo.bulk(self._name, [deleting({self._unique: value}) for value in there])
        done.demand_taken()
        deleted = set(there) if done.found == len(there) else set()
        answers = []
        for value in values:
            answers.append(value in deleted)
            deleted.discard(value)
        return answers

    async def _there(self, values: Iterable[Any]) -> frozenset[Any]:
        """Those of these values that a document has in the unique field."""
        which = {self._unique: {"$in": list(values)}}
        rows = await self._mongo.find(self._name, which, {self._unique: 1, "_id": 0})
        return frozenset(value for row in rows for value in _values(row, self._unique))

    async def _find(self, field: str, asked: Sequence[Collection[str]]) -> Sequence[Sequence[Row]]:
        values = list({value for each in asked for value in each})
        found: dict[str, list[Row]] = defaultdict(list)
        for row in await self._mongo.find(self._name, {field: {"$in": values}}, self._seen):
            for value in _values(row, field):
                found[value].append(row)
        return [[row for value in each for row in found.get(value, ())] for each in asked]


def _answer(done: Bulk, number: int) -> bool | Exception:
    """What became of the write at that place; True: nothing stood in its way."""
    error = done.refused.get(number)
    return number not in done.refused if error is None else error


def _values(row: Mapping[str, Any], field: str) -> Sequence[Any]:
    """What a field with dots in its name holds."""
    item: Any = row
    for name in field.split("."):
        item = item[name]
    return item if isinstance(item, list) else [item]
