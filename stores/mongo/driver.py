"""MongoDB as the adapters need it. Only this file, `stores.mongo.writes` and `stores.mongo.errors` import the driver.

It uses only what every server that speaks MongoDB's protocol supports: no transactions, no explicit sessions, no
pipelines in updates, no TTL indexes, no change streams. No change of several documents has to be atomic. Documents
that many clients write at once are found by `_id` or by one indexed field alone: MongoDB would plan other filters
well, but simpler servers scan the collection for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from typing import Any, Final, Self, TypeVar

from bson import ObjectId
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import IndexModel, WriteConcern, timeout
from pymongo.errors import BulkWriteError, CursorNotFound, DuplicateKeyError, PyMongoError, WriteError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from ghcrawl.values.errors import ConfigError, StoreError
from ghcrawl.values.frozen import replace
from stores.mongo.client import client_of
from stores.mongo.errors import opening, translated
from stores.mongo.settings import Index, MongoSettings
from stores.mongo.writes import Bulk, Fields, Write, packed

T = TypeVar("T")
_Errors = type[BaseException] | tuple[type[BaseException], ...]

OLDEST: Final = 1
SCHEMA: Final = 2
"""The first and the last version of the database schema that this program reads and writes.

1: the documents of one platform. 2: collections of several platforms, which an older ghcrawl would misread. The first
collection of a second platform raises a database to 2; until then an older ghcrawl may open it.
"""

AT_ONCE: Final = 10_000
"""Documents the server returns per batch, if their size allows."""

BUILD_S: Final = 600.0
"""Time limit for building indexes: documents may exist already if an index was dropped."""

OURS: Final = "ghcrawl."
"""Prefix of the collections that hold no documents. No collection of documents has it."""

_SCHEMA_IN: Final = f"{OURS}schema"
_DUPLICATE: Final = 11000


class Mongo:
    """An open database.

    Every method raises StoreError within `timeout_s` while no server answers, and works again once one does.
    Methods that write raise Unstorable for a document that no server accepts.
    """

    def __init__(self, client: AsyncIOMotorClient[dict[str, Any]], settings: MongoSettings) -> None:
        self._client = client
        self._settings = settings
        self._collections: dict[str, AsyncIOMotorCollection[dict[str, Any]]] = {}
        self._database = client.get_database(
            settings.database,
            read_preference=ReadPreference.PRIMARY,
            read_concern=ReadConcern(settings.read_concern),
            write_concern=WriteConcern(w=settings.write_concern, j=settings.journal),
        )

    @classmethod
    async def open(cls, settings: MongoSettings) -> Self:
        """Connect, and check that this program understands the database's schema.

        Raises ConfigError for what an operator must fix (URL, credentials, rights, data of another program,
        another schema), StoreError while no server answers.
        """
        mongo = cls(client_of(settings), settings)
        try:
            with opening(), timeout(settings.connect_timeout_s):
                await mongo._check_schema()
        except BaseException:
            await mongo.close()
            raise
        return mongo

    async def close(self) -> None:
        """Close the connections; calls in progress fail."""
        self._client.close()

    def strict(self) -> Mongo:
        """The same database with majority writes, which no failover rolls back, and majority reads from the primary."""
        sure = replace(self._settings, write_concern="majority", read_concern="majority")
        return Mongo(self._client, sure)

    # Writing

    async def insert(self, collection: str, document: Fields) -> bool:
        """Insert the document. Returns False if it collides with a unique index, of `_id` or another field."""
        return await self._unless_taken(self._collection(collection).insert_one(packed(document))) is not None

    async def bulk(self, collection: str, writes: Sequence[Write]) -> Bulk:
        """Make these writes independently and in any order, in one round trip if all are of one kind."""
        try:
            work = self._collection(collection).bulk_write([write.operation for write in writes], ordered=False)
            done = await self._do(work, but=BulkWriteError)
        except BulkWriteError as error:
            details = error.details or {}
            if details.get("writeConcernErrors"):
                raise translated(error, self._settings) from error
            refused = {failure["index"]: self._refusal(failure) for failure in details["writeErrors"]}
            return Bulk(details["nMatched"] + details["nRemoved"], refused)
        return Bulk(done.matched_count + done.deleted_count, {})

    async def replace(self, collection: str, which: Fields, document: Fields) -> bool:
        """Replace one document that matches this filter. Returns False if none does, or for a collision."""
        result = await self._unless_taken(self._collection(collection).replace_one(which, packed(document)))
        return result is not None and result.matched_count > 0

    async def put(self, collection: str, document: Fields) -> None:
        """Insert the document, or replace the one with its `_id`."""
        row, which = packed(document), {"_id": document["_id"]}
        while await self._unless_taken(self._collection(collection).replace_one(which, row, upsert=True)) is None:
            continue  # another process inserted it at the same moment

    async def update(self, collection: str, which: Fields, change: Fields) -> bool:
        """Change one document that matches this filter. Returns False if none does, or for a collision."""
        result = await self._unless_taken(self._collection(collection).update_one(which, change))
        return result is not None and result.matched_count > 0

    async def update_many(self, collection: str, which: Fields, change: Fields) -> int:
        """Change all documents that match this filter. Returns how many matched."""
        return int((await self._do(self._collection(collection).update_many(which, change))).matched_count)

    async def delete_one(self, collection: str, which: Fields) -> bool:
        """Delete one document that matches this filter. Returns whether there was one."""
        return (await self._do(self._collection(collection).delete_one(which))).deleted_count > 0

    async def delete(self, collection: str, which: Fields, *, timeout_s: float = 0.0) -> int:
        """Delete all documents that match this filter. Returns how many.

        timeout_s: for a filter that scans many documents; 0 is the time limit of the settings.
        """
        with timeout(timeout_s or self._settings.timeout_s):
            work = self._collection(collection).delete_many(which)
        return int((await self._do(work, timeout_s=timeout_s)).deleted_count)

    # Reading

    async def find_one(self, collection: str, which: Fields, fields: Fields | None = None) -> dict[str, Any] | None:
        """A document that matches this filter. fields: the projection."""
        return await self._do(self._collection(collection).find_one(which, fields))

    async def find(
        self,
        collection: str,
        which: Fields,
        fields: Fields | None = None,
        *,
        newest: str = "",
        first: str = "",
        limit: int = 0,
    ) -> list[dict[str, Any]]:
        """The documents that match this filter. newest: sort by this field, descending; first: ascending."""
        cursor = self._collection(collection).find(which, fields, limit=limit, batch_size=AT_ONCE)
        by, direction = (newest, -1) if newest else (first, 1)
        return await self._do((cursor.sort(by, direction) if by else cursor).to_list(None))

    async def by_id(self, collection: str, span: Fields, which: Fields) -> AsyncGenerator[dict[str, Any], None]:
        """The documents whose `_id` is in `span` and that match `which`, by `_id`.

        The reader may take any time: a cursor that the server dropped is opened again.
        """
        while True:
            cursor = self._collection(collection).find({"_id": span, **which}).sort("_id", 1)
            try:
                while True:
                    document = await self._do(cursor.next(), but=(CursorNotFound, StopAsyncIteration))
                    span = {**{name: value for name, value in span.items() if name != "$gte"}, "$gt": document["_id"]}
                    yield document
            except CursorNotFound:
                continue  # the server dropped the idle cursor: continue behind the last document
            except StopAsyncIteration:
                return
            finally:
                await cursor.close()

    async def numbers(self, collection: str, which: Fields, by: Sequence[str], *, index: str) -> list[dict[str, Any]]:
        """Count the documents that match this filter by combination of the fields `by`: rows of these and `number`."""
        group = {"_id": {name: f"${name}" for name in by}, "number": {"$sum": 1}}
        stages: list[Fields] = [{"$match": which}, {"$group": group}]
        groups = await self._do(self._collection(collection).aggregate(stages, hint=index).to_list(None))
        return [{**found["_id"], "number": found["number"]} for found in groups]

    async def size(self, collection: str) -> int:
        """The number of documents in the collection, from its metadata; an estimate."""
        return await self._do(self._collection(collection).estimated_document_count())

    async def count(self, collection: str, which: Fields) -> int:
        """The number of documents that match this filter."""
        return await self._do(self._collection(collection).count_documents(which))

    async def collections(self) -> list[str]:
        """The names of the collections that hold documents."""
        names = await self._do(self._database.list_collection_names())
        return sorted(name for name in names if not name.startswith((OURS, "system.")))

    # Set-up

    async def raise_schema(self) -> None:
        """Set the database's schema to the newest, which an older ghcrawl refuses to open."""
        await self.strict().update(_SCHEMA_IN, {"_id": "schema"}, {"$max": {"version": SCHEMA}})

    async def index(self, collection: str, *indexes: Index) -> None:
        """Create the collection with these indexes. Raises NeedsOperator if one exists with other options."""
        models = [
            IndexModel(
                [(name, 1) for name in index.fields],
                name=index.name,
                **{name: True for name in ("unique", "sparse") if getattr(index, name)},
            )
            for index in indexes
        ]
        with timeout(BUILD_S):
            work = self._collection(collection).create_indexes(models)
        await self._do(work, timeout_s=BUILD_S)

    async def _check_schema(self) -> None:
        others = await self.collections()  # before the schema, which is created first
        known = await self.find_one(_SCHEMA_IN, {"_id": "schema"})
        if known is None and others:
            raise ConfigError(
                f"the database {self._settings.place} holds collections that this ghcrawl did not make "
                f"({', '.join(others[:5])}{', …' if len(others) > 5 else ''}); name another database"
            )
        if known is None and not await self.insert(_SCHEMA_IN, {"_id": "schema", "version": OLDEST}):
            known = await self.find_one(_SCHEMA_IN, {"_id": "schema"})
        version = OLDEST if known is None else known["version"]
        if not OLDEST <= version <= SCHEMA:
            raise ConfigError(
                f"the database {self._settings.place} has schema {version} and this ghcrawl reads and writes "
                f"{OLDEST} to {SCHEMA}: "
                + ("a newer ghcrawl wrote it; use that one" if version > SCHEMA else "export it with the older one")
            )

    def _collection(self, name: str) -> AsyncIOMotorCollection[dict[str, Any]]:
        """Made once: the driver's objects cost more than some calls do."""
        if name not in self._collections:
            self._collections[name] = self._database[name]
        return self._collections[name]

    # Errors

    async def _do(self, work: Awaitable[T], *, but: _Errors = (), timeout_s: float = 0.0) -> T:
        """The result of `work`, with the driver's errors translated. but: errors that the caller handles."""
        try:
            async with asyncio.timeout((timeout_s or self._settings.timeout_s) + 1):
                return await work
        except but:
            raise
        except (PyMongoError, TimeoutError) as error:
            raise translated(error, self._settings) from error

    def _refusal(self, failure: Mapping[str, Any]) -> StoreError | None:
        code = failure["code"]
        return None if code == _DUPLICATE else translated(WriteError(failure["errmsg"], code, failure), self._settings)

    async def _unless_taken(self, work: Awaitable[T]) -> T | None:
        """The result of `work`; None if it collides with a unique index."""
        try:
            return await self._do(work, but=DuplicateKeyError)
        except DuplicateKeyError:
            return None


def token() -> Any:
    """A globally unique value. Values ascend with time, so an index over them grows at its end."""
    return ObjectId()
