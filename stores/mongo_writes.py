"""What is written to MongoDB: documents in their final bytes, and writes that go in bulk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from bson import encode
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo import DeleteOne, InsertOne, ReplaceOne, UpdateOne

from ghcrawl.errors import StoreError, Unstorable

Fields = Mapping[str, Any]
"""A document, a filter, an update or a projection."""
Write: TypeAlias = InsertOne[Any] | ReplaceOne[Any] | UpdateOne | DeleteOne
"""Of one document, for `Mongo.bulk`."""

MAX_BYTES: Final = 16 * 1024 * 1024


def packed(document: Fields) -> Any:
    """The document in its final bytes. Raises Unstorable: above all, where there are too many of them."""
    urn = str(document["_id"])
    try:
        row = encode(document)
    except (BSONError, ValueError, OverflowError) as error:
        raise Unstorable(f"{urn} cannot be written as BSON: {error}", urn=urn) from error
    if len(row) > MAX_BYTES:
        raise Unstorable(f"{urn} has {len(row):,} bytes and MongoDB takes {MAX_BYTES:,} at the most", urn=urn)
    return RawBSONDocument(row)


class Bulk(NamedTuple):
    """What became of many writes. found: how many of those that change or delete found what they mean.

    refused: by their place, those that were not made: None for a collision with a unique index.
    """

    found: int
    refused: Mapping[int, StoreError | None]


def inserting(document: Fields) -> Write:
    """It is added."""
    return InsertOne(packed(document))


def replacing(which: Fields, document: Fields) -> Write:
    """It takes the place of the one of that filter."""
    return ReplaceOne(which, packed(document))


def updating(which: Fields, change: Fields) -> Write:
    """The one of that filter is changed."""
    return UpdateOne(which, change)


def deleting(which: Fields) -> Write:
    """The one of that filter goes."""
    return DeleteOne(which)
