"""Budgets that a platform's terms declare and its answers do not report: *n* calls in any period. Pure.

Time comes in as epoch seconds. A process keeps these for itself; they are not shared by replicas.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from ghcrawl.values.section import Section


class DeclaredBudget(Section):
    """At most `calls` in any `period_s` seconds.

    per: each credential has such a budget, or all share one because the server counts by address. A call needs all
    budgets that are declared.
    """

    calls: PositiveInt
    period_s: Annotated[float, Field(gt=0, le=604_800, allow_inf_nan=False)]
    per: Literal["credential", "address"] = "credential"


class Allowance:
    """At most `calls` that begin or end within any `period_s`: no window of the server's can hold more of them.

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
        """A call begins."""
        self._open += 1

    def finish(self, now: float) -> None:
        """A call has ended."""
        self._open -= 1
        self._ended.append(now)

    def cancel(self) -> None:
        """A call was not made after all."""
        self._open -= 1
