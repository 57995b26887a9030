from __future__ import annotations

import asyncio
import random
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from ghcrawl.embedded.writer import Work
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Depth, Pushed, by_queue
from ghcrawl.ports.unit_of_work import Committed, Effects
from ghcrawl.values.errors import ConfigError, QueueError, StoreError
from ghcrawl.values.requests import Push
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.memory import MemoryQueue
from queues.sqlite import pops as sqlite_pops
from queues.sqlite.table import Arrival, insert
from tests.support.builders import a_deadletter, a_document, a_request, at
from tests.support.clock import FakeClock
from tests.support.lanes import LANES
from tests.unit.queues.sqlite_crawl import opened, pushes

PATIENT_S = 30.0
LARGE = random.Random(7).randbytes(300_000).hex()
"""Bodies are compressed, and this one hardly can be."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


class Lock:
    """Another process that holds the file."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("BEGIN IMMEDIATE")

    def free(self) -> None:
        self._connection.execute("COMMIT")
        self._connection.close()


async def test_it_is_known_since_when_the_next_has_been_asked_for(path: Path) -> None:
    wanted = [Push(request=a_request(n, asked_at=at(n)), queue="soon") for n in (3, 1, 2)]
    async with opened(path) as rig:
        for queue in (rig.queue, MemoryQueue(FakeClock())):
            await queue.push(wanted)
            depths = by_queue(await queue.depths())
            assert (depths["soon"].oldest_at, depths["later"].oldest_at) == (at(3), None)


# Several processes -----------------------------------------------------------------------------------------------


async def test_a_second_crawler_is_refused_and_may_push_all_the_same(path: Path) -> None:
    async with opened(path) as first, opened(path) as second:
        assert await first.queue.pop(LANES, patience_s=0) is None
        with pytest.raises(ConfigError, match="is being crawled by another process"):
            await second.queue.pop(LANES, patience_s=0)
        await second.queue.push(pushes(1, 2, 3))
        assert await first.queue.pop(LANES, patience_s=0) is not None
        assert by_queue(await second.queue.depths())["normal"] == Depth(ready=2, in_flight=1)
        assert len(await second.queue.peek("normal", limit=9)) == 2
        assert await second.queue.purge("normal") == 2
        assert not await second.queue.is_empty()


async def test_a_push_of_another_process_is_noticed_by_a_pop_that_waits(path: Path) -> None:
    async with opened(path) as crawler, opened(path) as visitor:
        waiting = asyncio.create_task(crawler.queue.pop(LANES, patience_s=PATIENT_S))
        assert await crawler.queue.pop(LANES, patience_s=0) is None
        await visitor.queue.push(pushes(1))
        async with asyncio.timeout(PATIENT_S / 3):
            assert await waiting is not None


