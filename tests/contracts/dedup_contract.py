"""What every implementation of tags and starts does. Bind it by a class with fixtures `tags` and `starts`."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from ghcrawl.ports.dedup import CrashCounter, DedupMarker, DedupMarkers
from ghcrawl.values.model import LEGACY_PLATFORM, QUEUES, Lane, QueueName
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


async def the(tags: DedupMarkers, key: str = KEY) -> DedupMarker | None:
    return (await tags.find([key])).get(key)


class TagsContract:
    """One tag a key; every change is bound to a token."""

    @pytest.mark.parametrize("queue", QUEUES)
    @pytest.mark.parametrize("asked_at", [None, at(0.000001), datetime.max.replace(tzinfo=NOW.tzinfo)])
    async def test_a_tag_comes_back_as_it_was_inserted(
        self, tags: DedupMarkers, queue: QueueName, asked_at: datetime | None
    ) -> None:
        tag = a_tag(queue=queue, asked_at=asked_at, not_before=at(0.654321), at=at(1.000001))
        assert await tags.insert([tag, a_tag(OTHER)]) == frozenset()
        assert await tags.find([KEY, OTHER, "0" * 32]) == {KEY: tag, OTHER: a_tag(OTHER)}

    async def test_nothing_is_found_for_nothing(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag()])
        assert await tags.find([]) == {}

    async def test_an_insert_tells_which_keys_were_taken_and_leaves_those(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag()])
        assert await tags.insert([a_tag(token="yours"), a_tag(OTHER, token="yours")]) == {KEY}
        assert await tags.find([KEY, OTHER]) == {KEY: a_tag(), OTHER: a_tag(OTHER, token="yours")}

    async def test_of_many_inserts_at_once_one_wins(self, tags: DedupMarkers) -> None:
        raced = await asyncio.gather(
            *(tags.insert([a_tag(token=str(n)), a_tag(OTHER, token=str(n))]) for n in range(9))
        )
        for key in (KEY, OTHER):
            tag = await the(tags, key)
            assert tag is not None
            assert [n for n, taken in enumerate(raced) if key not in taken] == [int(tag.token)]

    async def test_a_replacement_takes_the_place_of_what_was_seen(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag(), a_tag(OTHER)])
        new = a_tag(token="yours", queue="event", asked_at=None, not_before=at(9), at=at(1))
        await tags.replace([(a_tag(), new), (a_tag(OTHER, token="gone"), a_tag(OTHER, token="yours"))])
        assert await tags.find([KEY, OTHER]) == {KEY: new, OTHER: a_tag(OTHER)}

    async def test_a_replacement_of_what_is_gone_adds_nothing(self, tags: DedupMarkers) -> None:
        await tags.replace([(a_tag(), a_tag(token="yours"))])
        assert await the(tags) is None

    async def test_a_replacement_of_a_queued_tag_is_pending(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag(not_before=at(5))])
        await tags.confirm([KEY], "mine")
        await tags.replace([(a_tag(), a_tag(token="yours"))])
        assert await the(tags) == a_tag(token="yours")

    async def test_confirming_queues_the_tags_of_this_token_only(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag(), a_tag(OTHER, token="yours")])
        await tags.confirm([KEY, OTHER, "0" * 32], "mine")
        assert await tags.find([KEY, OTHER]) == {KEY: a_tag(queued=True), OTHER: a_tag(OTHER, token="yours")}

    async def test_deleting_is_bound_to_the_token(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag()])
        assert not await tags.delete(KEY, "yours")
        assert await tags.delete(KEY, "mine")
        assert not await tags.delete(KEY, "mine")
        assert await the(tags) is None

    async def test_of_many_deletions_at_once_one_wins(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag()])
        assert sum(await asyncio.gather(*(tags.delete(KEY, "mine") for _ in range(9)))) == 1

    async def test_pending_tags_are_not_queued(self, tags: DedupMarkers) -> None:
        assert not await tags.any_queued()
        await tags.insert([a_tag(), a_tag(OTHER)])
        assert not await tags.any_queued()
        await tags.confirm([OTHER], "mine")
        assert await tags.any_queued()

    async def test_delayed_tags_are_counted_by_queue(self, tags: DedupMarkers) -> None:
        delays = {
            "1": ("soon", 5.0),
            "2": ("soon", 6.0),
            "3": ("later", 5.5),
            "4": ("soon", 4.999999),
            "5": ("soon", None),
        }
        await tags.insert(
            [
                a_tag(key * 32, queue=queue, not_before=None if delay_s is None else at(delay_s))
                for key, (queue, delay_s) in delays.items()
            ]
        )
        found = {lane: n for lane, n in (await tags.delayed(at(4.999999))).items() if n}
        assert found == {Lane(LEGACY_PLATFORM, "soon"): 2, Lane(LEGACY_PLATFORM, "later"): 1}
        assert {lane: n for lane, n in (await tags.delayed(at(5.5))).items() if n} == {Lane(LEGACY_PLATFORM, "soon"): 1}

    async def test_a_replaced_delay_is_not_counted_any_more(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag(not_before=at(60))])
        await tags.replace([(a_tag(), a_tag(token="yours"))])
        assert sum((await tags.delayed(NOW)).values()) == 0

    async def test_clearing_forgets_one_lane(self, tags: DedupMarkers) -> None:
        others = [a_tag("a" * 32, queue="later"), a_tag("b" * 32, platform="other")]
        await tags.insert([a_tag(), a_tag(OTHER), *others])
        await tags.confirm([KEY], "mine")
        assert await tags.clear(Lane(LEGACY_PLATFORM, "normal")) == 2
        assert await tags.find([KEY, OTHER, "a" * 32, "b" * 32]) == {tag.key: tag for tag in others}
        assert await tags.clear(Lane("other", "normal")) == 1

    async def test_platforms_are_told_apart(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag(platform="other", not_before=at(9)), a_tag(OTHER, not_before=at(9))])
        await tags.confirm([KEY], "mine")
        assert dict(await tags.delayed(NOW)) == {Lane("other", "normal"): 1, Lane(LEGACY_PLATFORM, "normal"): 1}
        assert await tags.any_queued()
        assert await tags.any_queued(["other", "third"])
        assert not await tags.any_queued([LEGACY_PLATFORM])
        assert not await tags.any_queued([])
        await tags.confirm([OTHER], "mine")
        assert await tags.any_queued([LEGACY_PLATFORM])

    async def test_sweeping_forgets_what_is_old(self, tags: DedupMarkers) -> None:
        await tags.insert([a_tag(at=at(-0.000001)), a_tag(OTHER, at=NOW)])
        await tags.confirm([KEY, OTHER], "mine")
        assert await tags.sweep(NOW) == 1
        assert set(await tags.find([KEY, OTHER])) == {OTHER}

    async def test_hundreds_of_tags_at_once(self, tags: DedupMarkers) -> None:
        many = [a_tag(f"{n:032x}") for n in range(500)]
        await tags.insert(many[:250])
        assert await tags.insert(many) == {tag.key for tag in many[:250]}
        await tags.confirm([tag.key for tag in many], "mine")
        assert all(tag.queued for tag in (await tags.find([tag.key for tag in many])).values())
        assert len(await tags.find([tag.key for tag in many])) == 500


class StartsContract:
    """A counter for each message, remembered until it is forgotten."""

    async def test_starts_are_counted_by_message(self, starts: CrashCounter) -> None:
        assert await starts.count("a") == 0
        assert [await starts.add("a", NOW), await starts.add("a", at(1)), await starts.add("b", NOW)] == [1, 2, 1]
        assert (await starts.count("a"), await starts.count("b")) == (2, 1)

    async def test_starts_at_once_are_all_counted(self, starts: CrashCounter) -> None:
        assert sorted(await asyncio.gather(*(starts.add("a", NOW) for _ in range(9)))) == list(range(1, 10))

    async def test_what_is_forgotten_begins_anew(self, starts: CrashCounter) -> None:
        await starts.add("a", NOW)
        await starts.forget("a")
        await starts.forget("never begun")
        assert await starts.count("a") == 0
        assert await starts.add("a", NOW) == 1

    async def test_sweeping_forgets_what_was_last_begun_long_ago(self, starts: CrashCounter) -> None:
        await starts.add("a", at(-10))
        await starts.add("b", at(-10))
        await starts.add("b", at(0))
        assert await starts.sweep(at(-5)) == 1
        assert (await starts.count("a"), await starts.count("b")) == (0, 2)
