"""Requests that were dead-lettered: list, count, read, delete."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.frozen import replace
from ghcrawl.values.type_names import TypeName


class DeadletterFilter(Struct, frozen=True, kw_only=True):
    """Which deadletters are meant. Empty fields admit everything.

    reason: text that the reason contains, case-insensitive.
    host: the host of the request's URL.
    before: buried before this moment.
    """

    urns: tuple[str, ...] = ()
    types: tuple[TypeName, ...] = ()
    platforms: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    reason: str = ""
    host: str = ""
    before: datetime | None = None

    def until(self, now: datetime) -> DeadletterFilter:
        """The same, but never what is buried from `now` on."""
        return replace(self, before=min(now, self.before) if self.before else now)


class DeadletterCounts(Struct, frozen=True, kw_only=True):
    """How many deadletters a filter admits: in all, by type (which names its platform), and by class of failure.

    by_platform: platform → class → number. A client of a service has none: the API does not show it.
    """

    total: int = 0
    by_type: Mapping[TypeName, int] = {}
    by_kind: Mapping[str, int] = {}
    by_platform: Mapping[str, Mapping[str, int]] = {}

    @classmethod
    def of(cls, numbers: Iterable[tuple[TypeName, str, int]]) -> DeadletterCounts:
        """The sums of numbers of a type and a class."""
        by_type, by_kind, by_platform = Counter[TypeName](), Counter[str](), defaultdict[str, Counter[str]](Counter)
        for type, kind, number in numbers:
            by_type[type] += number
            by_kind[kind] += number
            by_platform[type.platform][kind] += number
        return cls(total=by_type.total(), by_type=by_type, by_kind=by_kind, by_platform=by_platform)


class Requeued(Struct, frozen=True, kw_only=True):
    """The result of a requeue.

    queued: requests that were pushed. bounced: requests that were waiting already.
    unreadable: deadletters that stay, because their messages are no readable requests.
    left: deadletters that match but were not handled within the time_budget.
    before: pass it in the filter of the next call to handle exactly those; None if none are left.
    """

    queued: int = 0
    bounced: int = 0
    unreadable: int = 0
    left: int = 0
    before: datetime | None = None


class Forgotten(Struct, frozen=True, kw_only=True):
    """The result of a deletion. left, before: as in `Requeued`."""

    deleted: int = 0
    left: int = 0
    before: datetime | None = None


class Deadletters(Protocol):
    """Requests that were dead-lettered. Contract: `tests/contracts/deadletter_contract.py`."""

    async def bury(self, deadletter: Deadletter) -> None:
        """Keep it. Burying the same URN twice keeps one."""

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """Up to `limit` of them, newest first; `after` continues behind that URN."""

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """How many there are, by type and class."""

    async def get(self, urn: str) -> Deadletter | None:
        """One of them."""

    async def delete(self, urns: Sequence[str]) -> int:
        """Forget these. Returns how many were there."""
