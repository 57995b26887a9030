"""How many calls an hour scheduled work may make, from what the credentials have left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from ghcrawl.ports.source import BudgetView, PrincipalView

UNKNOWN_AN_HOUR: Final = 60.0
"""Of a credential whose budget no answer has shown yet."""
LEAST_H: Final = 1.0 / 60.0


def hourly(principals: Sequence[PrincipalView], now: datetime, share: float) -> float:
    """Calls an hour: `share` of what each principal may spend until its budget is renewed.

    Calls for people and events reduce what is left, so the schedule makes room for them.
    """
    by_id = {each.id: each for each in principals if not each.retired}
    return share * sum(_of(each, now) for each in by_id.values())


def _of(principal: PrincipalView, now: datetime) -> float:
    if principal.benched_until is not None and principal.benched_until > now:
        return 0.0
    main = next((each for each in principal.budgets if each.main), None)
    return UNKNOWN_AN_HOUR if main is None else _left(main, now)


def _left(budget: BudgetView, now: datetime) -> float:
    full = float(max(budget.limit - budget.reserved, 0))
    hours = (budget.reset_at - now).total_seconds() / 3600.0
    if hours <= 0:  # renewed meanwhile
        return full
    return min(full, max(budget.remaining - budget.reserved, 0) / max(hours, LEAST_H))
