"""Quotas of one process: the reference implementation."""

from __future__ import annotations

from ghcrawl.ports.quotas import Slot


class MemoryQuotas:
    """For each quota, the moments at which its slots are free, in epoch seconds."""

    def __init__(self) -> None:
        self._free_at: dict[str, list[float]] = {}

    async def take(self, quota: str, calls: int, *, now: float, until: float) -> Slot | float:
        """As the port says."""
        slots = self._free_at.setdefault(quota, [])
        first = min(range(min(calls, len(slots))), key=slots.__getitem__, default=None)
        if first is not None and slots[first] <= now:
            slots[first] = until
            return Slot(quota, first, until)
        if first is not None and len(slots) >= calls:
            return slots[first]
        slots.append(until)
        return Slot(quota, len(slots) - 1, until)

    async def release(self, slot: Slot, until: float) -> None:
        """As the port says."""
        slots = self._free_at.get(slot.quota, [])
        if slot.number < len(slots) and slots[slot.number] == slot.until:
            slots[slot.number] = min(until, slot.until)

    async def extend(self, slot: Slot, until: float) -> Slot | None:
        """As the port says."""
        slots = self._free_at.get(slot.quota, [])
        if slot.number >= len(slots) or slots[slot.number] != slot.until:
            return None
        slots[slot.number] = until
        return slot._replace(until=until)
