"""The contract of taking deliveries in, bound to its implementations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.errors import CrawlError
from ghcrawl.model import Payload, Push, Request
from ghcrawl.ports import Queue
from ghcrawl.receipts import Receipts, Taking
from ghcrawl.sqlite_file import SqliteFile
from queues import codec
from queues import sqlite as sqlite_queue
from queues.memory import MemoryQueue
from queues.memory_tags import MemoryTags
from queues.sqlite import SqliteQueue
from stores import sqlite_deadletters
from stores.receipts import TagReceipts
from stores.sqlite_deadletters import SqliteDeadletters
from stores.sqlite_receipts import SqliteReceipts
from stores.taking import STALE_S, SequentialTaking, SqliteTaking
from tests.support.builders import NOW
from tests.support.clock import FakeClock

SCHEMA = (*sqlite_queue.SCHEMA, *sqlite_deadletters.SCHEMA)


def a_push(id: str = "d1", body: Any = None) -> Push:
    payload = Payload(
        body={"id": id} if body is None else body, origin="webhook", observed_at=NOW, delivery_id=id, digest=id
    )
    return Push(request=Request(type="event", url=f"https://x/{id}", payload=payload), queue="event")


async def waiting(queue: Queue) -> Sequence[str]:
    return [request.url.rpartition("/")[2] for request in await queue.peek("event", limit=100)]


class TakingContract:
    """What a delivery holds waits, and its id is taken: once, and both or neither."""

    queue: Queue
    receipts: Receipts
    clock: FakeClock

    async def test_a_delivery_is_taken_once_even_after_it_was_settled(self, taking: Taking) -> None:
        assert await taking.take("d1", a_push())
        assert await waiting(self.queue) == ["d1"]
        assert not await taking.take("d1", a_push())
        delivery = await self.queue.pop(["event"], patience_s=0)
        assert delivery is not None
        await delivery.ack()
        assert not await taking.take("d1", a_push())
        assert await waiting(self.queue) == []

    async def test_of_many_who_get_it_at_once_one_takes_it(self, taking: Taking) -> None:
        taken = await asyncio.gather(*(taking.take(f"d{n % 3}", a_push(f"d{n % 3}")) for n in range(30)))
        assert taken.count(True) == 3
        assert sorted(await waiting(self.queue)) == ["d0", "d1", "d2"]

    async def test_what_could_not_be_pushed_may_be_sent_again(self, taking: Taking) -> None:
        with pytest.raises(CrawlError):
            await taking.take("d1", a_push(body={"no": {1, 2}}))
        assert await taking.take("d1", a_push())
        assert await waiting(self.queue) == ["d1"]

    async def test_whoever_died_between_the_two_keeps_nobody_from_taking_it(self, taking: Taking) -> None:
        await self.receipts.claim("d1", "dead", NOW, stale_before=NOW)
        self.clock.advance(STALE_S + 1)
        assert await taking.take("d1", a_push())

    async def test_what_was_taken_long_ago_is_forgotten(self, taking: Taking) -> None:
        await taking.take("d1", a_push())
        assert await self.receipts.sweep(NOW) == 0
        assert await self.receipts.sweep(NOW + timedelta(seconds=1)) == 1
        assert await taking.take("d1", a_push())


class TestSequentialTaking(TakingContract):
    @pytest.fixture
    def taking(self) -> Taking:
        class Strict(MemoryQueue):
            async def push(self, pushes: Sequence[Push]) -> Any:
                for push in pushes:
                    codec.encode(push.request)
                return await super().push(pushes)

        self.clock = FakeClock()
        self.queue, self.receipts = Strict(self.clock), TagReceipts(MemoryTags())
        return SequentialTaking(self.queue, self.receipts, self.clock)


class TestSqliteTaking(TakingContract):
    @pytest.fixture
    async def taking(self, tmp_path: Path) -> AsyncIterator[Taking]:
        self.clock = FakeClock()
        file = await SqliteFile.open(tmp_path / "taking.db", schema=SCHEMA, synchronous="OFF")
        queue = SqliteQueue(file, self.clock, bury=SqliteDeadletters(file, codec).burying)
        self.queue, self.receipts = queue, SqliteReceipts(file)
        yield SqliteTaking(file, queue, self.receipts, self.clock)
        await file.close()

    async def test_both_are_one_transaction_and_wake_whoever_waits_for_work(self, taking: Taking) -> None:
        pop = asyncio.create_task(self.queue.pop(["event"], patience_s=30))
        await asyncio.sleep(0)
        assert await taking.take("d1", a_push())
        async with asyncio.timeout(5):
            assert await pop is not None
