"""Budgets that a platform's terms declare: *n* calls in any period, for each credential and for each address.

`DeclaredBudgets` keeps them together with all replicas. `CallWindow` is one process's own pace, and pure.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

import structlog
from pydantic import Field, PositiveInt

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.quotas import Egress, Slot
from ghcrawl.values.errors import StoreError
from ghcrawl.values.section import Section

log = structlog.stdlib.get_logger(__name__)

UNKNOWN_ADDRESS: Final = "default"


class DeclaredBudget(Section):
    """At most `calls` in any `period_s` seconds.

    per: each credential has such a budget, or all share one because the server counts by address. A call needs all
    budgets that are declared. Replicas share them.
    """

    calls: PositiveInt
    period_s: Annotated[float, Field(gt=0, le=604_800, allow_inf_nan=False)]
    per: Literal["credential", "address"] = "credential"


class CallWindow:
    """At most `calls` that start or end within any `period_s`: no window of the server's can hold more of them.

    Counted from the end of a call, because it may have reached the server at any moment until then.
    """

    def __init__(self, calls: int, period_s: float) -> None:
        self._calls = calls
        self._period_s = period_s
        self._open = 0
        self._ended: deque[float] = deque()

    def wait(self, now: float) -> float | None:
        """When there is room: None: now; infinity: when a call in flight has ended and its time is over."""
        ended = self._ended
        while ended and ended[0] + self._period_s <= now:
            ended.popleft()
        excess = self._open + len(ended) - self._calls
        if excess < 0:
            return None
        return ended[excess] + self._period_s if excess < len(ended) else math.inf

    def take(self) -> None:
        """A call starts."""
        self._open += 1

    def finish(self, now: float) -> None:
        """A call has ended."""
        self._open -= 1
        self._ended.append(now)

    def cancel(self) -> None:
        """A call was not made after all."""
        self._open -= 1


class Spent(NamedTuple):
    """One call of one budget, taken."""

    slot: Slot
    period_s: float


class DeclaredBudgets:
    """The declared budgets of one platform, shared by all replicas.

    longest_s: no call is longer in flight. A call of a process that dies stays counted for this time.
    """

    def __init__(
        self, platform: str, budgets: Sequence[DeclaredBudget], egress: Egress, clock: Clock, *, longest_s: float
    ) -> None:
        self._platform = platform
        smallest = sorted(budgets, key=lambda budget: -budget.calls)
        self._budgets = tuple({(budget.per, budget.period_s): budget for budget in smallest}.values())
        self._egress = egress
        self._clock = clock
        self._longest_s = longest_s

    def __bool__(self) -> bool:
        return bool(self._budgets)

    async def take(self, principal: str, *, host: str = "") -> tuple[Spent, ...] | float:
        """One call of every budget; or when there may be one again, in epoch seconds. Raises StoreError.

        principal: the credential; empty: none, so only the budgets of the address apply. host: of a platform of many
        hosts, each with budgets of its own.
        """
        taken: list[Spent] = []
        now = self._clock.now().timestamp()
        for budget in self._budgets:
            if budget.per == "credential" and not principal:
                continue
            quota, until = self._quota(budget, principal, host), now + self._longest_s + budget.period_s
            slot = await self._egress.quotas.take(quota, budget.calls, now=now, until=until)
            if not isinstance(slot, Slot):
                await self.cancel(taken)
                return min(
                    slot, now + budget.period_s
                )  # calls in flight hold theirs for the longest that they can last
            taken.append(Spent(slot, budget.period_s))
        return tuple(taken)

    async def finish(self, call: Sequence[Spent]) -> None:
        """The call has ended just now: until then it may have reached the server."""
        now = self._clock.now().timestamp()
        for spent in call:
            await self._release(spent.slot, now + spent.period_s)

    async def cancel(self, call: Sequence[Spent]) -> None:
        """The call was not made after all."""
        now = self._clock.now().timestamp()
        for spent in call:
            await self._release(spent.slot, now)

    async def _release(self, slot: Slot, until: float) -> None:
        try:
            await self._egress.quotas.release(slot, until)
        except StoreError as error:  # it stays counted for as long as the longest call could take
            log.warning("quota_not_released", quota=slot.quota, error=str(error))

    def _quota(self, budget: DeclaredBudget, principal: str, host: str) -> str:
        """Names the quota; nothing in it is secret."""
        whose = principal if budget.per == "credential" else self._egress.address or UNKNOWN_ADDRESS
        return f"{self._platform}/{host}/{budget.per}/{whose}/{budget.period_s:g}"
