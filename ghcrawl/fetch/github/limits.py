"""One principal's limits: what it may ask now, and when it may ask again. Pure: time comes in as epoch seconds.

A call is `take`n before it is made and `finish`ed when its answer is there, so that everything in flight counts as
spent. What the server says outranks what we reckon; where it says nothing, the call is reckoned as charged.
"""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from ghcrawl.fetch.budgets import CallWindow
from ghcrawl.fetch.github.budget import CORE, GRAPHQL, Budget, Quota, Wait, WaitReason
from ghcrawl.fetch.github.call_windows import Load

SECONDARY_S: Final = 60.0
SECONDARY_CAP_S: Final = 3600.0
BLIND_S: Final = 60.0
"""How long to wait after a primary limit that does not say until when."""
MAX_QUEUED_S: Final = 30.0


class Finished(Struct, frozen=True, kw_only=True):
    """How a call ended.

    started: when it was made. quota: what it reported; until: when that window is certainly over, by our clock.
    answered: an answer came that counts as one, not a breakdown.
    """

    started: float = 0.0
    seconds: float = 0.0
    quota: Quota | None = None
    until: float = 0.0
    answered: bool = False


class Limits:
    """All limits of one principal."""

    def __init__(
        self,
        *,
        concurrency: int,
        reserve: float,
        calls_per_min: int | None = None,
        load_s: float | None = None,
    ) -> None:
        self.budgets: dict[str, Budget] = {}
        self.in_flight = 0
        self.calls = 0
        self.benched_until = 0.0
        self.benched_for: WaitReason = "secondary"
        self._concurrency = concurrency
        self._spacing_s = 60.0 / calls_per_min if calls_per_min else 0.0
        self._reserve = reserve
        self._pace = CallWindow(calls_per_min, 60.0) if calls_per_min else None
        self._load = Load(load_s) if load_s else None
        self._strikes = 0
        self._struck_at = -math.inf
        self._mean_s = 0.1
        self._queued_until = 0.0

    def budget(self, resource: str) -> Budget:
        """The budget of `resource`, made when it is first heard of."""
        budget = self.budgets.get(resource)
        if budget is None:
            budget = self.budgets[resource] = Budget(self._reserve)
        return budget

    def change(self, *, concurrency: int, reserve: float) -> None:
        """Change the number of concurrent calls, and the share of each budget that is left to others."""
        self._concurrency, self._reserve = concurrency, reserve
        for budget in self.budgets.values():
            budget.keep(reserve)

    def wait(self, resource: str, now: float) -> Wait | None:
        """Why a call to `resource` must wait; None: it may be taken."""
        if now < self.benched_until:
            return Wait(self.benched_until, self.benched_for)
        budget = self.budget(resource)
        if resource == GRAPHQL and budget.in_flight:  # its limit is on the time that queries take, so one after another
            return Wait(now, "busy", settles=True)
        wait = budget.wait(now)
        if wait is not None:
            return wait
        if self.in_flight >= self._concurrency:
            return Wait(now, "busy", settles=True)
        if self._load is not None and (wait := self._load.wait(now, self.in_flight)) is not None:
            return wait
        if self._pace is not None and (until := self._pace.wait(now)) is not None:
            return Wait(now, "busy", settles=True) if until == math.inf else Wait(until, "busy")
        return None

    def take(self, resource: str) -> None:
        """A call to `resource` is about to be made."""
        self.in_flight += 1
        self.budget(resource).in_flight += 1
        if self._pace is not None:
            self._pace.take()

    def cancel(self, resource: str) -> None:
        """A call that was taken was not made."""
        self.in_flight -= 1
        self.budget(resource).in_flight -= 1
        if self._pace is not None:
            self._pace.cancel()

    def finish(self, resource: str, finished: Finished, now: float) -> None:
        """A call that was taken has ended so."""
        self.calls += 1
        self.in_flight -= 1
        self._mean_s += (finished.seconds - self._mean_s) * 0.2
        budget = self.budget(resource)
        budget.in_flight -= 1
        if finished.quota is not None:
            self.budget(finished.quota.resource).observe(
                finished.quota, until=finished.until, started=finished.started, now=now
            )
        else:
            budget.unreported(now, unmetered=finished.answered)
        if self._load is not None:
            self._load.finish(now, finished.seconds)
        if self._pace is not None:
            self._pace.finish(now)

    def exhaust(self, resource: str, until: float | None, now: float) -> None:
        """The primary limit of `resource` was hit; `until`, if it was said."""
        self.budget(resource).exhaust(until if until is not None and until > now else now + BLIND_S)

    def strike(self, started: float, retry_after_s: float | None, now: float) -> float:
        """A secondary limit was hit by a call that began at `started`. Returns until when nothing is asked.

        What was in flight when the first hit came is the same hit, and adds to it only what it says itself. Without
        advice: a minute, doubled each time.
        """
        again = started < self._struck_at
        if not again:
            self._strikes += 1
            self._struck_at = now
        if retry_after_s is not None:
            self.bench(now + max(1.0, retry_after_s), "secondary")
        elif not again or now >= self.benched_until:
            self.bench(now + min(SECONDARY_S * 2.0 ** (self._strikes - 1), SECONDARY_CAP_S), "secondary")
        return self.benched_until

    def bench(self, until: float, reason: WaitReason) -> None:
        """Ask nothing until `until`, or longer if that was said before."""
        if until > self.benched_until:
            self.benched_until, self.benched_for = until, reason

    def succeeded(self, started: float) -> None:
        """A call that began at `started` was answered: the server is content again."""
        if started >= self._struck_at:
            self._strikes = 0

    def closed(self, now: float, patience_s: float) -> Wait | None:
        """Why nothing can be asked of `core` for longer than `patience_s`; None: work may be taken."""
        wait = self.wait(CORE, now)
        return wait if wait is not None and not wait.settles and wait.until > now + patience_s else None

    def come_back(self, resource: str, wait: Wait, now: float) -> float:
        """When a request that met `wait` and can wait here no longer should be tried again.

        Requests that are only waiting their turn are sent away one behind the other, as fast as calls are made.
        """
        if wait.reason in ("primary", "budget") and self.budget(resource).until == wait.until:
            return self.budget(resource).put_off()
        if wait.reason != "busy":
            return wait.until
        spacing_s = max(self._mean_s / self._concurrency, self._spacing_s)
        self._queued_until = max(self._queued_until, wait.until, now) + spacing_s
        return min(self._queued_until, max(wait.until, now) + MAX_QUEUED_S)
