"""Views of credentials and their budgets, without secrets."""

from __future__ import annotations

from datetime import UTC, datetime

from ghcrawl.fetch.github.budget import CORE
from ghcrawl.fetch.github.credential_slot import CredentialSlot
from ghcrawl.ports.source import BudgetView, PrincipalView


def view(slot: CredentialSlot, now: float) -> PrincipalView:
    """The view of a credential slot at `now`."""
    limits = slot.limiter.limits
    budgets = tuple(
        BudgetView(
            resource=name,
            limit=budget.limit,
            remaining=budget.remaining,
            reset_at=datetime.fromtimestamp(budget.until, UTC),
            reserved=budget.floor,
            main=name == CORE,
        )
        for name, budget in sorted(limits.budgets.items())
        if budget.known and now < budget.until
    )
    benched, retired = now < limits.benched_until, now < slot.retired_until
    traits = slot.traits
    flags = [name for name in ("public", "private", "admin") if getattr(traits, name)]
    return PrincipalView(
        id=slot.principal_id,
        label=slot.credential.label,
        fingerprint=slot.fingerprint,
        traits=(*flags, *(f"org:{org}" for org in sorted(traits.orgs))),
        budgets=budgets,
        calls=limits.calls,
        in_flight=limits.in_flight,
        anonymous=slot.anonymous,
        benched_until=datetime.fromtimestamp(limits.benched_until, UTC) if benched else None,
        benched_for=limits.benched_for if benched else "",
        retired_until=datetime.fromtimestamp(slot.retired_until, UTC) if retired else None,
        retired=slot.retired_for if retired else "",
    )
