"""From a running service to a snapshot of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ghcrawl.cli.snapshot import Pace, Quota, Snapshot, estimate
from ghcrawl.tally import Tally
from ghcrawl.wiring import Service

_BENCHED = {
    "secondary": "asked to pause",
    "no_principal": "has no token for now",
}


class Watcher:
    """Looks at one crawl. reserve: the part of each budget that is left to others. unpause: what ends a pause."""

    def __init__(self, service: Service, tally: Tally, *, title: str, reserve: float, unpause: str) -> None:
        self._service = service
        self._tally = tally
        self._title = title
        self._reserve = reserve
        self._unpause = unpause
        self._pace = Pace()

    async def look(self, elapsed_s: float, *, stopping: str = "") -> Snapshot:
        """The crawl as it is now. Raises QueueError."""
        service, tally, pace = self._service, self._tally, self._pace
        now = service.backend.clock.now()
        snapshot = Snapshot(
            now=now,
            title=self._title,
            elapsed_s=elapsed_s,
            depths=await service.backend.queue.depths(),
            settled=tally.done,
            saved=tally.documents,
            unchanged=tally.unchanged.total(),
            calls=tally.calls,
            free=tally.statuses[304],
            charged=tally.charged,
            quotas=quotas(service, self._reserve),
            retried=dict(tally.retried),
            throttles=dict(tally.throttles),
            buried=dict(tally.buried),
            outage=service.reach.outage,
            quota_until=_quota_until(service, now),
            paused=self._unpause if service.supervisor.tuning.paused else "",
            trouble=str(service.trouble.error) if service.trouble else "",
            restarts=service.supervisor.restarts,
            stopping=stopping,
        )
        pace.mark(elapsed_s, settled=tally.done, saved=tally.documents, waiting=snapshot.waiting)
        left = _left(snapshot, tally, pace)
        return replace(snapshot, settled_per_s=pace.settled_per_s, saved_per_s=pace.saved_per_s, left=left)


def quotas(service: Service, reserve: float) -> Sequence[Quota]:
    """One a principal, by name. reserve: the part of each budget that is left to others."""
    found: dict[str, Quota] = {}
    for view in service.github.principals():
        core = next((budget for budget in view.budgets if budget.resource == "core"), None)
        quota = Quota(label=view.label, calls=view.calls)
        if core is not None and not view.retired:
            reserved = int(core.limit * reserve)
            quota = replace(
                quota, remaining=core.remaining, limit=core.limit, reset_at=core.reset_at, reserved=reserved
            )
        if view.retired:
            quota = replace(quota, trouble=f"refused ({view.retired})", until=view.retired_until)
        elif view.benched_until is not None:
            quota = replace(quota, trouble=_BENCHED.get(view.benched_for, "waits"), until=view.benched_until)
        if view.id not in found or found[view.id].trouble:
            found[view.id] = quota
    return sorted(found.values(), key=lambda quota: quota.label)


def _quota_until(service: Service, now: datetime) -> datetime | None:
    until = service.github.blocked_until()
    return until if until is not None and until > now else None


def _left(snapshot: Snapshot, tally: Tally, pace: Pace) -> str:
    asking = sum(depth.total for name, depth in snapshot.depths.items() if name != "event")
    calls = round(asking * tally.charged / tally.fetches) if tally.fetches else asking
    known = [quota.usable for quota in snapshot.quotas if quota.remaining is not None]
    return estimate(pace, waiting=snapshot.waiting, calls=calls, quota=sum(known) if known else None)
