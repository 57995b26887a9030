"""What every keeper of deadletters does. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter, Forgotten, Requeued
from ghcrawl.ports.queue import Pushed, by_queue
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.memory import MemoryQueue
from stores.deadletters import TimeBudget, forget, requeue
from stores.memory import MemoryDeadletters
from tests.contracts.adapters import Rig
from tests.support.builders import NOW, a_deadletter, a_failure, a_payload, a_request, a_type, at, by_type
from tests.support.lanes import LANES, lanes

ALL = DeadletterFilter()
LATER = NOW + timedelta(days=1)


def buried(number: int, *, at_s: float = 0, **over: Any) -> Deadletter:
    return a_deadletter(number, **({"last_at": at(at_s)} | over))


async def numbers(rig: Rig, which: DeadletterFilter = ALL, *, limit: int = 100, after: str = "") -> list[int]:
    letters = await rig.deadletters.list(which, limit=limit, after=after)
    return [int(letter.urn.rpartition("-")[2]) for letter in letters]


def pieces(number: int) -> TimeBudget:
    """Time for so many pairs of deadletters, however long they take."""
    seconds = count()
    return TimeBudget(number, at_once=2, monotonic=lambda: next(seconds))


class DeadletterContract:
    """Nothing that was given up is lost, and all of it can be found, counted, requeued and forgotten."""

    async def test_a_deadletter_comes_back_with_its_whole_story(self, rig: Rig) -> None:
        letter = buried(
            1,
            request=a_request(payload=a_payload({"lone": "\ud800"}), attempt=5, failures=(a_failure(),)),
            queue="event",
            kind="Odd\udfff",
            reason="it\0broke \ud800",
            failures=(a_failure(), a_failure(at=at(1.000001), status=None, message="\ud800", worker="w")),
            first_at=at(-1.5),
            traceback="Traceback: \udc80",
            raw=b"\xff\0",
        )
        await rig.deadletters.bury(letter)
        assert await rig.deadletters.get(letter.urn) == letter
        await rig.crash()
        assert list(await rig.deadletters.list(ALL, limit=9)) == [letter]

    async def test_burying_twice_keeps_one(self, rig: Rig) -> None:
        await rig.deadletters.bury(buried(1))
        await rig.deadletters.bury(buried(1))
        assert (await rig.deadletters.count(ALL)).total == 1

    async def test_what_is_not_there_is_none(self, rig: Rig) -> None:
        assert await rig.deadletters.get("urn:deadletter:none") is None
        assert await rig.deadletters.delete(["urn:deadletter:none"]) == 0
        assert await rig.deadletters.delete([]) == 0
        assert await rig.deadletters.count(ALL) == DeadletterCounts()

    async def test_the_newest_come_first_and_pages_continue(self, rig: Rig) -> None:
        for number, second in ((1, 5), (2, 9), (3, 5), (4, 7)):
            await rig.deadletters.bury(buried(number, at_s=second))
        assert await numbers(rig) == [2, 4, 3, 1]
        assert await numbers(rig, limit=2) == [2, 4]
        assert await numbers(rig, limit=2, after=buried(4).urn) == [3, 1]
        assert await numbers(rig, after=buried(1).urn) == []

    async def test_an_after_that_is_gone_begins_again(self, rig: Rig) -> None:
        for number in (1, 2):
            await rig.deadletters.bury(buried(number, at_s=number))
        assert await numbers(rig, after="urn:deadletter:gone") == [2, 1]

    @pytest.mark.parametrize(
        ("which", "expected"),
        [
            (DeadletterFilter(types=(a_type("repo"),)), [2]),
            (DeadletterFilter(types=(a_type("repo"), a_type("issue"))), [3, 2, 1]),
            (DeadletterFilter(kinds=("KeyError",)), [3]),
            (DeadletterFilter(kinds=("KeyError", "http_503"), types=(a_type("issue"),)), [3, 1]),
            (DeadletterFilter(reason="GRÜNDE"), [2]),
            (DeadletterFilter(reason="%"), []),
            (DeadletterFilter(host="Git.Corp.test"), [3]),
            (DeadletterFilter(host="corp"), []),
            (DeadletterFilter(before=at(3)), [2, 1]),
            (DeadletterFilter(urns=(buried(1).urn, buried(3).urn, "urn:none")), [3, 1]),
            (DeadletterFilter(urns=(buried(1).urn,), types=(a_type("repo"),)), []),
        ],
    )
    async def test_a_filter_means_what_it_says(self, rig: Rig, which: DeadletterFilter, expected: list[int]) -> None:
        await rig.deadletters.bury(buried(1, at_s=1))
        await rig.deadletters.bury(buried(2, at_s=2, request=a_request(type="repo"), reason="Drei Gründe"))
        elsewhere = a_request(url="https://git.corp.test:8443/api/x")
        await rig.deadletters.bury(buried(3, at_s=3, request=elsewhere, kind="KeyError"))
        assert await numbers(rig, which) == expected
        assert (await rig.deadletters.count(which)).total == len(expected)

    async def test_counts_are_by_type_and_by_kind(self, rig: Rig) -> None:
        await rig.deadletters.bury(buried(1))
        await rig.deadletters.bury(buried(2, kind="KeyError"))
        await rig.deadletters.bury(buried(3, kind="KeyError", request=a_request(type="repo")))
        counts = await rig.deadletters.count(ALL)
        assert counts.total == 3
        assert counts.by_type == by_type(issue=2, repo=1)
        assert dict(counts.by_kind) == {"http_503": 1, "KeyError": 2}
        assert counts.by_platform == {LEGACY_PLATFORM: {"http_503": 1, "KeyError": 2}}

    async def test_two_platforms_are_told_apart(self, rig: Rig) -> None:
        for number, platform in enumerate((LEGACY_PLATFORM, "mastodon", "mastodon"), start=1):
            await rig.deadletters.bury(buried(number, at_s=number, request=a_request(platform=platform)))
        counts = await rig.deadletters.count(ALL)
        assert counts.by_type == by_type(issue=1) | by_type("mastodon", issue=2)
        assert counts.by_platform == {LEGACY_PLATFORM: {"http_503": 1}, "mastodon": {"http_503": 2}}
        for which, expected in (
            (DeadletterFilter(types=(a_type(),)), [1]),
            (DeadletterFilter(types=(a_type("issue", "mastodon"),)), [3, 2]),
            (DeadletterFilter(types=(a_type(), a_type("issue", "mastodon")), before=at(3)), [2, 1]),
            (DeadletterFilter(platforms=(LEGACY_PLATFORM,)), [1]),
            (DeadletterFilter(platforms=("mastodon",), kinds=("http_503",)), [3, 2]),
            (DeadletterFilter(platforms=("mastodon",), types=(a_type(),)), []),
        ):
            assert await numbers(rig, which) == expected
            assert (await rig.deadletters.count(which)).total == len(expected)

    async def test_a_url_that_is_none_does_not_stop_a_burial(self, rig: Rig) -> None:
        await rig.deadletters.bury(buried(1, request=a_request(url="http://[broken")))
        assert await numbers(rig) == [1]

    async def test_deleting_forgets_exactly_those(self, rig: Rig) -> None:
        for number in (1, 2, 3):
            await rig.deadletters.bury(buried(number, at_s=number))
        assert await rig.deadletters.delete([buried(1).urn, buried(3).urn, "urn:none"]) == 2
        assert await numbers(rig) == [2]

    # Requeued

    async def test_requeued_requests_begin_anew(self, rig: Rig) -> None:
        tried = a_request(1, attempt=5, failures=(a_failure(),))
        await rig.deadletters.bury(buried(1, request=tried, queue="soon"))
        await rig.deadletters.bury(buried(2, queue="later"))
        done = await requeue(rig.deadletters, rig.queue, DeadletterFilter(types=(a_type("issue"),)), now=LATER)
        assert done == Requeued(queued=2)
        assert await numbers(rig) == []
        delivery = await rig.queue.pop(lanes("soon"), patience_s=0)
        assert delivery is not None
        assert delivery.request == replace(tried, attempt=0, failures=(), asked_at=None)
        assert by_queue(await rig.queue.depths())["later"].ready == 1

    async def test_requeued_requests_go_where_they_are_sent_in_batches(self, rig: Rig) -> None:
        for number in range(25):
            await rig.deadletters.bury(buried(number, at_s=number))
        done = await requeue(
            rig.deadletters, rig.queue, ALL, now=LATER, to="immediate", time_budget=TimeBudget(at_once=4)
        )
        assert done == Requeued(queued=25)
        assert by_queue(await rig.queue.depths())["immediate"].ready == 25

    async def test_a_request_that_waits_anyway_is_not_lost_by_requeueing(self, rig: Rig) -> None:
        await rig.queue.push([Push(request=a_request(1), queue="later")])
        await rig.deadletters.bury(buried(1))
        assert await requeue(rig.deadletters, rig.queue, ALL, now=LATER) == Requeued(bounced=1)
        assert await numbers(rig) == []
        delivery = await rig.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        assert (delivery.queue, delivery.request.asked_at) == ("normal", None)

    async def test_what_never_was_a_request_stays(self, rig: Rig) -> None:
        for number in range(6):
            await rig.deadletters.bury(buried(number, at_s=number, raw=b"?" if number % 2 else None))
        done = await requeue(rig.deadletters, rig.queue, ALL, now=LATER, time_budget=TimeBudget(at_once=2))
        assert done == Requeued(queued=3, unreadable=3)
        assert await numbers(rig) == [5, 3, 1]

    # In answers of bounded time

    async def test_what_there_is_no_time_for_is_left_and_asked_for_by_its_bound(self, rig: Rig) -> None:
        for number in range(9):
            await rig.deadletters.bury(buried(number, at_s=number, raw=b"?" if number in (8, 5, 4) else None))
        which, answers = DeadletterFilter(types=(a_type("issue"),)), list[Requeued]()
        while not answers or answers[-1].left:
            answers.append(await requeue(rig.deadletters, rig.queue, which, now=LATER, time_budget=pieces(1)))
            await rig.deadletters.bury(buried(100 + len(answers), at_s=50))
            which = replace(which, before=answers[-1].before)
        assert answers == [
            Requeued(queued=1, unreadable=1, left=7, before=at(7)),
            Requeued(queued=1, unreadable=1, left=5, before=at(5)),
            Requeued(queued=1, unreadable=1, left=3, before=at(3)),
            Requeued(queued=2, left=1, before=at(1)),
            Requeued(queued=1),
        ]
        assert await numbers(rig) == [105, 104, 103, 102, 101, 8, 5, 4]
        assert by_queue(await rig.queue.depths())["normal"].ready == 6

    async def test_as_many_pieces_are_done_as_there_is_time_for(self, rig: Rig) -> None:
        for number in range(9):
            await rig.deadletters.bury(buried(number, at_s=number))
        done = await requeue(rig.deadletters, rig.queue, ALL, now=LATER, time_budget=pieces(3))
        assert done == Requeued(queued=6, left=3, before=at(3))

    async def test_what_was_buried_in_one_moment_is_done_in_one_answer(self, rig: Rig) -> None:
        for number in range(7):
            await rig.deadletters.bury(buried(number, at_s=1 if number else 0, raw=b"?" if number > 3 else None))
        done = await requeue(rig.deadletters, rig.queue, ALL, now=LATER, time_budget=pieces(1))
        assert done == Requeued(queued=3, unreadable=3, left=1, before=at(1))
        rest = DeadletterFilter(before=done.before)
        assert await requeue(rig.deadletters, rig.queue, rest, now=LATER, time_budget=pieces(1)) == Requeued(queued=1)

    async def test_nothing_is_left_where_the_last_piece_was_the_end(self, rig: Rig) -> None:
        for number in range(4):
            await rig.deadletters.bury(buried(number, at_s=number))
        assert await requeue(rig.deadletters, rig.queue, ALL, now=LATER, time_budget=pieces(2)) == Requeued(queued=4)

    async def test_deleting_is_left_off_and_goes_on_as_well(self, rig: Rig) -> None:
        for number in range(5):
            await rig.deadletters.bury(buried(number, at_s=number))
        first = await forget(rig.deadletters, ALL, now=at(4), time_budget=pieces(1))
        assert first == Forgotten(deleted=2, left=2, before=at(4))
        rest = DeadletterFilter(before=first.before)
        assert await forget(rig.deadletters, rest, now=LATER, time_budget=pieces(1)) == Forgotten(deleted=2)
        assert await numbers(rig) == [4]

    async def test_what_is_buried_again_meanwhile_is_not_requeued_for_ever(self, rig: Rig) -> None:
        await rig.deadletters.bury(buried(1, at_s=0))
        await rig.deadletters.bury(buried(2, at_s=10))
        assert await requeue(rig.deadletters, rig.queue, ALL, now=at(10)) == Requeued(queued=1)
        assert await numbers(rig) == [2]

    async def test_a_push_that_fails_leaves_the_deadletter(self, rig: Rig) -> None:
        class Away(Exception):
            pass

        class Broken(MemoryQueue):
            async def push(self, pushes: Sequence[Push]) -> Pushed:
                raise Away(pushes)

        await rig.deadletters.bury(buried(1))
        with pytest.raises(Away):
            await requeue(rig.deadletters, Broken(rig.clock), ALL, now=LATER)
        assert await numbers(rig) == [1]

    async def test_a_push_that_fails_amid_many_leaves_each_request_waiting_or_buried(self, rig: Rig) -> None:
        class Away(Exception):
            pass

        class Breaking(MemoryQueue):
            pushes = 0

            async def push(self, pushes: Sequence[Push]) -> Pushed:
                self.pushes += 1
                if self.pushes == 3:
                    raise Away(pushes)
                return await rig.queue.push(pushes)

        for number in range(9):
            await rig.deadletters.bury(buried(number, at_s=number))
        few = TimeBudget(at_once=2)
        with pytest.raises(Away):
            await requeue(rig.deadletters, Breaking(rig.clock), ALL, now=LATER, time_budget=few)
        left = await numbers(rig)
        assert len(left) >= 5
        waiting = {request.url for request in await rig.queue.peek("normal", limit=9)}
        assert waiting | {buried(number).request.url for number in left} == {buried(n).request.url for n in range(9)}

    async def test_a_crash_between_push_and_delete_leaves_both(self, rig: Rig) -> None:
        class Away(Exception):
            pass

        class Forgetful(MemoryDeadletters):
            async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
                return await rig.deadletters.list(which, limit=limit, after=after)

            async def delete(self, urns: Sequence[str]) -> int:
                raise Away(urns)

        await rig.deadletters.bury(buried(1))
        with pytest.raises(Away):
            await requeue(Forgetful(), rig.queue, ALL, now=LATER)
        assert await numbers(rig) == [1]
        assert by_queue(await rig.queue.depths())["normal"].ready == 1
