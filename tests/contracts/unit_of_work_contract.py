"""What every ledger does. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

import asyncio

import pytest

from ghcrawl.ports.queue import Delivery, Pushed, by_queue
from ghcrawl.ports.store import DocumentFilter, Touch
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.values.errors import Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Payload, Push
from ghcrawl.values.times import iso
from tests.contracts.adapters import Rig
from tests.support.builders import NOW, a_deadletter, a_document, a_request, a_type, at
from tests.support.lanes import lanes


async def popped(rig: Rig, number: int = 1) -> Delivery:
    await rig.queue.push([Push(request=a_request(number), queue="normal")])
    delivery = await rig.queue.pop(lanes("normal"), patience_s=0)
    assert delivery is not None
    return delivery


def follow_ups(*numbers: int) -> tuple[Push, ...]:
    return tuple(Push(request=a_request(number), queue="soon") for number in numbers)


class LedgerContract:
    """What a settled request leaves behind is durable, and only then is the request gone."""

    async def test_everything_is_durable_and_the_request_is_gone(self, rig: Rig) -> None:
        delivery = await popped(rig)
        effects = Effects(pushes=follow_ups(2, 3), document=a_document())
        assert await rig.unit_of_work.commit(delivery, effects) == Committed(pushed=Pushed(queued=2), saved="saved")
        await rig.crash()
        assert await rig.store.get(a_document().urn) == a_document()
        depths = by_queue(await rig.queue.depths())
        assert (depths["soon"].ready, depths["normal"].total) == (2, 0)

    async def test_what_a_request_carried_is_durable_with_it(self, rig: Rig) -> None:
        changed_at, question = iso(NOW), Push(request=a_request(9), queue="soon", not_before=at(10))
        await rig.store.save(a_document(3, title="one", changed_at=changed_at, observed_at=at(1)))
        tied = a_document(3, title="other", changed_at=changed_at, observed_at=at(2))
        carried = (
            Effects(document=a_document(2), pushes=follow_ups(2, 3)),
            Effects(document=tied, asks=lambda saved: question if saved == "tied" else None),
            Effects(pushes=follow_ups(3)),
        )
        delivery = await popped(rig)
        effects = Effects(document=a_document(1), pushes=follow_ups(4), carried=carried)
        committed = await rig.unit_of_work.commit(delivery, effects)
        assert (committed.saved, committed.carried) == ("saved", ("saved", "tied", None))
        assert committed.pushed == Pushed(queued=4, bounced=1)
        await rig.crash()
        assert {one.urn async for one in rig.store.list(DocumentFilter())} == {a_document(n).urn for n in (1, 2, 3)}
        depths = by_queue(await rig.queue.depths())
        assert (depths["soon"].ready, depths["soon"].delayed, depths["normal"].total) == (3, 1, 0)

    async def test_where_one_that_was_carried_cannot_be_stored_the_request_comes_again(self, rig: Rig) -> None:
        delivery = await popped(rig)
        bad = Effects(document=replace(a_document(3), body={"bytes": b"x"}))
        carried = (Effects(document=a_document(2)), bad, Effects(document=a_document(4)))
        with pytest.raises(Unstorable):
            await rig.unit_of_work.commit(
                delivery, Effects(document=a_document(1), pushes=follow_ups(9), carried=carried)
            )
        assert await rig.store.get(a_document(1).urn) is None, "what carries is written last"
        await delivery.release()
        depths = by_queue(await rig.queue.depths())
        assert (depths["normal"].ready, depths["soon"].total) == (1, 0), "and pushes last"

    async def test_no_effects_are_an_ack(self, rig: Rig) -> None:
        delivery = await popped(rig)
        assert await rig.unit_of_work.commit(delivery, Effects()) == Committed()
        assert await rig.queue.is_empty()

    async def test_the_same_commit_again_changes_nothing(self, rig: Rig) -> None:
        """A request that comes again after a crash finds its own traces."""
        effects = Effects(pushes=follow_ups(2), document=a_document())
        await rig.unit_of_work.commit(await popped(rig), effects)
        again = await rig.unit_of_work.commit(await popped(rig), effects)
        assert again == Committed(pushed=Pushed(bounced=1), saved="same")

    async def test_a_tie_leaves_a_question_and_nothing_else_does(self, rig: Rig) -> None:
        """Asked again after a crash: what a tie has written is held against the same body anew."""
        changed_at, question = iso(NOW), Push(request=a_request(9), queue="soon", not_before=at(10))
        one, other, later = (
            a_document(title=title, changed_at=changed_at, observed_at=at(seen_s))
            for title, seen_s in (("one", 1), ("other", 2), ("later", 20))
        )
        outcomes = []
        for document in (one, one, other, other, later):
            effects = Effects(document=document, asks=lambda saved: question if saved == "tied" else None)
            outcomes.append(await rig.unit_of_work.commit(await popped(rig), effects))
        assert outcomes == [
            Committed(saved="saved"),
            Committed(saved="same"),
            Committed(saved="tied", pushed=Pushed(queued=1)),
            Committed(saved="tied", pushed=Pushed(bounced=1)),
            Committed(saved="saved"),
        ]
        await rig.crash()
        assert by_queue(await rig.queue.depths())["soon"].delayed == 1

    async def test_a_retry_takes_the_place_of_its_request(self, rig: Rig) -> None:
        delivery = await popped(rig)
        again = Push(request=a_request(attempt=1), queue="normal", not_before=at(10))
        assert (await rig.unit_of_work.commit(delivery, Effects(pushes=(again,)))).pushed == Pushed(queued=1)
        depth = by_queue(await rig.queue.depths())["normal"]
        assert (depth.ready, depth.delayed, depth.in_flight) == (0, 1, 0)

    async def test_a_touch_is_remembered(self, rig: Rig) -> None:
        await rig.store.save(a_document())
        touch = Touch(urn=a_document().urn, type_name=a_type("issue"), policy="p", visited_at=at(5), checked_at=at(5))
        await rig.unit_of_work.commit(await popped(rig), Effects(touch=touch))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert (stored.checked_at, stored.visits) == (at(5), {"p": at(5)})

    async def test_a_deadletter_is_filed(self, rig: Rig) -> None:
        await rig.unit_of_work.commit(await popped(rig), Effects(deadletter=a_deadletter()))
        assert await rig.deadletters.get(a_deadletter().urn) == a_deadletter()
        assert await rig.queue.is_empty()

    async def test_the_last_page_of_a_relation_supersedes(self, rig: Rig) -> None:
        old, new = (a_document(urn=f"urn:org:9:members:{n}:page:1", observed_at=at(n)) for n in (1, 2))
        await rig.store.save(old)
        await rig.unit_of_work.commit(await popped(rig), Effects(document=new, supersede="urn:org:9:members:"))
        assert await rig.store.get(old.urn) is None

    @pytest.mark.parametrize("what", ["document", "pushes"])
    async def test_what_can_never_be_stored_leaves_the_request_in_hand(self, rig: Rig, what: str) -> None:
        delivery = await popped(rig)
        payload = Payload(body={"bytes": b"x"}, origin="list", observed_at=NOW, digest="d")
        effects = {
            "document": Effects(document=replace(a_document(), body=payload.body)),
            "pushes": Effects(pushes=(*follow_ups(2), Push(request=a_request(payload=payload), queue="soon"))),
        }[what]
        with pytest.raises(Unstorable):
            await rig.unit_of_work.commit(delivery, effects)
        assert by_queue(await rig.queue.depths())["normal"].in_flight == 1
        await rig.unit_of_work.commit(delivery, Effects(deadletter=a_deadletter()))
        assert by_queue(await rig.queue.depths())["normal"].total == 0

    async def test_a_follow_up_wakes_who_waits_for_it(self, rig: Rig) -> None:
        delivery = await popped(rig)
        waiting = asyncio.create_task(rig.queue.pop(lanes("soon"), patience_s=30))
        assert await rig.queue.pop(lanes("soon"), patience_s=0) is None
        await rig.unit_of_work.commit(delivery, Effects(pushes=follow_ups(2)))
        async with asyncio.timeout(10):
            assert await waiting is not None
