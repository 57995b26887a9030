"""Quotas of one process: the reference implementation."""

from __future__ import annotations

import math

from ghcrawl.ports.quotas import FORGOTTEN_AFTER_S, Slot


class MemoryQuotas:
    """The moments at which slots are free, by quota and number."""

    def __init__(self) -> None:
        self._free_at: dict[str, dict[int, float]] = {}
        self._forget_at = -math.inf

    def __len__(self) -> int:
        return sum(map(len, self._free_at.values()))

    async def take(self, quota: str, calls: int, *, now: float, until: float) -> Slot | float:
        """As the port says."""
        self._forget(now)
        slots = self._free_at.setdefault(quota, {})
        known = {number: slots[number] for number in slots if number < calls}
        number = min(known, key=known.__getitem__, default=0)
        if known and known[number] > now:
            if len(known) >= calls:
                return known[number]
            number = next(each for each in range(calls) if each not in known)
        slots[number] = until
        return Slot(quota, number, until)

    async def release(self, slot: Slot, until: float) -> None:
        """As the port says."""
        if self._has(slot):
            self._free_at[slot.quota][slot.number] = min(until, slot.until)

    async def extend(self, slot: Slot, until: float) -> Slot | None:
        """As the port says."""
        if not self._has(slot):
            return None
        self._free_at[slot.quota][slot.number] = until
        return slot._replace(until=until)

    def _has(self, slot: Slot) -> bool:
        return self._free_at.get(slot.quota, {}).get(slot.number) == slot.until

    def _forget(self, now: float) -> None:
        if now < self._forget_at:
            return
        self._forget_at = now + FORGOTTEN_AFTER_S
        for quota, slots in list(self._free_at.items()):
            kept = {number: free for number, free in slots.items() if free >= now - FORGOTTEN_AFTER_S}
            self._free_at[quota] = kept
            if not kept:
                del self._free_at[quota]