@pytest.fixture
def not_looking_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pop that waits is woken, or sleeps for ever."""
    monkeypatch.setattr(sqlite_pops, "LOOK_AGAIN_S", 3600.0)


@pytest.mark.usefixtures("not_looking_again")
@pytest.mark.parametrize("by", ["push", "release", "commit"])
async def test_whatever_this_process_puts_into_the_file_wakes_a_pop_at_once(path: Path, by: str) -> None:
    async with opened(path) as crawl:
        await crawl.queue.push(pushes(1))
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        waiting = asyncio.create_task(crawl.queue.pop(LANES, patience_s=PATIENT_S))
        assert await crawl.queue.pop(LANES, patience_s=0) is None
        if by == "push":
            await crawl.queue.push(pushes(2))
        elif by == "release":
            await delivery.release()
        else:
            await crawl.unit_of_work.commit(delivery, Effects(pushes=tuple(pushes(2))))
        async with asyncio.timeout(PATIENT_S / 3):
            assert await waiting is not None


@pytest.mark.usefixtures("not_looking_again")
async def test_a_request_that_comes_due_wakes_a_pop_that_waits(path: Path) -> None:
    clock = SystemClock()
    async with opened(path, clock) as crawl:
        soon = clock.now() + timedelta(seconds=0.05)
        await crawl.queue.push([Push(request=a_request(), queue="soon", not_before=soon)])
        async with asyncio.timeout(PATIENT_S / 3):
            delivery = await crawl.queue.pop(LANES, patience_s=PATIENT_S)
        assert delivery is not None
        assert clock.now() >= soon


async def test_what_a_dead_crawler_had_in_hand_waits_for_the_next(path: Path) -> None:
    async with opened(path) as first:
        await first.queue.push(pushes(1, 2))
        await first.queue.pop(LANES, patience_s=0)
    async with opened(path) as visitor:
        assert by_queue(await visitor.queue.depths())["normal"] == Depth(ready=1, in_flight=1)
    async with opened(path) as second:
        await second.queue.take_over()
        assert by_queue(await second.queue.depths())["normal"] == Depth(ready=2)


async def test_wrong_depths_are_put_right_by_the_next_crawler(path: Path) -> None:
    async with opened(path) as crawl:
        await crawl.queue.push(pushes(1, 2))
        spoil = "UPDATE lanes SET ready = 99, delayed = 98"
        await crawl.file.submit(Work(lambda connection: connection.execute(spoil).rowcount))
        await crawl.queue.take_over()
        assert by_queue(await crawl.queue.depths())["normal"] == Depth(ready=2)


async def test_a_pop_that_is_cancelled_when_it_has_its_request_gives_it_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path) as crawl:
        await crawl.queue.push(pushes(1))
        task = asyncio.create_task(crawl.queue.pop(LANES, patience_s=PATIENT_S))
        end = crawl.queue._pops._end

        def end_and_cancel(*args: Any) -> None:
            end(*args)
            task.cancel()

        with monkeypatch.context() as patch:
            patch.setattr(crawl.queue._pops, "_end", end_and_cancel)
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await crawl.queue.pop(LANES, patience_s=PATIENT_S) is not None


# Trouble ---------------------------------------------------------------------------------------------------------


async def test_a_locked_file_slows_a_pop_and_loses_nothing(path: Path) -> None:
    async with opened(path, busy_timeout_s=0.01) as crawl:
        await crawl.queue.push(pushes(1))
        await crawl.queue.take_over()
        lock = Lock(path)
        with pytest.raises(QueueError, match="locked"):
            await crawl.queue.pop(LANES, patience_s=0)
        with pytest.raises(QueueError, match="locked"):
            await crawl.queue.push(pushes(2))
        lock.free()
        assert await crawl.queue.pop(LANES, patience_s=0) is not None


async def test_a_release_that_cannot_be_written_happens_with_the_next_claim(path: Path) -> None:
    async with opened(path, busy_timeout_s=0.01) as crawl:
        await crawl.queue.push(pushes(1))
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        lock = Lock(path)
        with capture_logs() as logs:
            await delivery.release()
        assert [entry["event"] for entry in logs] == ["release_postponed"]
        lock.free()
        again = await crawl.queue.pop(LANES, patience_s=PATIENT_S)
        assert again is not None
        assert again.request == delivery.request


async def test_an_ack_that_fails_leaves_the_request_to_be_released(path: Path) -> None:
    async with opened(path, busy_timeout_s=0.01) as crawl:
        await crawl.queue.push(pushes(1))
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        lock = Lock(path)
        with pytest.raises(QueueError, match="locked"):
            await delivery.ack()
        lock.free()
        await delivery.release()
        assert by_queue(await crawl.queue.depths())["normal"] == Depth(ready=1)


async def test_a_full_disk_fails_a_commit_whole_and_the_request_comes_again(path: Path) -> None:
    async with opened(path, max_pages=40) as crawl:
        await crawl.queue.push(pushes(1))
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        effects = Effects(pushes=tuple(pushes(2)), document=a_document(body={"text": LARGE}))
        with pytest.raises(Exception, match="no space left"):
            await crawl.unit_of_work.commit(delivery, effects)
        await delivery.release()
        assert by_queue(await crawl.queue.depths())["normal"] == Depth(ready=1)
    async with opened(path) as crawl:
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        committed = await crawl.unit_of_work.commit(delivery, effects)
        assert (committed.saved, committed.pushed.queued) == ("saved", 1)


async def test_a_commit_that_fails_in_the_middle_leaves_no_trace(path: Path) -> None:
    async with opened(path) as crawl:
        await crawl.queue.push(pushes(1))
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        await crawl.file.submit(Work(lambda connection: connection.execute("DROP TABLE deadletters").rowcount))
        with pytest.raises(StoreError, match="no such table"):
            await crawl.unit_of_work.commit(
                delivery, Effects(pushes=tuple(pushes(2)), document=a_document(), deadletter=a_deadletter())
            )
        assert await crawl.store.get(a_document().urn) is None
        assert by_queue(await crawl.queue.depths())["normal"] == Depth(in_flight=1)


async def test_a_question_is_asked_once_although_its_transaction_is_repeated(path: Path) -> None:
    def fail(_: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("another one's")

    async with opened(path) as crawl:
        await crawl.queue.push(pushes(1))
        delivery = await crawl.queue.pop(LANES, patience_s=0)
        assert delivery is not None
        effects = Effects(document=a_document(), asks=lambda saved: pushes(2)[0] if saved == "saved" else None)
        committed, failed = await asyncio.gather(
            crawl.unit_of_work.commit(delivery, effects),
            crawl.file.write(Work(fail), StoreError),
            return_exceptions=True,
        )
        assert isinstance(failed, StoreError)
        assert committed == Committed(saved="saved", pushed=Pushed(queued=1))


async def test_a_message_that_cannot_be_filed_as_a_deadletter_is_kept(path: Path) -> None:
    async with opened(path) as crawl:
        arrival = Arrival(LEGACY_PLATFORM, 3, b"key", None, 0, b"\xff")
        await crawl.file.submit(Work(lambda connection: insert(connection, [arrival])))
        await crawl.file.submit(Work(lambda connection: connection.execute("ALTER TABLE deadletters RENAME TO d")))
        with pytest.raises(QueueError, match="no such table"):
            await crawl.queue.pop(LANES, patience_s=0)
        await crawl.file.submit(Work(lambda connection: connection.execute("ALTER TABLE d RENAME TO deadletters")))
        assert await crawl.queue.pop(LANES, patience_s=0) is None
        assert await crawl.queue.pop(LANES, patience_s=0) is None
        letters = await crawl.deadletters.list(DeadletterFilter(), limit=9)
        assert [letter.raw for letter in letters] == [b"\xff"]
        assert await crawl.queue.is_empty()


async def test_a_delivery_of_another_queue_is_refused(path: Path) -> None:
    other = MemoryQueue(FakeClock())
    await other.push(pushes(1))
    delivery = await other.pop(LANES, patience_s=0)
    assert delivery is not None
    async with opened(path) as crawl:
        with pytest.raises(TypeError, match="MemoryDelivery was not popped from this queue"):
            await crawl.unit_of_work.commit(delivery, Effects())


async def test_a_pop_of_a_closed_file_says_so(path: Path) -> None:
    async with opened(path) as crawl:
        await crawl.queue.take_over()
    with pytest.raises(QueueError, match="closed"):
        await crawl.queue.pop(LANES, patience_s=0)
