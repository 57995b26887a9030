"""Translates the driver's errors to StoreErrors with one clear sentence.

The codes come from MongoDB's list of error codes. Other servers that speak its protocol use the same codes, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    DocumentTooLarge,
    NotPrimaryError,
    OperationFailure,
    ServerSelectionTimeoutError,
)

from ghcrawl.values.errors import ConfigError, StoreError, Unstorable
from stores.mongo.settings import MongoSettings

_TOO_LARGE: Final = frozenset({10334, 17419, 17420, 17280})
_NO_PRIMARY: Final = frozenset({189, 10058, 10107, 11602, 13435, 13436})
_REFUSALS: Final[Mapping[int, str]] = {
    11: "MongoDB at {place} does not know this user with this password",
    18: "MongoDB at {place} does not know this user with this password",
    13: "this user may not do that in {place}; grant it the role readWrite",
    85: "{place} has an index with the right name and other options; drop it",
    86: "{place} has an index with the right name and other options; drop it",
}
"""Messages of errors that make a retry pointless until an operator fixes the cause."""

_TROUBLES: Final[Mapping[int, str]] = {
    371: "MongoDB at {place} is set to take no writes",
    12501: "there is no space left for MongoDB at {place}",
    14031: "there is no space left for MongoDB at {place}",
}
"""Messages of errors that a retry overcomes once an operator fixes the cause."""


class NeedsOperator(StoreError):
    """An error that only an operator can fix: credentials, rights, an index with other options."""


class Rejected(StoreError):
    """The server rejected the command itself; the server is not down or overloaded."""


@contextmanager
def opening() -> Iterator[None]:
    """Turn NeedsOperator into ConfigError while a database is opened: then it is an error in the configuration."""
    try:
        yield
    except NeedsOperator as error:
        raise ConfigError(str(error)) from error


def translated(error: Exception, settings: MongoSettings) -> StoreError:
    """The StoreError for an error of the driver."""
    place, code = settings.place, getattr(error, "code", None) or 0
    if isinstance(error, ServerSelectionTimeoutError):
        return StoreError(f"no MongoDB that takes writes answers at {place}")
    if isinstance(error, TimeoutError) or getattr(error, "timeout", False):
        return StoreError(f"MongoDB at {place} did not answer within {settings.timeout_s:g} s")
    if isinstance(error, NotPrimaryError) or code in _NO_PRIMARY:
        return StoreError(f"MongoDB at {place} takes no writes now: it is not the primary")
    if isinstance(error, ConnectionFailure):
        return StoreError(f"the connection to MongoDB at {place} broke, or was too slow")
    if isinstance(error, DocumentTooLarge) or code in _TOO_LARGE:
        return Unstorable(f"a document became larger than MongoDB takes: {_why(error)}")
    if code in _REFUSALS:
        return NeedsOperator(f"{_REFUSALS[code].format(place=place)}: {_why(error)}")
    if code in _TROUBLES:
        return StoreError(f"{_TROUBLES[code].format(place=place)}: {_why(error)}")
    return Rejected(f"MongoDB at {place} refused: {_why(error)}")


def _why(error: Exception) -> str:
    """The server's own message, at most 200 characters."""
    details: Any = error.details if isinstance(error, OperationFailure) else None
    if isinstance(error, BulkWriteError) and details:
        details = next(iter(details.get("writeErrors") or details.get("writeConcernErrors") or ()), None)
    text = str(details.get("errmsg", "")) if isinstance(details, Mapping) else ""
    return (text or str(error))[:200]
