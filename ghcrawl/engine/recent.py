"""What this process settled recently: a cheap first look before a request is queued or asked again."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from typing import TypeAlias

from ghcrawl.values.outcome import Outcome, Skip
from ghcrawl.values.requests import Request

Target: TypeAlias = tuple[str, str, str]
"""Platform, type and URL: two requests for one target are answered by the same call."""


class RecentlySettled:
    """The requests that this process settled recently.

    Only a short cut to what `Document.visits` says, and bounded: forgetting one costs a look-up, nothing else.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self._at: OrderedDict[bytes | Target, datetime] = OrderedDict()

    def add(self, request: Request, outcome: Outcome, at: datetime) -> None:
        """Remember that `request` was settled with data of `at` or later, unless it has a payload."""
        if request.payload is not None:
            return
        self._remember(request.key, at)
        if request.context.deleted_at is None and isinstance(outcome, Skip) and outcome.is_refusal:
            self._remember(target_of(request), at)

    def _remember(self, key: bytes | Target, at: datetime) -> None:
        self._at[key] = max(at, self._at.get(key, at))
        self._at.move_to_end(key)
        if len(self._at) > self._limit:
            self._at.popitem(last=False)

    def covers(self, request: Request) -> bool:
        """Whether this was settled since it was asked for."""
        if request.asked_at is None or request.payload is not None:
            return False
        at = self._at.get(request.key)
        return (at is not None and at >= request.asked_at) or self.refused(request)

    def refused(self, request: Request) -> bool:
        """Whether the platform refused this URL since it was requested, under any policy."""
        at = self._at.get(target_of(request))
        return at is not None and request.asked_at is not None and at >= request.asked_at


def target_of(request: Request) -> Target:
    """What `request` asks for."""
    return request.platform, request.type, request.url
