"""What the broker set aside for having come back too often: looked at, or the death of whoever had it."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.requests import Push, Request
from queues.amqp import dead_letters as amqp_deaths
from queues.amqp.dead_letters import (
    LIMIT,
    MAX_PARDONS,
    DeadLetterHandler,
    name_of,
)
from queues.amqp.message import TOKEN, Incoming, Outgoing
from queues.codec import encode
from queues.dedup_protocol import DedupProtocol
from queues.memory_dedup import MemoryCrashCounter, MemoryDedupMarkers
from stores.memory import MemoryDeadletters
from tests.support.builders import NOW, a_request
from tests.support.clock import FakeClock
from tests.unit.queues.amqp_messages import incoming

DEATH = {"x-death": [{"queue": "p.q.later", "reason": LIMIT}]}


class Place:
    """A request that was pushed, the copy of it that the broker set aside, and what goes back to work."""

    def __init__(self) -> None:
        self.markers, self.crashes, self.deadletters = MemoryDedupMarkers(), MemoryCrashCounter(), MemoryDeadletters()
        self.dedup = DedupProtocol(
            markers=self.markers, pack=self.packed, publish=self.published, sleep=FakeClock().sleep
        )
        self.undertaker = DeadLetterHandler(self.deadletters.bury, self.markers, self.crashes, FakeClock())
        self.sent: list[Outgoing] = []

    async def packed(self, request: Request) -> bytes:
        return encode(request)

    async def published(self, markers: Any) -> None:
        self.posts: list[DedupMarker] = list(markers)

    async def pushed(self) -> Incoming:
        """The copy, dead."""
        await self.dedup.push([Push(request=a_request(1), queue="later")], token="t1", now=NOW)
        (post,) = self.posts
        return incoming("normal", body=post.body, headers={TOKEN: post.token, **DEATH})

    async def files(self, dead: Incoming) -> bool:
        """Whether a deadletter comes of it; if none does, it was sent back to where it came from."""
        pardoned = await self.undertaker.file_dead(dead)
        assert dead.over == (pardoned is None), "it is acked once what takes its place is durable"
        if pardoned is not None:
            assert pardoned.lane.queue == "later"
            self.sent.append(pardoned)
        return pardoned is None

    async def rounds(self, dead: Incoming, at_the_most: int) -> int:
        """How often it is sent back until it is filed."""
        for number in range(at_the_most):
            if await self.files(dead):
                return number
            dead = incoming(
                "normal", body=self.sent[-1].body, headers={**(self.sent[-1].properties().headers or {}), **DEATH}
            )
        return at_the_most


async def test_what_was_only_looked_at_goes_back_to_work_however_often() -> None:
    place = Place()
    assert await place.rounds(await place.pushed(), 50) == 50
    assert (place.sent[-1].spared, place.sent[-1].pardons) == (50, 0)
    assert await place.dedup.take(a_request(1), "later", token=place.sent[-1].token) == "first"


async def test_what_was_popped_once_is_pardoned_thrice_and_filed_then() -> None:
    place = Place()
    dead = await place.pushed()
    assert await place.dedup.take(a_request(1), "later", token="t1") == "first"
    assert await place.rounds(dead, 50) == MAX_PARDONS
    (letter,) = await place.deadletters.list(DeadletterFilter(), limit=2)
    assert (letter.kind, letter.queue) == ("delivery_limit", "later")


async def test_what_killed_somebody_is_not_pardoned() -> None:
    place = Place()
    dead = await place.pushed()
    await place.dedup.take(a_request(1), "later", token="t1")
    await place.crashes.add(name_of(a_request(1), "t1"), NOW)
    assert await place.files(dead)


async def test_what_cannot_be_popped_without_a_death_is_filed_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amqp_deaths, "MAX_SPARED", 5)
    place = Place()
    assert await place.rounds(await place.pushed(), 50) == 5 + MAX_PARDONS
