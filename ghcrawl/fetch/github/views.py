"""What may be shown of credentials and their budgets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ghcrawl.fetch.github.seat import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetView:
    """What is left of one resource, as far as the last answers told. reset_at is by our clock."""

    resource: str
    limit: int
    remaining: int
    reset_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalView:
    """One credential and the principal behind it, for people and metrics; nothing here is secret.

    id: the principal's; the same on several views where several tokens share a budget.
    retired: why the credential is not used; empty while it is.
    """

    id: str
    label: str
    fingerprint: str
    traits: tuple[str, ...]
    budgets: tuple[BudgetView, ...]
    calls: int
    in_flight: int
    benched_until: datetime | None = None
    benched_for: str = ""
    retired_until: datetime | None = None
    retired: str = ""


def view(seat: Seat, now: float) -> PrincipalView:
    """What is known of `seat` at `now`."""
    limits = seat.lane.limits
    budgets = tuple(
        BudgetView(
            resource=name,
            limit=budget.limit,
            remaining=budget.remaining,
            reset_at=datetime.fromtimestamp(budget.until, UTC),
        )
        for name, budget in sorted(limits.budgets.items())
        if budget.known and now < budget.until
    )
    benched, retired = now < limits.benched_until, now < seat.retired_until
    traits = seat.traits
    flags = [name for name in ("public", "private", "admin") if getattr(traits, name)]
    return PrincipalView(
        id=seat.principal_id,
        label=seat.credential.label,
        fingerprint=seat.fingerprint,
        traits=(*flags, *(f"org:{org}" for org in sorted(traits.orgs))),
        budgets=budgets,
        calls=limits.calls,
        in_flight=limits.in_flight,
        benched_until=datetime.fromtimestamp(limits.benched_until, UTC) if benched else None,
        benched_for=limits.benched_for if benched else "",
        retired_until=datetime.fromtimestamp(seat.retired_until, UTC) if retired else None,
        retired=seat.retired_for if retired else "",
    )
