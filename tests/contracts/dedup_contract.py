"""What every implementation of markers and crashes does. Bind it by a class with fixtures `markers` and `crashes`."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from ghcrawl.ports.dedup import CrashCounter, DedupMarker, DedupMarkers
from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.type_names import LEGACY_PLATFORM
from tests.support.builders import NOW, at

KEY = "0123456789abcdef" * 2
OTHER = "f" * 32


def a_tag(key: str = KEY, **over: Any) -> DedupMarker:
    fields: dict[str, Any] = {
        "token": "mine",
        "queued": False,
        "platform": LEGACY_PLATFORM,
        "queue": "normal",
        "asked_at": at(-0.123456),
        "not_before": None,
        "at": NOW,
    }
    return DedupMarker(key=key, **(fields | over))


async def the(markers: DedupMarkers, key: str = KEY) -> DedupMarker | None:
    return (await markers.find([key])).get(key)


class TagsContract:
    """One marker a key; every change is bound to a token."""

    @pytest.mark.parametrize("queue", QUEUES)
    @pytest.mark.parametrize("asked_at", [None, at(0.000001), datetime.max.replace(tzinfo=NOW.tzinfo)])
    async def test_a_tag_comes_back_as_it_was_inserted(
        self, markers: DedupMarkers, queue: QueueName, asked_at: datetime | None
    ) -> None:
        marker = a_tag(queue=queue, asked_at=asked_at, not_before=at(0.654321), at=at(1.000001))
        assert await markers.insert([marker, a_tag(OTHER)]) == frozenset()
        assert await markers.find([KEY, OTHER, "0" * 32]) == {KEY: marker, OTHER: a_tag(OTHER)}

    async def test_nothing_is_found_for_nothing(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag()])
        assert await markers.find([]) == {}

    async def test_an_insert_tells_which_keys_were_taken_and_leaves_those(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag()])
        assert await markers.insert([a_tag(token="yours"), a_tag(OTHER, token="yours")]) == {KEY}
        assert await markers.find([KEY, OTHER]) == {KEY: a_tag(), OTHER: a_tag(OTHER, token="yours")}

    async def test_of_many_inserts_at_once_one_wins(self, markers: DedupMarkers) -> None:
        raced = await asyncio.gather(
            *(markers.insert([a_tag(token=str(n)), a_tag(OTHER, token=str(n))]) for n in range(9))
        )
        for key in (KEY, OTHER):
            marker = await the(markers, key)
            assert marker is not None
            assert [n for n, taken in enumerate(raced) if key not in taken] == [int(marker.token)]

    async def test_a_replacement_takes_the_place_of_what_was_seen(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag(), a_tag(OTHER)])
        new = a_tag(token="yours", queue="event", asked_at=None, not_before=at(9), at=at(1))
        await markers.replace([(a_tag(), new), (a_tag(OTHER, token="gone"), a_tag(OTHER, token="yours"))])
        assert await markers.find([KEY, OTHER]) == {KEY: new, OTHER: a_tag(OTHER)}

    async def test_a_replacement_of_what_is_gone_adds_nothing(self, markers: DedupMarkers) -> None:
        await markers.replace([(a_tag(), a_tag(token="yours"))])
        assert await the(markers) is None

    async def test_a_replacement_of_a_queued_tag_is_pending(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag(not_before=at(5))])
        await markers.confirm([KEY], "mine")
        await markers.replace([(a_tag(), a_tag(token="yours"))])
        assert await the(markers) == a_tag(token="yours")

    async def test_confirming_queues_the_tags_of_this_token_only(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag(), a_tag(OTHER, token="yours")])
        await markers.confirm([KEY, OTHER, "0" * 32], "mine")
        assert await markers.find([KEY, OTHER]) == {KEY: a_tag(queued=True), OTHER: a_tag(OTHER, token="yours")}

    async def test_deleting_is_bound_to_the_token(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag()])
        assert not await markers.delete(KEY, "yours")
        assert await markers.delete(KEY, "mine")
        assert not await markers.delete(KEY, "mine")
        assert await the(markers) is None

    async def test_of_many_deletions_at_once_one_wins(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag()])
        assert sum(await asyncio.gather(*(markers.delete(KEY, "mine") for _ in range(9)))) == 1

    async def test_pending_tags_are_not_queued(self, markers: DedupMarkers) -> None:
        assert not await markers.any_queued()
        await markers.insert([a_tag(), a_tag(OTHER)])
        assert not await markers.any_queued()
        await markers.confirm([OTHER], "mine")
        assert await markers.any_queued()

    async def test_delayed_tags_are_counted_by_queue(self, markers: DedupMarkers) -> None:
        delays = {
            "1": ("soon", 5.0),
            "2": ("soon", 6.0),
            "3": ("later", 5.5),
            "4": ("soon", 4.999999),
            "5": ("soon", None),
        }
        await markers.insert(
            [
                a_tag(key * 32, queue=queue, not_before=None if delay_s is None else at(delay_s))
                for key, (queue, delay_s) in delays.items()
            ]
        )
        found = {lane: n for lane, n in (await markers.delayed(at(4.999999))).items() if n}
        assert found == {Lane(LEGACY_PLATFORM, "soon"): 2, Lane(LEGACY_PLATFORM, "later"): 1}
        assert {lane: n for lane, n in (await markers.delayed(at(5.5))).items() if n} == {
            Lane(LEGACY_PLATFORM, "soon"): 1
        }

    async def test_a_replaced_delay_is_not_counted_any_more(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag(not_before=at(60))])
        await markers.replace([(a_tag(), a_tag(token="yours"))])
        assert sum((await markers.delayed(NOW)).values()) == 0

    async def test_clearing_forgets_one_lane(self, markers: DedupMarkers) -> None:
        others = [a_tag("a" * 32, queue="later"), a_tag("b" * 32, platform="other")]
        await markers.insert([a_tag(), a_tag(OTHER), *others])
        await markers.confirm([KEY], "mine")
        assert await markers.clear(Lane(LEGACY_PLATFORM, "normal")) == 2
        assert await markers.find([KEY, OTHER, "a" * 32, "b" * 32]) == {marker.key: marker for marker in others}
        assert await markers.clear(Lane("other", "normal")) == 1

    async def test_platforms_are_told_apart(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag(platform="other", not_before=at(9)), a_tag(OTHER, not_before=at(9))])
        await markers.confirm([KEY], "mine")
        assert dict(await markers.delayed(NOW)) == {Lane("other", "normal"): 1, Lane(LEGACY_PLATFORM, "normal"): 1}
        assert await markers.any_queued()
        assert await markers.any_queued(["other", "third"])
        assert not await markers.any_queued([LEGACY_PLATFORM])
        assert not await markers.any_queued([])
        await markers.confirm([OTHER], "mine")
        assert await markers.any_queued([LEGACY_PLATFORM])

    async def test_sweeping_forgets_what_is_old(self, markers: DedupMarkers) -> None:
        await markers.insert([a_tag(at=at(-0.000001)), a_tag(OTHER, at=NOW)])
        await markers.confirm([KEY, OTHER], "mine")
        assert await markers.sweep(NOW) == 1
        assert set(await markers.find([KEY, OTHER])) == {OTHER}

    async def test_hundreds_of_tags_at_once(self, markers: DedupMarkers) -> None:
        many = [a_tag(f"{n:032x}") for n in range(500)]
        await markers.insert(many[:250])
        assert await markers.insert(many) == {marker.key for marker in many[:250]}
        await markers.confirm([marker.key for marker in many], "mine")
        assert all(marker.queued for marker in (await markers.find([marker.key for marker in many])).values())
        assert len(await markers.find([marker.key for marker in many])) == 500


class StartsContract:
    """A counter for each message, remembered until it is forgotten."""

    async def test_starts_are_counted_by_message(self, crashes: CrashCounter) -> None:
        assert await crashes.count("a") == 0
        assert [await crashes.add("a", NOW), await crashes.add("a", at(1)), await crashes.add("b", NOW)] == [1, 2, 1]
        assert (await crashes.count("a"), await crashes.count("b")) == (2, 1)

    async def test_starts_at_once_are_all_counted(self, crashes: CrashCounter) -> None:
        assert sorted(await asyncio.gather(*(crashes.add("a", NOW) for _ in range(9)))) == list(range(1, 10))

    async def test_what_is_forgotten_begins_anew(self, crashes: CrashCounter) -> None:
        await crashes.add("a", NOW)
        await crashes.forget("a")
        await crashes.forget("never begun")
        assert await crashes.count("a") == 0
        assert await crashes.add("a", NOW) == 1

    async def test_sweeping_forgets_what_was_last_begun_long_ago(self, crashes: CrashCounter) -> None:
        await crashes.add("a", at(-10))
        await crashes.add("b", at(-10))
        await crashes.add("b", at(0))
        assert await crashes.sweep(at(-5)) == 1
        assert (await crashes.count("a"), await crashes.count("b")) == (0, 2)
