"""From a running service to a snapshot of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ghcrawl.cli.snapshot import Pace, Quota, Snapshot, estimate
from ghcrawl.cli.unsupported_requests import ours
from ghcrawl.fetch.circuit_breaker import Outage
from ghcrawl.ports.queue import by_queue
from ghcrawl.ports.source import PrincipalView
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.frozen import replace
from ghcrawl.wiring import Service

_BENCHED = {
    "secondary": "secondary rate limit",
    "no_principal": "no valid token",
}


class Watcher:
    """Looks at one crawl. unpause: what ends a pause."""

    def __init__(self, service: Service, tally: Tally, *, title: str, unpause: str) -> None:
        self._service = service
        self._tally = tally
        self._title = title
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
            depths=by_queue(ours(await service.backend.queue.depths(), service.engine.platforms)),
            settled=tally.done,
            saved=tally.documents,
            unchanged=tally.unchanged.total(),
            calls=tally.calls,
            free=tally.free,
            charged=tally.charged,
            quotas=quotas(service),
            retried=dict(tally.retried),
            throttles=dict(tally.throttles),
            buried=dict(tally.buried),
            outage=outage_of(service),
            quota_until=_quota_until(service, now),
            paused=self._unpause if service.supervisor.tuning.paused else "",
            trouble=str(service.outage.error) if service.outage else "",
            restarts=service.supervisor.restarts,
            stopping=stopping,
        )
        pace.mark(elapsed_s, settled=tally.done, saved=tally.documents, waiting=snapshot.waiting)
        left = _left(snapshot, tally, pace)
        return replace(snapshot, settled_per_s=pace.settled_per_s, saved_per_s=pace.saved_per_s, left=left)


def quotas(service: Service) -> Sequence[Quota]:
    """One a principal of the platforms that are asked, by name; with its platform's name where those are several."""
    views = {name: opened.source.principals() for name, opened in service.opened.items()}
    asked = [name for name, found in views.items() if any(view.calls for view in found)] or [*views][:1]
    several = len(asked) > 1
    found: dict[tuple[str, str], Quota] = {}
    for name in asked:
        for view in views[name]:
            key = (name, view.id)
            if key not in found or found[key].trouble:
                found[key] = _quota(view, f"{name} {view.label}" if several else view.label)
    return sorted(found.values(), key=lambda quota: quota.label)


def _quota(view: PrincipalView, label: str) -> Quota:
    quota = Quota(label=label, calls=view.calls)
    main = next((budget for budget in view.budgets if budget.main), None)
    if main is not None and not view.retired:
        quota = replace(
            quota, remaining=main.remaining, limit=main.limit, reset_at=main.reset_at, reserved=main.reserved
        )
    if view.retired:
        return replace(quota, trouble=f"refused ({view.retired})", until=view.retired_until)
    if view.benched_until is not None:
        return replace(quota, trouble=_BENCHED.get(view.benched_for, "waits"), until=view.benched_until)
    return quota


def outage_of(service: Service) -> Outage | None:
    """The outage that has lasted longest; None: every platform can be reached."""
    found = [opened.breaker.outage for opened in service.opened.values()]
    return min((outage for outage in found if outage is not None), key=lambda outage: outage.since, default=None)


def _quota_until(service: Service, now: datetime) -> datetime | None:
    """When the first of the platforms without quota can be asked again; None: each of them can be."""
    found = [opened.source.blocked_until() for opened in service.opened.values()]
    return min((until for until in found if until is not None and until > now), default=None)


def _left(snapshot: Snapshot, tally: Tally, pace: Pace) -> str:
    asking = sum(depth.total for name, depth in snapshot.depths.items() if name != "event")
    calls = round(asking * tally.charged / tally.fetches) if tally.fetches else asking
    known = [quota.usable for quota in snapshot.quotas if quota.remaining is not None]
    return estimate(pace, waiting=snapshot.waiting, calls=calls, quota=sum(known) if known else None)
