"""Deadletters: requests that failed for good, with their whole history."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from msgspec import Struct

from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Failure, Request


class Deadletter(Struct, frozen=True, kw_only=True):
    """A request that was dead-lettered, with its whole story.

    kind: the class of failure: an exception's name or `http_<status>`. Counted and filtered by.
    raw: the bytes of a message that was no request; `request` is then a stand-in.
    """

    urn: str
    request: Request
    queue: QueueName
    kind: str
    reason: str
    failures: tuple[Failure, ...]
    first_at: datetime
    last_at: datetime
    traceback: str = ""
    raw: bytes | None = None

    @classmethod
    def of(
        cls,
        request: Request,
        queue: QueueName,
        failure: Failure,
        *,
        urn: str = "",
        traceback: str = "",
        raw: bytes | None = None,
    ) -> Deadletter:
        """`request` from `queue`, dead-lettered after `failure`. urn: a new one, unless it is given."""
        failed = request.failed(failure)
        return cls(
            urn=urn or f"urn:deadletter:{uuid4()}",
            request=failed,
            queue=queue,
            kind=failure.cause,
            reason=failure.message,
            failures=failed.failures,
            first_at=failed.failures[0].at,
            last_at=failure.at,
            traceback=traceback,
            raw=raw,
        )
