"""Quotas in MongoDB, shared by all replicas.

ghcrawl.quotas  {"_id": "QUOTA#NUMBER", "quota", "number", "until": epoch seconds}
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, Final, Self

from ghcrawl.ports.quotas import FORGOTTEN_AFTER_S, Slot
from stores.mongo.driver import OURS, Mongo
from stores.mongo.errors import opening
from stores.mongo.settings import Index

QUOTAS: Final = f"{OURS}quotas"
INDEXES: Final = (Index(name="until", fields=("quota", "until")), Index(name="free", fields=("until",)))
CHOICES: Final = 8
"""Free slots that are read per attempt. Each replica picks one at random, so that concurrent ones rarely collide."""


class MongoQuotas:
    """As the port says. Taking a slot is a compare-and-swap of its `until`, on one document."""

    def __init__(self, mongo: Mongo) -> None:
        self._mongo = mongo.strict()
        self._forget_at = -math.inf

    @classmethod
    async def open(cls, mongo: Mongo) -> Self:
        """The quotas, with their index. Raises ConfigError, StoreError."""
        with opening():
            await mongo.index(QUOTAS, *INDEXES)
        return cls(mongo)

    async def take(self, quota: str, calls: int, *, now: float, until: float) -> Slot | float:
        """As the port says."""
        await self._forget(now)
        while True:
            rows = await self._mongo.find(
                QUOTAS, {"quota": quota, "number": {"$lt": calls}}, first="until", limit=CHOICES
            )
            free = [row for row in rows if row["until"] <= now]
            slot = await self._claim(free, until) if free else await self._add(quota, rows, calls, until)
            if slot is not None:
                return slot

    async def _claim(self, free: Sequence[dict[str, Any]], until: float) -> Slot | None:
        """Take one of these slots at random; None if another replica took it first."""
        row = random.choice(free)  # noqa: S311  # only spreads replicas over the slots
        which = {"_id": row["_id"], "until": row["until"]}
        taken = await self._mongo.update(QUOTAS, which, {"$set": {"until": until}})
        return Slot(row["quota"], row["number"], until) if taken else None

    async def _add(self, quota: str, rows: Sequence[dict[str, Any]], calls: int, until: float) -> Slot | float | None:
        """One more slot, where the quota has not made all of them yet; None: another replica made this one."""
        which = {"quota": quota, "number": {"$lt": calls}}
        number = await self._mongo.count(QUOTAS, which)
        if number >= calls and rows:
            return float(rows[0]["until"])
        if await self._insert(quota, number, until):
            return Slot(quota, number, until)
        known = {row["number"] for row in await self._mongo.find(QUOTAS, which, {"number": 1})}
        missing = [each for each in range(calls) if each not in known]  # forgotten ones leave gaps
        number = random.choice(missing or [0])  # noqa: S311  # only spreads replicas over the slots
        return Slot(quota, number, until) if await self._insert(quota, number, until) else None

    async def _insert(self, quota: str, number: int, until: float) -> bool:
        row = {"_id": f"{quota}#{number}", "quota": quota, "number": number, "until": until}
        return await self._mongo.insert(QUOTAS, row)

    async def _forget(self, now: float) -> None:
        if now >= self._forget_at:
            self._forget_at = now + FORGOTTEN_AFTER_S
            await self._mongo.delete(QUOTAS, {"until": {"$lt": now - FORGOTTEN_AFTER_S}})

    async def release(self, slot: Slot, until: float) -> None:
        """As the port says."""
        which = {"_id": f"{slot.quota}#{slot.number}", "until": slot.until}
        await self._mongo.update(QUOTAS, which, {"$set": {"until": min(until, slot.until)}})

    async def extend(self, slot: Slot, until: float) -> Slot | None:
        """As the port says."""
        which = {"_id": f"{slot.quota}#{slot.number}", "until": slot.until}
        kept = await self._mongo.update(QUOTAS, which, {"$set": {"until": until}})
        return slot._replace(until=until) if kept else None
