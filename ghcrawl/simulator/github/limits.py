"""Quota windows, which headers show, and secondary limits, which they do not."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.principals import Principal
from ghcrawl.values.frozen import replace

Resource = Literal["core", "search", "graphql"]
RESOURCES: Final[tuple[Resource, ...]] = ("core", "search", "graphql")
SEARCH_WINDOW_S: Final = 60
UNSAID_WAIT_S: Final = 60
"""How long a secondary limit lasts that says nothing of it."""

Limited = Literal["primary", "secondary"]
UNASKED: Final = {
    "integration_manifest": (5000, 3600),
    "source_import": (100, 60),
    "code_scanning_upload": (5000, 3600),
    "code_scanning_autofix": (10, 60),
    "actions_runner_registration": (10_000, 3600),
    "scim": (15_000, 3600),
    "dependency_snapshots": (100, 60),
    "dependency_sbom": (100, 60),
    "audit_log": (1750, 3600),
    "audit_log_streaming": (15, 3600),
    "code_search": (10, 60),
}
"""The budgets that nothing here is charged to: how many calls in how many seconds."""


class Budget(Struct, frozen=True, kw_only=True):
    """What the headers say of one bucket. resets_at: seconds since 1970."""

    limit: int
    used: int
    resets_at: int

    @property
    def remaining(self) -> int:
        """What is left in this window."""
        return max(0, self.limit - self.used)


class Entry(Struct, frozen=True, kw_only=True):
    """How a call was let in. limited: the limit that refuses it; knowingly: which was to be known beforehand.

    window: the end of the quota window that it was charged to; 0 where it was not.
    """

    limited: Limited | None = None
    knowingly: bool = False
    window: int = 0


@dataclass(slots=True)
class _Recent:
    """What one principal did in the last minute, and until when it is to stay away."""

    in_flight: int = 0
    calls: deque[float] = field(default_factory=deque)
    seconds: deque[tuple[float, float]] = field(default_factory=deque)
    benched_at: float = -math.inf
    benched_until: float = -math.inf


class Limits:
    """Keeps the windows of all principals. A window starts with its first call and is not rolling."""

    def __init__(self, manners: Manners, clock: Clock) -> None:
        self._secondary = manners.secondary
        self._clock = clock
        self._windows: dict[tuple[str, Resource], Budget] = {}
        self._recent: dict[str, _Recent] = {}

    def budget(self, principal: Principal, resource: Resource = "core") -> Budget:
        """The bucket as it is now; a new window starts if the last one is over."""
        key, now = (principal.name, resource), self._now()
        budget = self._windows.get(key)
        limit = {"core": principal.limit, "search": principal.search_limit, "graphql": principal.points}[resource]
        if budget is None or now >= budget.resets_at:
            window_s = SEARCH_WINDOW_S if resource == "search" else principal.window_s
            budget = self._windows[key] = Budget(limit=limit, used=0, resets_at=int(now) + math.ceil(window_s))
        return budget

    def budgets(self, principal: Principal) -> dict[str, Budget]:
        """All buckets of `principal`."""
        return {resource: self.budget(principal, resource) for resource in RESOURCES}

    def enter(self, principal: Principal, resource: Resource, *, free: bool = False) -> Entry:
        """A call arrives, and is charged at once: what is in flight is spent, and can only be refunded.

        free: it is never charged, and answered when nothing is left.
        """
        recent, now = self._of(principal), self._now()
        recent.in_flight += 1
        recent.calls.append(now)
        if now < recent.benched_until:
            return Entry(limited="secondary", knowingly=now - recent.benched_at > self._secondary.grace_s)
        budget = self.budget(principal, resource)
        if budget.remaining == 0 and not free:
            return Entry(limited="primary", knowingly=True)
        if self._exceeds(recent, now):
            self.bench(principal, self._secondary.retry_after_s)
            return Entry(limited="secondary")
        if free:
            return Entry()
        self._windows[principal.name, resource] = replace(budget, used=budget.used + 1)
        return Entry(window=budget.resets_at)

    def charge(self, principal: Principal, resource: Resource, points: int) -> None:
        """That call costs so much more than the one that it was charged when it arrived."""
        budget = self.budget(principal, resource)
        self._windows[principal.name, resource] = replace(budget, used=min(budget.limit, budget.used + points))

    def refund(self, principal: Principal, resource: Resource, entry: Entry) -> None:
        """That call turned out to be free. What was charged to a window that is over stays there."""
        budget = self.budget(principal, resource)
        if budget.resets_at == entry.window:
            self._windows[principal.name, resource] = replace(budget, used=budget.used - 1)

    def leave(self, principal: Principal, seconds: float) -> None:
        """That call was answered, after `seconds`."""
        recent = self._of(principal)
        recent.in_flight -= 1
        recent.seconds.append((self._now(), seconds))

    def bench(self, principal: Principal, retry_after_s: int | None) -> None:
        """`principal` was told to stay away; while it does not, every call is refused."""
        recent = self._of(principal)
        recent.benched_at = self._now()
        recent.benched_until = recent.benched_at + (UNSAID_WAIT_S if retry_after_s is None else retry_after_s)

    def _exceeds(self, recent: _Recent, now: float) -> bool:
        rules = self._secondary
        while recent.calls and recent.calls[0] <= now - 60:
            recent.calls.popleft()
        while recent.seconds and recent.seconds[0][0] <= now - 60:
            recent.seconds.popleft()
        return (
            (rules.concurrent is not None and recent.in_flight > rules.concurrent)
            or (rules.points_per_minute is not None and len(recent.calls) > rules.points_per_minute)
            or (
                rules.cpu_s_per_minute is not None
                and sum(seconds for _, seconds in recent.seconds) > rules.cpu_s_per_minute
            )
        )

    def _of(self, principal: Principal) -> _Recent:
        return self._recent.setdefault(principal.name, _Recent())

    def _now(self) -> float:
        return self._clock.now().timestamp()
