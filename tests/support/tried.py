"""A platform that remembers what it tried to deliver, without any HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from ghcrawl.ports.webhooks import ApiFailure, Attempt, Page
from tests.support.clock import FakeClock


@dataclass
class Tried:
    """One webhook per name, and what was tried by each. good: whether what is sent now arrives."""

    clock: FakeClock
    names: Sequence[str] = ("acme",)
    size: int = 2
    good: bool = False
    tried: dict[str, list[Attempt]] = field(default_factory=dict)
    troubles: dict[str, ApiFailure] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    pages: int = 0

    def try_(self, guid: str, *, hook: str = "acme", arrives: bool | None = None) -> None:
        tried = self.tried.setdefault(hook, [])
        arrived = self.good if arrives is None else arrives
        number = sum(len(each) for each in self.tried.values()) + 1
        tried.append(Attempt(id=number, guid=guid, at=self.clock.now(), arrived=arrived, event="issues"))

    async def found(self, name: str) -> Sequence[str] | ApiFailure:
        return self.troubles.get(name) or (name,)

    async def page(self, hook: str, cursor: str) -> Page | ApiFailure:
        await asyncio.sleep(0)
        self.pages += 1
        if trouble := self.troubles.get(f"page {cursor}".strip()):
            return trouble
        newest = [one for one in reversed(self.tried.get(hook, [])) if not cursor or one.id <= int(cursor)]
        rest = newest[self.size :]
        return Page(attempts=tuple(newest[: self.size]), next=str(rest[0].id) if rest else "")

    async def redeliver(self, hook: str, id: int) -> ApiFailure | None:
        if trouble := self.troubles.get("again"):
            return trouble
        (guid,) = (one.guid for one in self.tried[hook] if one.id == id)
        self.asked.append(guid)
        self.try_(guid, hook=hook)
        return None
