"""What is written to MongoDB: documents in their final bytes, and the writes of a bulk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from bson import encode
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo import DeleteOne, InsertOne, ReplaceOne, UpdateOne

from ghcrawl.values.errors import StoreError, Unstorable

Fields = Mapping[str, Any]
"""A document, a filter, an update or a projection."""

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

    def demand_taken(self) -> None:
        """Raises what any of them came to, but for collisions."""
        for error in self.refused.values():
            if error is not None:
                raise error


class Write(NamedTuple):
    """One write of a bulk. size: how many bytes the document has that it holds."""

    operation: InsertOne[Any] | ReplaceOne[Any] | UpdateOne | DeleteOne
    size: int = 0


def inserting(document: Fields) -> Write:
    """It is added."""
    row = packed(document)
    return Write(InsertOne(row), len(row.raw))


def replacing(which: Fields, document: Fields) -> Write:
    """It takes the place of the one of that filter."""
    row = packed(document)
    return Write(ReplaceOne(which, row), len(row.raw))


def updating(which: Fields, change: Fields) -> Write:
    """The one of that filter is changed."""
    return Write(UpdateOne(which, change))


def deleting(which: Fields) -> Write:
    """The one of that filter goes."""
    return Write(DeleteOne(which))
