"""The contract of taking deliveries in, bound to its implementations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.backend import SCHEMA
from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.inbox import IdempotencyKeys, Inbox
from ghcrawl.ports.queue import Queue
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.requests import Payload, Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues import codec
from queues.memory import MemoryQueue
from queues.memory_dedup import MemoryDedupMarkers
from queues.sqlite.queue import SqliteQueue
from stores.idempotency_keys import MarkerIdempotencyKeys
from stores.inbox import STALE_S, SequentialInbox
from stores.sqlite.deadletters import SqliteDeadletters
from stores.sqlite.idempotency_keys import SqliteIdempotencyKeys
from stores.sqlite.inbox import SqliteInbox
from tests.support.builders import NOW
from tests.support.clock import FakeClock
from tests.support.lanes import lanes


def a_push(id: str = "d1", body: Any = None) -> Push:
    payload = Payload(
        body={"id": id} if body is None else body, origin="webhook", observed_at=NOW, delivery_id=id, digest=id
    )
    return Push(
        request=Request(platform=LEGACY_PLATFORM, type="event", url=f"https://x/{id}", payload=payload), queue="event"
    )


async def waiting(queue: Queue) -> Sequence[str]:
    return [request.url.rpartition("/")[2] for request in await queue.peek("event", limit=100)]


class TakingContract:
    """What a delivery holds waits, and its id is taken: once, and both or neither."""

    queue: Queue
    idempotency_keys: IdempotencyKeys
    clock: FakeClock

    async def test_a_delivery_is_taken_once_even_after_it_was_settled(self, inbox: Inbox) -> None:
        assert await inbox.take("d1", a_push())
        assert await waiting(self.queue) == ["d1"]
        assert not await inbox.take("d1", a_push())
        delivery = await self.queue.pop(lanes("event"), patience_s=0)
        assert delivery is not None
        await delivery.ack()
        assert not await inbox.take("d1", a_push())
        assert await waiting(self.queue) == []

    async def test_of_many_who_get_it_at_once_one_takes_it(self, inbox: Inbox) -> None:
        taken = await asyncio.gather(*(inbox.take(f"d{n % 3}", a_push(f"d{n % 3}")) for n in range(30)))
        assert taken.count(True) == 3
        assert sorted(await waiting(self.queue)) == ["d0", "d1", "d2"]

    async def test_what_could_not_be_pushed_may_be_sent_again(self, inbox: Inbox) -> None:
        with pytest.raises(CrawlError):
            await inbox.take("d1", a_push(body={"no": {1, 2}}))
        assert await inbox.take("d1", a_push())
        assert await waiting(self.queue) == ["d1"]

    async def test_whoever_died_between_the_two_keeps_nobody_from_taking_it(self, inbox: Inbox) -> None:
        await self.idempotency_keys.claim("d1", "dead", NOW, stale_before=NOW)
        self.clock.advance(STALE_S + 1)
        assert await inbox.take("d1", a_push())

    async def test_what_was_taken_long_ago_is_forgotten(self, inbox: Inbox) -> None:
        await inbox.take("d1", a_push())
        assert await self.idempotency_keys.sweep(NOW) == 0
        assert await self.idempotency_keys.sweep(NOW + timedelta(seconds=1)) == 1
        assert await inbox.take("d1", a_push())


class TestSequentialTaking(TakingContract):
    @pytest.fixture
    def inbox(self) -> Inbox:
        class Strict(MemoryQueue):
            async def push(self, pushes: Sequence[Push]) -> Any:
                for push in pushes:
                    codec.encode(push.request)
                return await super().push(pushes)

        self.clock = FakeClock()
        self.queue, self.idempotency_keys = Strict(self.clock), MarkerIdempotencyKeys(MemoryDedupMarkers())
        return SequentialInbox(self.queue, self.idempotency_keys, self.clock)


class TestSqliteTaking(TakingContract):
    @pytest.fixture
    async def inbox(self, tmp_path: Path) -> AsyncIterator[Inbox]:
        self.clock = FakeClock()
        file = await SqliteFile.open(tmp_path / "taking.db", schema=SCHEMA, synchronous="OFF")
        queue = SqliteQueue(file, self.clock, bury=SqliteDeadletters(file, codec).burying)
        self.queue, self.idempotency_keys = queue, SqliteIdempotencyKeys(file)
        yield SqliteInbox(file, queue, self.idempotency_keys, self.clock)
        await file.close()

    async def test_both_are_one_transaction_and_wake_whoever_waits_for_work(self, inbox: Inbox) -> None:
        pop = asyncio.create_task(self.queue.pop(lanes("event"), patience_s=30))
        await asyncio.sleep(0)
        assert await inbox.take("d1", a_push())
        async with asyncio.timeout(5):
            assert await pop is not None
