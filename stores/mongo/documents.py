"""Documents in MongoDB, one collection for each type of each platform.

In a crawl a look-up, a touch and most saves take one round trip each. Saving a stored document that was not looked up
first (an element of a list that was crawled before) takes two: it reads the stored one. Concurrency is optimistic, with
no locks: a new document is inserted, and a stored one is replaced only in the revision that was read. A writer that
comes too late reads and merges again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any, Final, Self

from ghcrawl.ports.store import DocumentFilter, Saved, Stored, Touch
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import StoreError
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores import precedence
from stores.merging import Merged, merged, wants_body
from stores.mongo.batched import Shared
from stores.mongo.driver import OURS, Mongo, token
from stores.mongo.errors import opening
from stores.mongo.escaping import from_bson, plain_text, safe_text, to_bson
from stores.mongo.listing import in_order, narrowed, spans_of
from stores.mongo.names import collection_of, places, type_of, types_in
from stores.mongo.rows import (
    HELD_FIELDS,
    Placed,
    Remembered,
    StoredRow,
    change_of,
    claimant,
    document_of,
    held_of,
    placed,
    remembered,
    row_of,
    touch_of,
)
from stores.mongo.settings import Index

INDEXES: Final = (
    Index(name="urls", fields=("_metadata.urls",), unique=True),
    Index(name="revision", fields=("_metadata.revision",), unique=True),
    Index(name="tombstones", fields=("_metadata.deletedAt",), sparse=True),
    Index(name="processing", fields=("_metadata.processedAt",)),
)
STATE: Final = f"{OURS}state"
ELSEWHERE: Final = f"{OURS}elsewhere"
"""URN → type, for URNs that do not contain their type. Those of the legacy platform all contain it."""

ATTEMPTS: Final = 100
"""Attempts per save. One writer succeeds in each round, so a save needs at most one attempt per concurrent writer."""

REMEMBERED: Final = 4096
"""Look-ups that are cached for the saves that follow them."""


class MongoStore:
    """The documents in `mongo`. Made by `open`, which creates the indexes."""

    def __init__(self, mongo: Mongo) -> None:
        self._mongo = mongo
        self._indexed: set[str] = set()
        self._indexing = asyncio.Lock()
        self._collections: dict[str, Shared] = {}
        self._looked_up: OrderedDict[str, StoredRow] = OrderedDict()
        self._found_last: dict[str, bool] = {}

    @classmethod
    async def open(cls, mongo: Mongo) -> Self:
        """The store, with its indexes on every existing collection. Raises ConfigError, StoreError."""
        store = cls(mongo)
        with opening():
            for collection in await mongo.collections():
                await store._index(collection)
        return store

    # Writing

    async def save(self, document: Document, *, supersede: str = "") -> Saved:
        """As the port says. A second write removes older generations; if it fails, a retry of the save repeats both."""
        body = to_bson(document.body, document.urn, outermost=True)
        collection = collection_of(document.type_name)
        if collection not in self._indexed:
            await self._index(collection)
        told = document.type_name in types_in(document.urn)
        if not told:
            await self._mongo.put(ELSEWHERE, _pointer(document))
        saved = await self._save(collection, document, body)
        if supersede and saved != "stale":
            low, high = precedence.older_generations(document.urn, supersede)
            for name in (collection,) if told else (collection, ELSEWHERE):
                await self._mongo.delete(name, {"_id": {"$gte": safe_text(low), "$lt": safe_text(high)}})
        return saved

    async def touch(self, touch: Touch) -> None:
        """As the port says, in one round trip. Old visits are dropped only if the document was looked up before."""
        held = self._looked_up.get(touch.urn)
        change = touch_of(touch, token(), held.remembered.held.visits if held else {})
        await self._shared(collection_of(touch.type_name)).update(safe_text(touch.urn), change)

    async def write_state(self, name: str, value: Mapping[str, object]) -> None:
        """As the port says."""
        await self._mongo.put(STATE, {"_id": safe_text(name), "value": to_bson(value, name)})

    async def swap_state(self, name: str, before: Mapping[str, object] | None, after: Mapping[str, object]) -> bool:
        """As the port says, in one round trip. Values are compared as BSON, so the order of their fields counts."""
        id = safe_text(name)
        wanted = {"_id": id, "value": to_bson(after, name)}
        if before is None:
            return await self._mongo.insert(STATE, wanted)
        return await self._mongo.replace(STATE, {"_id": id, "value": {"$eq": to_bson(before, name)}}, wanted)

    # Reading

    async def read_state(self, name: str) -> Mapping[str, object] | None:
        """As the port says."""
        stored = await self._mongo.find_one(STATE, {"_id": safe_text(name)})
        return None if stored is None else from_bson(stored["value"])

    async def look_up(self, type: TypeName, url: str) -> Stored | None:
        """As the port says, in one round trip. Reads no body."""
        held = claimant(url, await self._claimants(collection_of(type), [url]))
        if held is None:
            return None
        self._looked_up[held.urn] = held
        if len(self._looked_up) > REMEMBERED:
            self._looked_up.popitem(last=False)
        return held.stored()

    async def get(self, urn: str) -> Document | None:
        """As the port says. One round trip if the end of the URN, or a recent look-up, tells the type."""
        looked_up = self._looked_up.get(urn)
        types = [looked_up.type_name] if looked_up else types_in(urn)
        likely = next((type for type in types if collection_of(type) in self._indexed), types[0] if types else None)
        stored = None if likely is None else await self._row(likely, urn)
        if stored is None and looked_up is None:
            stored = await self._elsewhere(urn, [type for type in types if type != likely])
        return None if stored is None else document_of(stored)

    async def find(self, url: str) -> Sequence[Document]:
        """As the port says: of each type, the document that has this URL now."""
        which, names = _leads_from([url]), await self._mongo.collections()
        found = await asyncio.gather(*(self._mongo.find(name, which) for name in names))
        documents = []
        for rows in found:
            by_urn = {held.urn: (held, row) for held, row in zip(map(held_of, rows), rows, strict=True)}
            held = claimant(url, (held for held, _ in by_urn.values()))
            documents += [] if held is None else [document_of(by_urn[held.urn][1])]
        return documents

    async def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """As the port says. Documents saved meanwhile may be included or not."""
        types = set(which.types) or map(type_of, await self._mongo.collections())
        names = [collection_of(type) for type in types if which.admits(type)]
        for span in spans_of(which):
            async with AsyncExitStack() as stack:
                readers = [self._mongo.by_id(name, span, narrowed(which)) for name in names]
                for reader in readers:
                    await stack.enter_async_context(aclosing(reader))
                async for stored in in_order(readers):
                    yield document_of(stored)

    async def counts(self) -> Mapping[TypeName, int]:
        """As the port says, from the server's estimates and an index, without reading documents.

        Estimates are inexact after a crash of the server, and while a sharded one moves documents.
        """
        names = await self._mongo.collections()
        alive = await asyncio.gather(*map(self._alive, names))
        return {type_of(name): count for name, count in zip(names, alive, strict=True) if count > 0}

    # Parts

    async def _save(self, collection: str, document: Document, body: Mapping[str, Any]) -> Saved:
        held = await self._known(collection, document.urn)
        others: Sequence[StoredRow] = ()
        for _ in range(ATTEMPTS):
            known, whole = await self._whole(collection, held, document)
            done = merged(known, document, whole)
            place, revision = placed(document.urn, remembered(held, done), others), token()
            row = _row_of(done, place.remembered, body if whole is None else None, revision)
            if await self._evicted(collection, place) and await self._written(
                collection, held, row, place.remembered, revision
            ):
                return done.saved
            held, others = await asyncio.gather(
                self._held(collection, document.urn), self._claimants(collection, place.remembered.strengths)
            )
            self._found_last[collection] = held is not None
        raise StoreError(f"{document.urn} is being saved by too many at once", urn=document.urn)

    async def _whole(
        self, collection: str, held: StoredRow | None, document: Document
    ) -> tuple[precedence.StoredState | None, Document | None]:
        """What is remembered of the stored document; and the whole of it, if the merge needs its body."""
        known = held.remembered.held if held else None
        if held is None or not wants_body(known, document):
            return known, None
        which = {"_id": safe_text(document.urn), "_metadata.revision": held.revision}
        row = await self._mongo.find_one(collection, which)
        return known, None if row is None else document_of(row)

    async def _known(self, collection: str, urn: str) -> StoredRow | None:
        """What is remembered of the stored document.

        Reads it unless it was looked up before; but returns None without reading while documents of this type are
        new, as in a first crawl. If one does exist, the insert collides and the save reads it then.
        """
        held = self._looked_up.pop(urn, None)
        if held is None and self._found_last.get(collection):
            held = await self._held(collection, urn)
            self._found_last[collection] = held is not None
        return held

    async def _written(
        self,
        collection: str,
        held: StoredRow | None,
        row: Mapping[str, Any] | None,
        remembered: Remembered,
        revision: Any,
    ) -> bool:
        """Write `row`, or without one only what is `remembered`. Returns False if another writer was faster.

        revision: the one that the document has afterwards.
        """
        shared = self._shared(collection)
        if held is None:
            return row is not None and await shared.insert(row)
        if row is not None:
            return await shared.replace(held.revision, revision, row)
        change = change_of(held.remembered, remembered, held.urn, revision)
        if change is None:
            which = {"_metadata.revision": held.revision}
            return await self._mongo.find_one(collection, which, {"_id": 1}) is not None
        return await shared.change(held.revision, revision, change)

    async def _evicted(self, collection: str, place: Placed) -> bool:
        """Take the places for URLs from weaker claimants. Returns False if another writer was faster."""
        for rival, entry in place.evicted:
            left = [each for each in rival.remembered.entries.values() if each != entry]
            urls, revision = [safe_text(each) for each in left or [rival.urn]], token()
            change = {"$set": {"_metadata.urls": urls, "_metadata.revision": revision}}
            if not await self._shared(collection).change(rival.revision, revision, change):
                return False
        return True

    async def _held(self, collection: str, urn: str) -> StoredRow | None:
        found = await self._shared(collection).find("_id", [safe_text(urn)])
        return held_of(found[0]) if found else None

    async def _claimants(self, collection: str, urls: Iterable[str]) -> Sequence[StoredRow]:
        """The documents that have a place for one of these URLs."""
        names = [safe_text(place) for url in urls for place in places(url)]
        found = await self._shared(collection).find("_metadata.urls", names)
        return list({held.urn: held for held in map(held_of, found)}.values())

    def _shared(self, collection: str) -> Shared:
        """The collection with batched calls, shared by all workers of this process."""
        if collection not in self._collections:
            self._collections[collection] = Shared(
                self._mongo, collection, unique="_metadata.revision", seen=HELD_FIELDS
            )
        return self._collections[collection]

    async def _row(self, type: TypeName, urn: str) -> dict[str, Any] | None:
        return await self._mongo.find_one(collection_of(type), {"_id": safe_text(urn)})

    async def _elsewhere(self, urn: str, types: Sequence[TypeName]) -> dict[str, Any] | None:
        """The stored document, if it has one of these types, or a type that its URN does not contain."""
        told, *found = await asyncio.gather(
            self._mongo.find_one(ELSEWHERE, {"_id": safe_text(urn)}), *(self._row(type, urn) for type in types)
        )
        stored = next((row for row in found if row is not None), None)
        if stored is None and told is not None:
            platform = plain_text(told.get("platform", LEGACY_PLATFORM))
            return await self._row(TypeName(platform, plain_text(told["type"])), urn)
        return stored

    async def _alive(self, collection: str) -> int:
        """The number of documents that are not tombstones."""
        tombstones = {"_metadata.deletedAt": {"$gt": ""}}
        return await self._mongo.size(collection) - await self._mongo.count(collection, tombstones)

    async def _index(self, collection: str) -> None:
        """Create the indexes of this collection, once per process."""
        async with self._indexing:
            if collection not in self._indexed:
                if type_of(collection).platform != LEGACY_PLATFORM:
                    await self._mongo.raise_schema()  # first, so that no older ghcrawl opens the database in between
                await self._mongo.index(collection, *INDEXES)
                self._indexed.add(collection)


def _row_of(
    done: Merged, remembered: Remembered, body: Mapping[str, Any] | None, revision: Any
) -> dict[str, Any] | None:
    """The row that replaces the stored document; None keeps it. body: of the new document, if nothing was merged."""
    if done.written is None:
        return None
    if body is None:
        body = to_bson(done.written.body, done.written.urn, outermost=True)
    return row_of(done.written, remembered, body, revision)


def _pointer(document: Document) -> dict[str, Any]:
    """The row that tells the type of the document with this URN."""
    platform, type = map(safe_text, document.type_name)
    return {"_id": safe_text(document.urn), "platform": platform, "type": type}


def _leads_from(urls: Iterable[str]) -> dict[str, Any]:
    """The filter for documents that have a place for one of these URLs (see `stores.mongo.rows`)."""
    return {"_metadata.urls": {"$in": [safe_text(place) for url in urls for place in places(url)]}}
