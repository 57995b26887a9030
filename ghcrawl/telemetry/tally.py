"""What a crawl came to, in the figures that its summary shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ghcrawl.ports.observer import Call, Settled
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName, TypeNames

MAX_ROOTS = 100
_UNASKED = frozenset({"visited", "not_ready"})
"""Skips that say nothing about whether a thing is there."""


@dataclass(slots=True)
class Quota:
    """The budget of one principal as its last answer reported it."""

    calls: int = 0
    limit: int | None = None
    remaining: int | None = None
    reset_at: datetime | None = None


@dataclass(slots=True)
class Tally:
    """An observer that counts. Bounded: types, reasons and classes are few, principals are as many as we hold.

    asked: the names (`Request.name`) of what a person asked for; empty: every request without ancestors.
    refused_roots: URL, reason and detail of those that led to nothing.
    fetches: requests that are done and did not carry what they asked for.
    free: calls that found nothing new and cost nothing; where a platform charges those, too, there are none.
    """

    asked: frozenset[str] = frozenset()

    settled_count: int = 0
    fetches: int = 0
    saved: Counter[TypeName] = field(default_factory=Counter)
    unchanged: Counter[TypeName] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    deferred: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)
    buried: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    throttles: Counter[str] = field(default_factory=Counter)
    charged: int = 0
    free: int = 0
    quotas: dict[str, Quota] = field(default_factory=dict)
    refused_roots: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Requests that will not come back."""
        return self.settled_count - self.deferred.total() - self.retried.total()

    @property
    def calls(self) -> int:
        """Calls to the platform, by any status; 0: no answer."""
        return sum(self.statuses.values())

    @property
    def documents(self) -> int:
        """Documents written."""
        return sum(self.saved.values())

    def settled(self, settled: Settled) -> None:
        """Count it."""
        self.settled_count += 1
        request = settled.request
        if settled.outcome in ("save", "skip", "bury") and request.payload is None:
            self.fetches += 1
        match settled.outcome:
            case "save" if settled.saved == "saved":
                self.saved[request.type_name] += 1
            case "save":
                self.unchanged[request.type_name] += 1
            case "skip":
                self._skipped(settled)
            case "defer":
                self.deferred[settled.reason] += 1
            case "retry":
                self.retried[settled.cause] += 1
            case "bury":
                self.buried[settled.cause] += 1

    def _skipped(self, settled: Settled) -> None:
        request = settled.request
        if settled.reason == "unchanged":
            self.unchanged[request.type_name] += 1
            return
        self.skipped[settled.reason] += 1
        is_root = request.name in self.asked if self.asked else request.is_root
        led_on = settled.pushed.queued or settled.pushed.bounced
        if is_root and not led_on and settled.reason not in _UNASKED and len(self.refused_roots) < MAX_ROOTS:
            self.refused_roots.append((request.url, settled.reason, settled.detail))

    def called(self, call: Call) -> None:
        """Count it."""
        self.statuses[call.status] += 1
        self.charged += call.charged
        self.free += call.status == 304 and not call.charged
        if call.throttle:
            self.throttles[call.throttle] += 1
        quota = self.quotas.setdefault(call.principal, Quota())
        quota.calls += 1
        if call.remaining is not None:
            quota.limit, quota.remaining, quota.reset_at = call.limit, call.remaining, call.reset_at

    def done_of_history(self) -> Mapping[str, float]:
        """What `ghcrawl.telemetry.history` keeps of it."""
        return {
            "settled": self.settled_count - self.deferred.total(),
            "saved": self.documents,
            "calls": self.calls,
            "failed": self.retried.total() + self.buried.total(),
            "throttled": self.throttles.total(),
        }

    def figures(self) -> Mapping[str, object]:
        """The same as a JSON object: what `--json` prints."""
        names = TypeNames({*self.saved, *self.unchanged})
        return {
            "requests": {
                "settled": self.settled_count,
                "done": self.done,
                "skipped": dict(self.skipped),
                "deferred": dict(self.deferred),
                "retried": dict(self.retried),
            },
            "documents": {
                "saved": self.documents,
                "saved_by_type": dict(sorted(names.shown(self.saved).items())),
                "unchanged_by_type": dict(sorted(names.shown(self.unchanged).items())),
            },
            "calls": {
                "total": self.calls,
                "charged": self.charged,
                "not_modified": self.statuses[304],
                "by_status": {str(status): count for status, count in sorted(self.statuses.items())},
                "throttled": dict(self.throttles),
                "unanswered": self.statuses[0],
                "per_document": round(self.charged / self.documents, 4) if self.documents else None,
            },
            "principals": {
                name: {
                    "calls": quota.calls,
                    "limit": quota.limit,
                    "remaining": quota.remaining,
                    "reset_at": iso(quota.reset_at) if quota.reset_at else None,
                }
                for name, quota in self.quotas.items()
            },
            "deadletters": {"buried": dict(self.buried)},
        }
