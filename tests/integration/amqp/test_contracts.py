"""The contract of queues, on RabbitMQ."""

from __future__ import annotations

from ghcrawl.ports.queue import Pushed
from tests.contracts.adapters import Rig
from tests.contracts.patience_contract import PatienceContract
from tests.contracts.queue_contract import QueueContract, a_push, drain, pop
from tests.contracts.unit_of_work_contract import LedgerContract
from tests.support.builders import a_request, at
from tests.support.lanes import lanes


class TestQueue(QueueContract, PatienceContract):
    async def test_a_more_urgent_push_moves_the_copy_that_waits(self, rig: Rig) -> None:
        """A broker cannot take a message back: the copy that was overtaken may come too, when its turn comes later."""
        await rig.queue.push([a_push(queue="later")])
        assert await rig.queue.push([a_push(queue="immediate")]) == Pushed(bounced=1)
        assert (await pop(rig)).queue == "immediate"
        assert await drain(rig) in ([], [a_request()])

    async def test_a_copy_that_was_overtaken_is_let_go_when_its_turn_comes_first(self, rig: Rig) -> None:
        await rig.queue.push([a_push(queue="later", asked_at=at(1), root="slow")])
        await rig.queue.push([a_push(queue="immediate", asked_at=at(2), root="fast")])
        assert await rig.queue.pop(lanes("later"), patience_s=0) is None
        assert [request.root for request in await drain(rig)] == ["fast"]


class TestLedger(LedgerContract):
    pass
