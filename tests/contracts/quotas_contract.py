"""What every store of quotas does. Bind it by a class with a fixture `quotas`."""

from __future__ import annotations

import asyncio
from typing import Any

from ghcrawl.ports.quotas import FORGOTTEN_AFTER_S, Quotas, Slot

HOUR = 3600.0
NOW = 1_800_000_000.125


async def take(quotas: Quotas, calls: int, *, now: float = NOW, quota: str = "web:a token") -> Slot | float:
    return await quotas.take(quota, calls, now=now, until=now + HOUR)


class QuotasContract:
    """No period holds more calls than the quota says, and each call makes room for one when its time is over."""

    async def kept(self, quotas: Any) -> int:
        """How many slots are stored."""
        raise NotImplementedError

    async def test_so_many_calls_and_not_one_more(self, quotas: Quotas):
        taken = [await take(quotas, 5) for _ in range(5)]
        assert sorted(slot.number for slot in taken if isinstance(slot, Slot)) == [0, 1, 2, 3, 4]
        assert await take(quotas, 5) == NOW + HOUR
        assert await take(quotas, 5, now=NOW + HOUR - 0.25) == NOW + HOUR
        assert isinstance(await take(quotas, 5, now=NOW + HOUR), Slot)

    async def test_each_call_makes_room_for_one(self, quotas: Quotas):
        for second in range(3):
            await take(quotas, 3, now=NOW + second)
        assert await take(quotas, 3, now=NOW + 3) == NOW + HOUR
        assert isinstance(await take(quotas, 3, now=NOW + HOUR), Slot)
        assert await take(quotas, 3, now=NOW + HOUR) == NOW + 1 + HOUR

    async def test_quotas_are_apart(self, quotas: Quotas):
        assert isinstance(await take(quotas, 1), Slot)
        assert isinstance(await take(quotas, 1, quota="web:another token"), Slot)
        assert await take(quotas, 1) == NOW + HOUR

    async def test_of_many_at_once_as_many_are_served_as_there_are_calls(self, quotas: Quotas):
        taken = await asyncio.gather(*(take(quotas, 7) for _ in range(20)))
        numbers = [slot.number for slot in taken if isinstance(slot, Slot)]
        assert sorted(numbers) == list(range(7))
        again = await asyncio.gather(*(take(quotas, 7, now=NOW + HOUR) for _ in range(20)))
        assert sum(isinstance(slot, Slot) for slot in again) == 7

    async def test_a_slot_that_is_released_is_free_from_then_on(self, quotas: Quotas):
        slot = await take(quotas, 1)
        assert isinstance(slot, Slot)
        await quotas.release(slot, NOW + 60)
        assert await take(quotas, 1) == NOW + 60
        assert isinstance(await take(quotas, 1, now=NOW + 60), Slot)

    async def test_a_slot_is_never_released_for_longer_than_it_was_taken(self, quotas: Quotas):
        slot = await take(quotas, 1)
        assert isinstance(slot, Slot)
        await quotas.release(slot, NOW + 2 * HOUR)
        assert await take(quotas, 1) == NOW + HOUR

    async def test_a_slot_can_be_kept_longer(self, quotas: Quotas):
        slot = await take(quotas, 1)
        assert isinstance(slot, Slot)
        kept = await quotas.extend(slot, NOW + 2 * HOUR)
        assert kept is not None
        assert await take(quotas, 1, now=NOW + HOUR) == NOW + 2 * HOUR
        await quotas.release(slot, NOW)
        assert await take(quotas, 1) == NOW + 2 * HOUR, "the slot as it was is nobody's any more"
        await quotas.release(kept, NOW + 1)
        assert await take(quotas, 1) == NOW + 1

    async def test_a_slot_that_is_anothers_now_is_not_kept(self, quotas: Quotas):
        slot = await take(quotas, 1)
        assert isinstance(slot, Slot)
        assert isinstance(await take(quotas, 1, now=NOW + HOUR), Slot)
        assert await quotas.extend(slot, NOW + 9 * HOUR) is None
        assert await take(quotas, 1, now=NOW + HOUR) == NOW + 2 * HOUR

    async def test_who_releases_too_late_frees_nobody_elses(self, quotas: Quotas):
        slot = await take(quotas, 1)
        assert isinstance(slot, Slot)
        assert isinstance(await take(quotas, 1, now=NOW + HOUR), Slot)
        await quotas.release(slot, NOW)
        assert await take(quotas, 1, now=NOW + HOUR) == NOW + 2 * HOUR

    async def test_a_quota_that_was_changed_holds_at_once(self, quotas: Quotas):
        for _ in range(3):
            await take(quotas, 3)
        assert isinstance(await take(quotas, 4), Slot)
        assert await take(quotas, 2) == NOW + HOUR

    async def test_slots_of_quotas_that_nobody_asks_for_any_more_are_forgotten(self, quotas: Quotas):
        for host in range(20):
            await take(quotas, 1, quota=f"social:{host}")
        await take(quotas, 1, quota="social:0", now=NOW + HOUR)
        later = NOW + HOUR + FORGOTTEN_AFTER_S
        await take(quotas, 1, quota="social:1", now=later)
        assert await self.kept(quotas) == 20, "all but the first have been free for exactly as long as they are kept"
        await take(quotas, 1, quota="social:2", now=later + FORGOTTEN_AFTER_S)
        assert await self.kept(quotas) == 3
        assert await take(quotas, 1, quota="social:1", now=later + 1) == later + HOUR

    async def test_what_was_forgotten_leaves_room_for_as_many_calls_and_not_one_more(self, quotas: Quotas):
        first = [await take(quotas, 5, now=NOW + second) for second in range(5)]
        assert isinstance(first[3], Slot)
        kept = await quotas.extend(first[3], NOW + 3 * HOUR)
        later = NOW + 2 * HOUR + FORGOTTEN_AFTER_S - 1
        await take(quotas, 1, quota="social:another", now=later)
        assert await self.kept(quotas) == 2, "the one that is taken, in the middle, and that of the other quota"
        taken = [await take(quotas, 5, now=later) for _ in range(5)]
        assert sorted(slot.number for slot in taken if isinstance(slot, Slot)) == [0, 1, 2, 4]
        assert taken[4] == NOW + 3 * HOUR
        assert kept is not None
        assert await quotas.extend(first[0], later + 9 * HOUR) is None, "it is forgotten, and taken again"  # type: ignore[arg-type]
