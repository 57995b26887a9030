"""What every queue does. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Delivery, Depth, Pushed, by_queue
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Ancestor, Context, DeferredRequest, Failure, Pagination, Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.codec import encode
from tests.contracts.adapters import Rig
from tests.support.builders import NOW, a_failure, a_payload, a_request, at
from tests.support.lanes import LANES, lanes

PATIENT_S = 30.0
"""Far longer than any test takes: whoever waits that long was never woken."""


def a_push(number: int = 1, queue: QueueName = "normal", *, delay_s: float = 0, **over: object) -> Push:
    return Push(request=a_request(number, **over), queue=queue, not_before=at(delay_s) if delay_s else None)


async def pop(rig: Rig, *order: QueueName) -> Delivery:
    delivery = await rig.queue.pop(lanes(*order), patience_s=0)
    assert delivery is not None
    return delivery


async def drain(rig: Rig) -> list[Request]:
    """Everything that is ready, acked."""
    popped = []
    while (delivery := await rig.queue.pop(LANES, patience_s=0)) is not None:
        popped.append(delivery.request)
        await delivery.ack()
    return popped


class QueueContract:
    """guaranteed, deduplicated, delayed, unordered, and looked at without side effects."""

    # Guaranteed

    async def test_what_is_pushed_is_popped(self, rig: Rig) -> None:
        assert await rig.queue.push([a_push()]) == Pushed(queued=1)
        delivery = await pop(rig)
        assert (delivery.request, delivery.queue) == (a_request(), "normal")

    async def test_a_request_arrives_as_it_was_pushed(self, rig: Rig) -> None:
        pagination = Pagination(
            page=3, first="https://a/1", fresh=True, started_at=at(1.5), since="a", until="b", newest="c"
        )
        context = Context(
            qualifier="urn:repo:12",
            scope="acme/web",
            private=True,
            deleted_at=at(2),
            history=(Ancestor("org", "x"), Ancestor("repo", "y")),
            pagination=pagination,
            only_known=True,
            then=(DeferredRequest(type="issue", url="u", policy="default"),),
        )
        body = {"emoji": "😀", "lone": "\ud800", "nul": "\0", "big": 10**40, "a.b": {"$set": [1.5, None, True]}}
        request = a_request(
            context=context,
            payload=replace(a_payload(body, delivery_id="d-1"), etag='W/"1"'),
            attempt=2,
            failures=(a_failure(), Failure(at=at(0.000001), cause="c", message="m", status=None, worker="w")),
            asked_at=at(-0.123456),
            root="org@x",
        )
        await rig.queue.push([Push(request=request, queue="event")])
        assert (await pop(rig)).request == request

    async def test_an_acked_request_is_gone(self, rig: Rig) -> None:
        await rig.queue.push([a_push()])
        await (await pop(rig)).ack()
        assert await rig.queue.is_empty()
        await rig.crash()
        assert await rig.queue.pop(LANES, patience_s=0) is None

    async def test_a_released_request_can_be_popped_at_once(self, rig: Rig) -> None:
        await rig.queue.push([a_push()])
        await (await pop(rig)).release()
        assert (await pop(rig)).request == a_request()

    async def test_what_was_popped_and_never_settled_comes_back(self, rig: Rig) -> None:
        await rig.queue.push([a_push(n) for n in range(3)])
        await (await pop(rig)).ack()
        await pop(rig)
        await rig.crash()
        assert len(await drain(rig)) == 2

    async def test_a_delayed_request_survives_a_crash_with_its_delay(self, rig: Rig) -> None:
        await rig.queue.push([a_push(delay_s=10)])
        await rig.crash()
        assert await drain(rig) == []
        await rig.advance(10)
        assert await drain(rig) == [a_request()]

    async def test_ack_and_release_are_final(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2)])
        first, second = await pop(rig), await pop(rig)
        await first.ack()
        await first.release()
        await second.release()
        await second.ack()
        assert await drain(rig) == [second.request]

    async def test_a_stale_ack_does_not_settle_a_later_delivery(self, rig: Rig) -> None:
        await rig.queue.push([a_push()])
        first = await pop(rig)
        await first.release()
        await pop(rig)
        await first.ack()
        await rig.crash()
        assert await drain(rig) == [a_request()]

    async def test_many_pops_at_once_get_different_requests(self, rig: Rig) -> None:
        await rig.queue.push([a_push(n) for n in range(10)])
        deliveries = await asyncio.gather(*(rig.queue.pop(LANES, patience_s=0) for _ in range(12)))
        urls = [delivery.request.url for delivery in deliveries if delivery is not None]
        assert len(urls) == len(set(urls)) == 10

    async def test_an_empty_push_changes_nothing(self, rig: Rig) -> None:
        assert await rig.queue.push([]) == Pushed()
        assert await rig.queue.is_empty()

    # Which queue

    async def test_a_pop_takes_the_first_queue_that_has_something(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, "later"), a_push(2, "soon")])
        assert (await pop(rig, "event", "soon", "later")).queue == "soon"
        assert (await pop(rig, "event", "soon", "later")).queue == "later"

    async def test_a_pop_never_takes_from_a_queue_it_did_not_name(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, "normal")])
        assert await rig.queue.pop(lanes("event", "later"), patience_s=0) is None
        assert await rig.queue.pop([], patience_s=0) is None

    # Lanes

    async def test_platforms_wait_in_lanes_of_their_own(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(1, platform="other"), a_push(2, "later", platform="other")])
        assert {lane: depth.ready for lane, depth in (await rig.queue.depths()).items() if depth.total} == {
            Lane(LEGACY_PLATFORM, "normal"): 1,
            Lane("other", "normal"): 1,
            Lane("other", "later"): 1,
        }
        assert await rig.queue.pop(lanes("soon", "later"), patience_s=0) is None
        order = [Lane("other", "normal"), Lane(LEGACY_PLATFORM, "normal")]
        assert [await self.platform_of(rig, order) for _ in range(3)] == ["other", LEGACY_PLATFORM, None]
        assert await self.platform_of(rig, [Lane("other", "later")]) == "other"

    @staticmethod
    async def platform_of(rig: Rig, order: list[Lane]) -> str | None:
        delivery = await rig.queue.pop(order, patience_s=0)
        return None if delivery is None else delivery.request.platform

    async def test_ten_platforms_of_which_nine_are_not_asked_for_cost_no_pop_of_those(self, rig: Rig) -> None:
        names = [LEGACY_PLATFORM, *(f"platform-{number}" for number in range(9))]
        await rig.queue.push([a_push(number, platform=name) for name in names for number in range(4)])
        popped = []
        while (delivery := await rig.queue.pop(lanes(platform="platform-4"), patience_s=0)) is not None:
            popped.append(delivery.request.platform)
            await delivery.ack()
        assert popped == ["platform-4"] * 4
        depths = {lane.platform: depth for lane, depth in (await rig.queue.depths()).items() if depth.total}
        assert depths == {name: Depth(ready=4) for name in names if name != "platform-4"}

    async def test_a_crash_returns_each_request_to_its_own_lane(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2, platform="other"), a_push(3, platform="other", delay_s=10)])
        for platform in (LEGACY_PLATFORM, "other"):
            assert await rig.queue.pop(lanes(platform=platform), patience_s=0) is not None
        await rig.crash()
        await rig.advance(10)
        assert len(await drain(rig)) == 1
        assert [await self.platform_of(rig, lanes(platform="other")) for _ in range(3)] == ["other", "other", None]

    async def test_what_is_looked_at_may_be_of_one_platform(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2, platform="other"), a_push(3, platform="other", delay_s=10)])
        assert {each.url for each in await rig.queue.peek("normal", limit=9, platform="other")} == {
            a_request(2).url,
            a_request(3).url,
        }
        assert len(await rig.queue.peek("normal", limit=9)) == 3
        assert await rig.queue.purge("normal", platform="other") == 2
        assert await rig.queue.peek("normal", limit=9) == [a_request(1)]
        assert await rig.queue.push([a_push(2, platform="other")]) == Pushed(queued=1)
        assert await rig.queue.purge("normal") == 2

    async def test_emptiness_may_be_of_some_platforms(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, platform="other")])
        assert await rig.queue.is_empty([LEGACY_PLATFORM])
        assert not await rig.queue.is_empty([LEGACY_PLATFORM, "other"])
        delivery = await rig.queue.pop(lanes(platform="other"), patience_s=0)
        assert delivery is not None
        assert not await rig.queue.is_empty(["other"])
        await delivery.ack()
        assert await rig.queue.is_empty(["other"])

    # Deduplicated

    async def test_a_request_that_waits_is_not_queued_twice(self, rig: Rig) -> None:
        await rig.queue.push([a_push()])
        assert await rig.queue.push([a_push()]) == Pushed(bounced=1)
        assert len(await drain(rig)) == 1

    async def test_two_equal_requests_in_one_push_are_one(self, rig: Rig) -> None:
        assert await rig.queue.push([a_push(1), a_push(2), a_push(1)]) == Pushed(queued=2, bounced=1)

    async def test_popping_frees_the_key(self, rig: Rig) -> None:
        await rig.queue.push([a_push()])
        first = await pop(rig)
        assert await rig.queue.push([a_push()]) == Pushed(queued=1)
        await first.ack()
        assert len(await drain(rig)) == 1

    async def test_every_end_of_a_request_leaves_its_key_free(self, rig: Rig) -> None:
        for end in ("ack", "purge", "crash"):
            assert await rig.queue.push([a_push()]) == Pushed(queued=1), end
            if end == "ack":
                await (await pop(rig)).ack()
            elif end == "purge":
                await rig.queue.purge("normal")
            else:
                await pop(rig)
                await rig.crash()
                await drain(rig)

    async def test_a_different_policy_or_payload_is_a_different_request(self, rig: Rig) -> None:
        pushes = [a_push(), a_push(policy="default:repo"), a_push(payload=a_payload({"id": 1}))]
        pushes.append(a_push(payload=a_payload({"id": 2})))
        assert await rig.queue.push(pushes) == Pushed(queued=4)

    async def test_a_more_urgent_push_moves_the_copy_that_waits(self, rig: Rig) -> None:
        await rig.queue.push([a_push(queue="later")])
        assert await rig.queue.push([a_push(queue="immediate")]) == Pushed(bounced=1)
        assert (await pop(rig)).queue == "immediate"
        assert await drain(rig) == []

    async def test_a_less_urgent_push_leaves_the_copy_where_it_waits(self, rig: Rig) -> None:
        await rig.queue.push([a_push(queue="soon")])
        await rig.queue.push([a_push(queue="later", asked_at=at(5))])
        delivery = await pop(rig)
        assert (delivery.queue, delivery.request.asked_at) == ("soon", at(5))

    async def test_the_copy_that_was_asked_for_later_is_the_one_that_waits(self, rig: Rig) -> None:
        await rig.queue.push([a_push(asked_at=at(1), root="first")])
        await rig.queue.push([a_push(asked_at=at(2), root="second")])
        await rig.queue.push([a_push(asked_at=at(0), root="third")])
        assert [request.root for request in await drain(rig)] == ["second"]

    async def test_a_request_without_deadline_is_later_than_any(self, rig: Rig) -> None:
        await rig.queue.push([a_push(asked_at=at(1))])
        await rig.queue.push([a_push(asked_at=None)])
        await rig.queue.push([a_push(asked_at=at(99))])
        assert [request.asked_at for request in await drain(rig)] == [None]

    async def test_a_push_that_brings_nothing_new_does_not_wake_a_delayed_copy(self, rig: Rig) -> None:
        await rig.queue.push([a_push(delay_s=60)])
        assert await rig.queue.push([a_push()]) == Pushed(bounced=1)
        assert await drain(rig) == []

    async def test_a_push_that_was_asked_for_later_wakes_a_delayed_copy(self, rig: Rig) -> None:
        await rig.queue.push([a_push(delay_s=60)])
        await rig.queue.push([a_push(asked_at=at(1))])
        assert [request.asked_at for request in await drain(rig)] == [at(1)]

    async def test_of_two_delays_the_earlier_one_counts(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, delay_s=60), a_push(2, delay_s=20)])
        await rig.queue.push([a_push(1, asked_at=at(1), delay_s=20), a_push(2, asked_at=at(1), delay_s=60)])
        await rig.advance(20)
        assert len(await drain(rig)) == 2

    async def test_a_released_request_yields_to_the_copy_that_came_meanwhile(self, rig: Rig) -> None:
        await rig.queue.push([a_push(root="old")])
        first = await pop(rig)
        await rig.queue.push([a_push(asked_at=at(5), root="new")])
        await first.release()
        assert [request.root for request in await drain(rig)] == ["new"]

    async def test_a_crash_merges_what_was_in_hand_with_the_copy_that_came_meanwhile(self, rig: Rig) -> None:
        await rig.queue.push([a_push(queue="event")])
        await pop(rig)
        await rig.queue.push([a_push(queue="later", delay_s=60)])
        await rig.crash()
        assert (await pop(rig)).queue == "event"
        assert await rig.queue.pop(LANES, patience_s=0) is None

    # Delayed

    async def test_a_delayed_request_is_not_popped_before_its_moment(self, rig: Rig) -> None:
        await rig.queue.push([a_push(delay_s=10)])
        await rig.advance(9.9)
        assert await drain(rig) == []
        await rig.advance(0.1)
        assert await drain(rig) == [a_request()]

    async def test_a_delay_that_is_over_is_none(self, rig: Rig) -> None:
        await rig.queue.push([Push(request=a_request(), queue="soon", not_before=NOW - timedelta(seconds=1))])
        assert await drain(rig) == [a_request()]

    async def test_a_delayed_request_holds_nobody_up(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, delay_s=60), a_push(2)])
        assert await drain(rig) == [a_request(2)]

    # Looked at

    async def test_depths_tell_ready_delayed_and_in_flight_apart(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2), a_push(3, delay_s=10), a_push(4, "event")])
        await pop(rig, "event")
        depths = by_queue(await rig.queue.depths())
        assert (depths["normal"], depths["event"]) == (Depth(ready=2, delayed=1), Depth(in_flight=1))
        assert depths["later"] == Depth()

    async def test_who_can_say_it_says_since_when_the_next_was_asked_for(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2, delay_s=10)])
        depths = by_queue(await rig.queue.depths())
        assert depths["normal"].oldest_at in (a_request(1).asked_at, None)
        assert depths["later"].oldest_at is None

    async def test_what_is_due_counts_as_ready(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, delay_s=10), a_push(2, delay_s=20)])
        await rig.advance(10)
        assert by_queue(await rig.queue.depths())["normal"] == Depth(ready=1, delayed=1)

    async def test_a_queue_with_anything_at_all_is_not_empty(self, rig: Rig) -> None:
        assert await rig.queue.is_empty()
        await rig.queue.push([a_push(delay_s=10)])
        assert not await rig.queue.is_empty()
        await rig.advance(10)
        delivery = await pop(rig)
        assert not await rig.queue.is_empty()
        await delivery.ack()
        assert await rig.queue.is_empty()

    async def test_peeking_shows_what_waits_and_changes_nothing(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2, delay_s=10), a_push(3, "later")])
        for _ in range(2):
            shown = await rig.queue.peek("normal", limit=10)
            assert {request.url for request in shown} == {a_request(1).url, a_request(2).url}
        assert len(await rig.queue.peek("normal", limit=1)) == 1
        assert await rig.queue.push([a_push(1)]) == Pushed(bounced=1)
        assert by_queue(await rig.queue.depths())["normal"] == Depth(ready=1, delayed=1)

    async def test_purging_empties_one_queue_and_frees_its_keys_only(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1), a_push(2, delay_s=10), a_push(3, "later"), a_push(4)])
        taken = await pop(rig, "normal")
        assert await rig.queue.purge("normal") == 2
        depths = by_queue(await rig.queue.depths())
        assert (depths["normal"], depths["later"]) == (Depth(in_flight=1), Depth(ready=1))
        assert await rig.queue.push([a_push(2), a_push(3, "later")]) == Pushed(queued=1, bounced=1)
        await taken.release()
        assert by_queue(await rig.queue.depths())["normal"] == Depth(ready=2)

    # What cannot be read

    async def test_a_message_that_is_no_request_becomes_a_deadletter(self, rig: Rig) -> None:
        await rig.inject("normal", b"\xff not a request")
        await rig.inject("normal", encode(a_request()).replace(b'"v":1', b'"v":2'))
        await rig.queue.push([a_push()])
        assert await drain(rig) == [a_request()]
        letters = await rig.deadletters.list(DeadletterFilter(kinds=("undecodable",)), limit=10)
        assert {letter.raw for letter in letters} >= {b"\xff not a request"}
        assert len(letters) == 2
        assert {letter.queue for letter in letters} == {"normal"}
        assert await rig.queue.is_empty()

    async def test_a_message_that_is_no_request_is_filed_under_the_platform_of_its_lane(self, rig: Rig) -> None:
        await rig.queue.push([a_push(1, platform="other"), a_push(2, platform="other")])
        await rig.inject("normal", b"[]", platform="other")
        order = [Lane("other", "normal")]
        assert [await self.platform_of(rig, order) for _ in range(3)] == ["other", "other", None]
        (letter,) = await rig.deadletters.list(DeadletterFilter(platforms=("other",)), limit=10)
        assert (letter.kind, letter.request.platform, letter.raw) == ("undecodable", "other", b"[]")

    async def test_a_message_that_is_no_request_does_not_stop_a_peek(self, rig: Rig) -> None:
        await rig.inject("normal", b"[]")
        await rig.queue.push([a_push()])
        assert await rig.queue.peek("normal", limit=10) == [a_request()]
