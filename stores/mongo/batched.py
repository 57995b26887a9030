"""A MongoDB collection that batches the calls of concurrent workers into shared round trips.

Each call has the result that it would have alone. The server's answer to a bulk write names the writes that collided,
but only counts the writes whose filter matched. If some did not match, a query tells which: a successful write left a
new value in the collection's unique field.
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
from stores.mongo.writes import Bulk, Fields, Write, deleting, inserting, replacing, updating

Row = dict[str, Any]
Answers = Sequence[bool | Exception]
FEW: Final = 2
"""Up to this many documents share a round trip with other calls; more get a round trip of their own."""
LARGE: Final = 256 * 1024
"""Bytes. A larger document gets a round trip of its own, so that other calls need not wait for it."""

_OF_ONE: Final = (Rejected, Unstorable)


class _Change(NamedTuple):
    """A write that leaves `after` in the unique field."""

    write: Write
    after: Any


class Shared:
    """The batched calls to the collection `name`.

    unique: a field with a unique index, which each replacement and each change sets to a new value.
    seen: the projection of look-ups.
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
        """Insert the document. Returns False if it collides with a unique index, of `_id` or another field."""
        write = inserting(document)
        return await self._inserts.ask(write, alone=write.size > LARGE)

    async def insert_all(self, documents: Sequence[Fields]) -> Sequence[bool]:
        """Insert the documents. Returns for each whether it was inserted. Raises the error of any of them."""
        if len(documents) <= FEW:
            return await asyncio.gather(*map(self.insert, documents))
        done = await self._mongo.bulk(self._name, [inserting(document) for document in documents])
        done.demand_taken()
        return [number not in done.refused for number in range(len(documents))]

    async def replace(self, before: Any, after: Any, document: Fields) -> bool:
        """Replace the document that has `before` in the unique field by `document`, which has `after` there.

        Returns False if there is none, for a collision, and if the new one was itself replaced before the result was
        known.
        """
        write = replacing({self._unique: before}, document)
        return await self._changes.ask(_Change(write, after), alone=write.size > LARGE)

    async def change(self, before: Any, after: Any, change: Fields) -> bool:
        """As `replace`, by an update that sets the unique field to `after`."""
        return await self._changes.ask(_Change(updating({self._unique: before}, change), after))

    async def update(self, id: str, change: Fields) -> None:
        """Change the document with this `_id`, if there is one."""
        await self._updates.ask(updating({"_id": id}, change))

    async def delete(self, value: Any) -> bool:
        """Delete the document that has this value in the unique field. Returns whether this call deleted it.

        At most one of several callers gets True. None may, if another process deleted some of the same documents at
        the same moment.
        """
        return await self._deletions.ask(value)

    # Reading

    async def find(self, field: str, values: Collection[str]) -> Sequence[Row]:
        """The documents that have one of these values in `field`, which may be a list."""
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
        """The values among these that some document has in the unique field."""
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
    """The result of the write with this number: True if it did not collide, False if it did, or its error."""
    error = done.refused.get(number)
    return number not in done.refused if error is None else error


def _values(row: Mapping[str, Any], field: str) -> Sequence[Any]:
    """The values of a field, given by its dotted path; one value, unless the field is a list."""
    item: Any = row
    for name in field.split("."):
        item = item[name]
    return item if isinstance(item, list) else [item]
