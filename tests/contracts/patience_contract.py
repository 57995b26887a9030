"""How pops wait on every queue. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

import asyncio

from ghcrawl.values.lanes import QUEUES
from tests.contracts.adapters import Rig
from tests.contracts.queue_contract import PATIENT_S, a_push, pop
from tests.support.lanes import LANES, lanes


class PatienceContract:
    """A pop that finds nothing sleeps until something comes, and one that is cancelled takes nothing with it."""

    async def test_a_pop_without_patience_does_not_wait(self, rig: Rig) -> None:
        async with asyncio.timeout(PATIENT_S):
            assert await rig.queue.pop(LANES, patience_s=0) is None

    async def test_patience_ends(self, rig: Rig) -> None:
        assert await rig.queue.pop(LANES, patience_s=0.01) is None

    async def test_a_push_wakes_a_pop_that_waits(self, rig: Rig) -> None:
        waiting = asyncio.create_task(rig.queue.pop(LANES, patience_s=PATIENT_S))
        await self.settled_down(rig)
        await rig.queue.push([a_push()])
        async with asyncio.timeout(PATIENT_S / 3):
            assert await waiting is not None

    async def test_a_release_wakes_a_pop_that_waits(self, rig: Rig) -> None:
        await rig.queue.push([a_push()])
        delivery = await pop(rig)
        waiting = asyncio.create_task(rig.queue.pop(LANES, patience_s=PATIENT_S))
        await self.settled_down(rig)
        await delivery.release()
        async with asyncio.timeout(PATIENT_S / 3):
            assert await waiting is not None

    async def test_of_many_that_wait_each_gets_what_it_waits_for(self, rig: Rig) -> None:
        waiting = {name: asyncio.create_task(rig.queue.pop(lanes(name), patience_s=PATIENT_S)) for name in QUEUES}
        await self.settled_down(rig)
        await rig.queue.push([a_push(n, name) for n, name in enumerate(QUEUES)])
        async with asyncio.timeout(PATIENT_S / 3):
            popped = await asyncio.gather(*waiting.values())
        assert [delivery.queue for delivery in popped if delivery is not None] == list(QUEUES)

    async def test_a_cancelled_pop_loses_nothing(self, rig: Rig) -> None:
        for turns in range(8):
            waiting = [asyncio.create_task(rig.queue.pop(LANES, patience_s=PATIENT_S)) for _ in range(3)]
            push = asyncio.create_task(rig.queue.push([a_push(turns)]))
            for _ in range(turns):
                await asyncio.sleep(0)
            for task in waiting:
                task.cancel()
            popped = await asyncio.gather(*waiting, return_exceptions=True)
            await push
            for delivery in popped:
                if delivery is not None and not isinstance(delivery, BaseException):
                    await delivery.release()
            async with asyncio.timeout(PATIENT_S):
                again = await rig.queue.pop(LANES, patience_s=PATIENT_S)
            assert again is not None
            await again.ack()
            assert await rig.queue.is_empty()

    async def settled_down(self, rig: Rig) -> None:
        """Return once a pop that was started before has found nothing and waits."""
        assert await rig.queue.pop(LANES, patience_s=0) is None
        for _ in range(20):
            await asyncio.sleep(0)
