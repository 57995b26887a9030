"""Documents encoded as BSON, and the operations of a bulk write."""

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
    """The document encoded as BSON. Raises Unstorable if it is too large or not BSON."""
    urn = str(document["_id"])
    try:
        row = encode(document)
    except (BSONError, ValueError, OverflowError) as error:
        raise Unstorable(f"{urn} cannot be written as BSON: {error}", urn=urn) from error
    if len(row) > MAX_BYTES:
        raise Unstorable(f"{urn} has {len(row):,} bytes and MongoDB takes {MAX_BYTES:,} at the most", urn=urn)
    return RawBSONDocument(row)


class Bulk(NamedTuple):
    """The result of a bulk write.

    found: how many replacements, updates and deletions matched a document.
    refused: index of a write that failed → its error, or None for a collision with a unique index.
    """

    found: int
    refused: Mapping[int, StoreError | None]

    def demand_taken(self) -> None:
        """Raise the first error that is not a collision."""
        for error in self.refused.values():
            if error is not None:
                raise error


class Write(NamedTuple):
    """One operation of a bulk write. size: bytes of the document that it inserts or replaces with; 0 for others."""

    operation: InsertOne[Any] | ReplaceOne[Any] | UpdateOne | DeleteOne
    size: int = 0


def inserting(document: Fields) -> Write:
    """Insert the document."""
    row = packed(document)
    return Write(InsertOne(row), len(row.raw))


def replacing(which: Fields, document: Fields) -> Write:
    """Replace the document that matches this filter."""
    row = packed(document)
    return Write(ReplaceOne(which, row), len(row.raw))


def updating(which: Fields, change: Fields) -> Write:
    """Change the document that matches this filter."""
    return Write(UpdateOne(which, change))


def deleting(which: Fields) -> Write:
    """Delete the document that matches this filter."""
    return Write(DeleteOne(which))
