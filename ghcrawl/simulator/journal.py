"""What was asked, and what it cost: tests read it."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

MAX_URLS: Final = 500_000


class Call(Struct, frozen=True, kw_only=True):
    """One call. target: path and query as asked. violation: the limit that it was made over, knowingly."""

    at: datetime
    method: str
    target: str
    principal: str
    status: int
    charged: bool
    conditional: bool
    seconds: float = 0.0
    violation: str = ""


class Journal:
    """Counts everything, keeps the last `size` calls."""

    def __init__(self, size: int = 10_000) -> None:
        self.calls: deque[Call] = deque(maxlen=size)
        self.violations: deque[Call] = deque(maxlen=size)
        self._written = asyncio.Event()
        self.clear()

    def clear(self) -> None:
        """Forget all calls: a test does so between two crawls."""
        self.calls.clear()
        self.violations.clear()
        self.total = 0
        self.charged = 0
        self.not_modified = 0
        self.violated = 0
        self.statuses: Counter[int] = Counter()
        self.by_principal: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()

    def write(self, call: Call) -> None:
        """`call` was answered."""
        self.calls.append(call)
        self.total += 1
        self.charged += call.charged
        self.statuses[call.status] += 1
        self.by_principal[call.principal] += call.charged
        if call.violation:
            self.violations.append(call)
            self.violated += 1
        if call.status == 304:
            self.not_modified += 1
        elif call.target in self._answered or len(self._answered) < MAX_URLS:
            self._answered[call.target] += 1
        self._written.set()

    async def reached(self, total: int) -> None:
        """Return once that many calls were answered since `clear`."""
        while self.total < total:
            self._written.clear()
            await self._written.wait()

    def answered(self, target: str) -> int:
        """How often that path and query was answered with anything but 304."""
        return self._answered[target]

    def repeated(self) -> Mapping[str, int]:
        """What was answered more than once with anything but 304, and how often."""
        return {target: count for target, count in self._answered.items() if count > 1}

    def targets(self) -> frozenset[str]:
        """Everything that was ever answered with anything but 304 (the first half a million of it)."""
        return frozenset(self._answered)
