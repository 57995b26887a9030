"""The loop: what each outcome leaves behind, in which order, and what no failure can do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ghcrawl.engine.supervisor import Supervisor
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import (
    FetchError,
    QueueError,
    StoreError,
    Unstorable,
)
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane
from ghcrawl.values.outcome import (
    Denied,
    Missing,
    Pending,
    Refused,
    Throttled,
    Unchanged,
)
from ghcrawl.values.requests import Context, Payload, Push, Request
from ghcrawl.values.scope import Scope
from ghcrawl.values.tuning import Tuning
from stores.memory import MemoryStore
from tests.support.builders import NOW, a_failure, a_type, at, by_type
from tests.support.lanes import lanes
from tests.support.library import LIBRARY
from tests.support.scripted import Rig, a_body

BOOKS = "lib/books/1"
SHELF = Request(
    platform="library", type="shelf", url="lib/shelves/1", policy="default", asked_at=NOW, root="shelf@lib/shelves/1"
)
SHELF_BODY = a_body({"id": 1, "books": BOOKS}, "lib/shelves/1")
TWO_BOOKS = a_body([{"isbn": 1, "url": "lib/book/1"}, {"isbn": 2, "url": "lib/book/2"}], BOOKS)


def a_rig(answers: dict[str, Any] | None = None, **over: Any) -> Rig:
    return Rig(LIBRARY, {SHELF.url: SHELF_BODY, BOOKS: TWO_BOOKS, **(answers or {})}, **over)


async def test_a_crawl_saves_what_it_reaches_and_leaves_nothing_behind():
    rig = a_rig()
    await rig.push(SHELF)
    await rig.drain()

    assert await rig.store.counts() == by_type("library", shelf=1, books=1, book=2)
    assert await rig.queue.is_empty()
    assert [url for url, _ in rig.fetcher.asked] == [SHELF.url, BOOKS]


async def test_what_carries_its_payload_is_saved_without_a_call():
    rig = a_rig()
    payload = Payload.of({"isbn": 7}, origin="webhook", observed_at=NOW)
    await rig.push(replace(SHELF, type="book", url="lib/book/7", payload=payload))
    settled = await rig.step()

    assert settled is not None
    assert settled.saved == "saved"
    assert rig.fetcher.asked == []


async def test_the_elements_of_a_page_are_saved_with_it_and_each_is_told_of():
    rig = a_rig()
    await rig.push(SHELF)
    await rig.step()
    await rig.step()

    assert [(each.request.type, each.saved) for each in rig.recorder.settlements] == [
        ("shelf", "saved"),
        ("books", "saved"),
        ("book", "saved"),
        ("book", "saved"),
    ]
    assert await rig.queue.is_empty()


async def test_the_elements_of_a_page_that_may_have_killed_a_process_are_queued_one_by_one():
    rig = a_rig()
    await rig.push(replace(SHELF, type="books", url=BOOKS))
    delivery = await rig.pop()
    assert delivery is not None
    delivery.suspect = True  # type: ignore[misc]  # as RabbitMQ's may be
    await rig.engine.step(delivery)

    assert await rig.store.counts() == by_type("library", books=1)
    assert by_queue(await rig.queue.depths())["event"].ready == 2


async def test_of_the_elements_of_a_page_a_bad_one_alone_becomes_a_deadletter():
    three = a_body([{"isbn": 1, "url": "lib/book/1"}, {"url": "lib/book/2"}, {"isbn": 3, "url": "lib/book/3"}], BOOKS)
    rig = a_rig({BOOKS: three}, tuning=Tuning(patience_s=0, max_attempts=1))
    await rig.push(replace(SHELF, type="books", url=BOOKS))
    await rig.step()
    assert await rig.store.counts() == by_type("library", books=1, book=2)
    assert by_queue(await rig.queue.depths())["event"].ready == 1

    await rig.drain()
    (letter,) = await rig.deadletters.list(DeadletterFilter(), limit=10)
    assert letter.request.url == "lib/book/2"
    assert await rig.queue.is_empty()


async def test_an_element_that_no_store_can_hold_costs_the_others_nothing():
    class Choosy(MemoryStore):
        async def save(self, document: Document, *, supersede: str = "") -> Any:
            if document.body == {"isbn": 2, "url": "lib/book/2"}:
                raise Unstorable("2 is too large")
            return await super().save(document, supersede=supersede)

    rig = a_rig(store=Choosy())
    await rig.push(SHELF)
    await rig.drain()

    (letter,) = await rig.deadletters.list(DeadletterFilter(), limit=10)
    assert (letter.request.url, letter.kind) == ("lib/book/2", "unstorable")
    assert await rig.store.counts() == by_type("library", shelf=1, books=1, book=1)
    assert await rig.queue.is_empty()


async def test_a_bug_in_an_adapter_costs_an_attempt_and_not_the_loop():
    class Buggy(MemoryStore):
        async def save(self, document: Document, *, supersede: str = "") -> Any:
            raise TypeError("no such field")

    rig = a_rig(store=Buggy())
    await rig.push(SHELF)
    settled = await rig.step()

    assert settled is not None
    assert (settled.outcome, settled.cause) == ("retry", "internal_error")
    assert by_queue(await rig.queue.depths())["normal"].delayed == 1


async def test_follow_ups_are_durable_before_the_document_and_the_ack_comes_last():
    steps: list[str] = []

    class Steps(MemoryStore):
        async def save(self, document: Document, *, supersede: str = "") -> Any:
            steps.append(f"save, {by_queue(await rig.queue.depths())['normal'].ready} waiting")
            return await super().save(document, supersede=supersede)

    class Acks:
        request, queue, suspect = SHELF, "normal", False

        async def ack(self) -> None:
            steps.append("ack")

        async def release(self) -> None:
            steps.append("release")

    rig = a_rig(store=Steps())
    await rig.engine.step(Acks())  # type: ignore[arg-type]  # a delivery by shape

    assert steps == ["save, 1 waiting", "ack"]


async def test_a_store_that_is_away_releases_the_request_and_costs_no_attempt():
    class Away(MemoryStore):
        async def save(self, document: Document, *, supersede: str = "") -> Any:
            raise StoreError("the store is away")

    rig = a_rig(store=Away())
    await rig.push(SHELF)
    delivery = await rig.pop()
    assert delivery is not None
    with pytest.raises(StoreError):
        await rig.engine.step(delivery)
    depths = by_queue(await rig.queue.depths())

    assert SHELF in await rig.queue.peek("normal", limit=9)
    assert depths["normal"].in_flight == 0


async def test_what_the_store_can_never_hold_is_buried_with_that_reason():
    class Full(MemoryStore):
        async def save(self, document: Document, *, supersede: str = "") -> Any:
            raise Unstorable("over 16 MB")

    rig = a_rig(store=Full())
    await rig.push(SHELF)
    await rig.step()
    (letter,) = await rig.deadletters.list(DeadletterFilter(), limit=9)

    assert (letter.kind, letter.reason) == ("unstorable", "over 16 MB")


async def test_a_failure_costs_an_attempt_and_comes_back_later_with_its_cause():
    rig = a_rig({SHELF.url: [FetchError("down", url=SHELF.url, status=503), SHELF_BODY]})
    await rig.push(SHELF)
    settled = await rig.step()

    assert settled is not None
    assert (settled.outcome, settled.cause) == ("retry", "http_503")
    assert await rig.step() is None
    rig.clock.advance(10)
    delivery = await rig.pop()
    assert delivery is not None
    assert delivery.request.attempt == 1
    (failure,) = delivery.request.failures
    assert (failure.cause, failure.status, failure.worker, failure.at) == ("http_503", 503, "test", NOW)


async def test_delays_grow_and_are_bounded():
    rig = a_rig(tuning=Tuning(patience_s=0, max_attempts=30, retry_base_s=2, retry_cap_s=60))
    rig.fetcher.answers[SHELF.url] = FetchError("down", url=SHELF.url)
    await rig.push(SHELF)
    waits = []
    for _ in range(8):
        await rig.step()
        waited = 0
        while await rig.queue.pop(lanes(platform="library"), patience_s=0) is None:
            rig.clock.advance(1)
            waited += 1
        waits.append(waited)
        await _put_back(rig, waits)

    assert waits[:5] == [2, 4, 8, 16, 32]
    assert waits[5:] == [60, 60, 60]


async def _put_back(rig: Rig, waits: list[int]) -> None:
    failed = SHELF
    for _ in waits:
        failed = failed.failed(a_failure())
    await rig.push(failed)


async def test_one_failure_too_many_is_a_deadletter_with_every_cause():
    rig = a_rig({SHELF.url: FetchError("down", url=SHELF.url, status=502)}, tuning=Tuning(patience_s=0, max_attempts=3))
    await rig.push(SHELF)
    for _ in range(3):
        assert await rig.step() is not None
        rig.clock.advance(1000)
    (letter,) = await rig.deadletters.list(DeadletterFilter(), limit=9)

    assert letter.kind == "http_502"
    assert [failure.cause for failure in letter.failures] == ["http_502"] * 3
    assert letter.first_at < letter.last_at
    assert "FetchError" in letter.traceback
    assert await rig.queue.is_empty()


async def test_a_bug_in_a_processor_costs_an_attempt_and_not_the_loop():
    rig = a_rig({SHELF.url: a_body({"id": 1}, SHELF.url)})
    await rig.push(SHELF)
    settled = await rig.step()

    assert settled is not None
    assert (settled.outcome, settled.cause) == ("retry", "internal_error")


@pytest.mark.parametrize(
    ("request_", "answer", "cause"),
    [
        (SHELF, a_body({}, SHELF.url), "malformed"),
        (replace(SHELF, type="planet"), SHELF_BODY, "no_processor"),
        (replace(SHELF, policy="nonsense"), SHELF_BODY, "invalid_request"),
        (replace(SHELF, policy="default:planet"), SHELF_BODY, "invalid_request"),
        (SHELF, Refused(status=422, reason="refused", detail="no"), "http_422"),
    ],
)
async def test_what_no_retry_can_help_is_buried_at_once(request_: Request, answer: Any, cause: str):
    rig = a_rig({SHELF.url: answer})
    await rig.push(request_)
    settled = await rig.step()

    assert settled is not None
    assert (settled.outcome, settled.cause) == ("bury", cause)
    assert (await rig.deadletters.count(DeadletterFilter())).total == 1


async def test_waiting_for_quota_costs_no_attempt_however_often_it_happens():
    rig = a_rig({SHELF.url: [*[Throttled(until=at(60 * n), reason="primary") for n in range(1, 9)], SHELF_BODY]})
    await rig.push(SHELF)
    for _ in range(8):
        settled = await rig.step()
        assert settled is not None
        assert settled.outcome == "defer"
        assert await rig.step() is None
        rig.clock.advance(60)
    settled = await rig.step()

    assert settled is not None
    assert settled.request.attempt == 0
    assert settled.saved == "saved"


async def test_what_is_not_ready_yet_is_asked_a_few_times_and_then_left():
    rig = a_rig({SHELF.url: Pending(wait_s=10, detail="computing")}, tuning=Tuning(patience_s=0, max_attempts=3))
    await rig.push(SHELF)
    outcomes = []
    for _ in range(3):
        settled = await rig.step()
        assert settled is not None
        outcomes.append((settled.outcome, settled.reason))
        rig.clock.advance(11)

    assert outcomes == [("retry", ""), ("retry", ""), ("skip", "not_ready")]
    assert (await rig.deadletters.count(DeadletterFilter())).total == 0


async def test_what_may_not_be_seen_is_skipped_with_its_reason():
    rig = a_rig({SHELF.url: Denied(status=403, reason="sso", detail="authorise the token")})
    await rig.push(SHELF)
    settled = await rig.step()

    assert settled is not None
    assert (settled.outcome, settled.reason, settled.detail) == ("skip", "denied_sso", "authorise the token")


async def test_a_thing_that_is_gone_becomes_a_tombstone_and_a_stranger_is_only_skipped():
    rig = a_rig({SHELF.url: [SHELF_BODY, Missing(status=410, detail="deleted", observed_at=at(50))]})
    await rig.push(SHELF)
    await rig.drain()
    rig.clock.advance(60)
    await rig.push(replace(SHELF, asked_at=rig.clock.now()))
    await rig.drain()
    tombstone = await rig.store.get("urn:library:shelf:1")

    assert tombstone is not None
    assert (tombstone.deleted_at, tombstone.deleted_reason) == (at(50), "410 deleted")
    assert tombstone.body["id"] == 1
    stranger = a_rig({SHELF.url: Missing(status=404, detail="never was", observed_at=NOW)})
    await stranger.push(SHELF)
    settled = await stranger.step()
    assert settled is not None
    assert (settled.outcome, settled.reason) == ("skip", "missing")


async def test_an_unchanged_thing_is_traversed_and_not_saved_again():
    rig = a_rig()
    await rig.push(SHELF)
    await rig.drain()
    rig.clock.advance(60)
    for url in (SHELF.url, BOOKS):
        rig.fetcher.answers[url] = Unchanged(checked_at=rig.clock.now())
    before = len(rig.recorder.settlements)
    await rig.push(replace(SHELF, asked_at=rig.clock.now()))
    await rig.drain()

    later = rig.recorder.settlements[before:]
    assert [(one.request.type, one.reason) for one in later] == [("shelf", "unchanged"), ("books", "unchanged")]
    assert all(stored is not None for _, stored in rig.fetcher.asked[-2:])


async def test_equal_content_is_unchanged_even_where_the_platform_sends_it_again():
    rig = a_rig()
    await rig.push(SHELF)
    await rig.drain()
    rig.clock.advance(60)
    later = replace(SHELF_BODY, checked_at=rig.clock.now(), observed_at=rig.clock.now())
    rig.fetcher.answers[SHELF.url] = later
    await rig.push(replace(SHELF, asked_at=rig.clock.now()))
    settled = await rig.step()

    assert settled is not None
    assert settled.reason == "unchanged"
    stored = await rig.store.look_up(SHELF.type_name, SHELF.url)
    assert stored is not None
    assert stored.checked_at == rig.clock.now()


async def test_a_current_copy_that_vanished_is_fetched_whole():
    class Forgetful(MemoryStore):
        async def get(self, urn: str) -> None:
            return None

    rig = a_rig({SHELF.url: [SHELF_BODY, Unchanged(checked_at=at(60)), SHELF_BODY]}, store=Forgetful())
    await rig.push(SHELF)
    await rig.drain()
    rig.clock.advance(60)
    await rig.push(replace(SHELF, asked_at=rig.clock.now()))
    await rig.drain()

    asked = [stored is not None for url, stored in rig.fetcher.asked if url == SHELF.url]
    assert asked == [False, True, False]


async def test_a_thing_is_asked_for_once_in_a_crawl_however_often_it_is_reached():
    rig = a_rig()
    await rig.push(SHELF)
    await rig.drain()
    await rig.push(SHELF)
    await rig.push(replace(SHELF, policy="default:book"))
    await rig.drain()

    assert [url for url, _ in rig.fetcher.asked].count(SHELF.url) == 1


async def test_what_our_copy_answered_is_asked_for_again_if_it_may_have_changed_since():
    rig = a_rig({"lib/shelves/2": a_body({"id": 2, "books": BOOKS}, "lib/shelves/2")})
    await rig.push(SHELF)
    await rig.drain()
    rig.clock.advance(10)
    await rig.push(replace(SHELF, type="books", url=BOOKS, policy="default:shelf@/books"))
    settled = (await rig.drain())[-1]
    await rig.push(replace(SHELF, url="lib/shelves/2", asked_at=at(5)))
    await rig.drain()

    assert settled.reason == "visited"
    assert [url for url, _ in rig.fetcher.asked].count(BOOKS) == 2


async def test_what_was_refused_is_not_asked_for_again_under_another_policy():
    rig = a_rig({SHELF.url: Denied(status=403, reason="blocked", detail="no")})
    await rig.push(SHELF, replace(SHELF, policy="default:book"))
    await rig.drain()

    assert len(rig.fetcher.asked) == 1


async def test_an_event_asks_the_platform_in_any_case():
    rig = a_rig()
    await rig.push(SHELF)
    await rig.drain()
    await rig.push(replace(SHELF, asked_at=None))
    await rig.drain()

    assert [url for url, _ in rig.fetcher.asked].count(SHELF.url) == 2


class Held:
    """A rig that asks for one shelf and does not get its answer yet, while others want the same."""

    def __init__(self, loops: int) -> None:
        self.rig = a_rig(tuning=Tuning(patience_s=0.001, loops=loops))
        self.entered, self.leave = asyncio.Event(), asyncio.Event()
        self.rig.fetcher.answers[SHELF.url] = self._slowly

    async def _slowly(self, _: Request) -> Any:
        self.entered.set()
        await self.leave.wait()
        return SHELF_BODY

    async def step(self, policy: str) -> None:
        """One turn with another request for that shelf."""
        await self.rig.push(replace(SHELF, policy=policy))
        delivery = await self.rig.pop()
        assert delivery is not None
        await self.rig.engine.step(delivery)

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[Rig]:
        first = asyncio.create_task(self.step("default"))
        await self.entered.wait()
        yield self.rig
        self.leave.set()
        await first

    @property
    def settled(self) -> list[tuple[str, str]]:
        return [(each.outcome, each.reason) for each in self.rig.recorder.settlements if each.request.url == SHELF.url]

    async def run(self) -> None:
        """A loop that ends once there is nothing to do."""
        stop = asyncio.Event()
        loop = asyncio.create_task(self.rig.engine.run(stop))
        async with asyncio.timeout(10):
            await Supervisor(self.rig.engine, SystemClock()).until_empty(self.rig.queue, every_s=0.001)
        stop.set()
        await loop


async def test_a_request_for_a_url_that_another_loop_asks_for_waits_in_the_process():
    held = Held(loops=4)
    async with held.asking() as rig:
        await held.step("default:book")
        waiting = len(rig.recorder.settlements)
    await held.run()

    assert waiting == 0
    assert [outcome for outcome, _ in held.settled] == ["save", "skip"]
    assert [url for url, _ in rig.fetcher.asked].count(SHELF.url) == 1


async def test_half_as_many_requests_as_there_are_loops_wait_in_the_process_and_others_in_their_queue():
    held = Held(loops=4)
    async with held.asking() as rig:
        for policy in ("default:book", "default:author", "reload:book"):
            await held.step(policy)
        put_back = held.settled[:]
    rig.clock.advance(2)
    await held.run()

    assert put_back == [("defer", "in_flight")]
    assert len(held.settled) == 5
    assert [url for url, _ in rig.fetcher.asked].count(SHELF.url) == 1


@pytest.mark.parametrize("why", ["stopped", "paused"])
async def test_what_waits_in_the_process_is_released_when_the_loops_are(why: str):
    held = Held(loops=4)
    async with held.asking() as rig:
        await held.step("default:book")
        stop = asyncio.Event()
        if why == "paused":
            rig.engine.tuning = replace(rig.engine.tuning, paused=True)
            asyncio.get_running_loop().call_soon(stop.set)
        else:
            stop.set()
        await rig.engine.run(stop)
        assert (await rig.pop()) is not None


async def test_what_lies_outside_the_scope_is_neither_asked_for_nor_queued():
    rig = a_rig(tuning=Tuning(patience_s=0, scope=Scope(allow=("acme",))))
    await rig.push(replace(SHELF, context=Context(scope="other/thing")))
    settled = await rig.step()

    assert settled is not None
    assert settled.reason == "excluded"
    assert rig.fetcher.asked == []


async def test_a_slow_answer_is_cut_off_and_costs_an_attempt():
    rig = a_rig(tuning=Tuning(patience_s=0, timeout_s=0.001))

    async def never(_: Request) -> Any:
        await asyncio.Event().wait()

    rig.fetcher.answers[SHELF.url] = never
    await rig.push(SHELF)
    settled = await rig.step()

    assert settled is not None
    assert (settled.outcome, settled.cause) == ("retry", "timeout")


async def test_cancelling_while_deciding_releases_and_while_settling_finishes():
    entered = asyncio.Event()

    async def forever(_: Request) -> Any:
        entered.set()
        await asyncio.Event().wait()

    rig = a_rig({SHELF.url: forever})
    await rig.push(SHELF)
    delivery = await rig.pop()
    assert delivery is not None
    task = asyncio.create_task(rig.engine.step(delivery))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert by_queue(await rig.queue.depths())["normal"].ready == 1

    committing, go_on = asyncio.Event(), asyncio.Event()

    class Slow(MemoryStore):
        async def save(self, document: Document, *, supersede: str = "") -> Any:
            committing.set()
            await go_on.wait()
            return await super().save(document, supersede=supersede)

    rig = a_rig(store=Slow())
    await rig.push(SHELF)
    delivery = await rig.pop()
    assert delivery is not None
    task = asyncio.create_task(rig.engine.step(delivery))
    await committing.wait()
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await rig.store.counts())[a_type("shelf", "library")] == 1
    assert by_queue(await rig.queue.depths())["normal"].in_flight == 0


async def test_a_broken_broker_slows_the_loop_and_never_ends_it():
    rig, stop = a_rig(), asyncio.Event()
    pops = 0

    class Broken:
        async def pop(self, order: Any, *, patience_s: float) -> None:
            nonlocal pops
            pops += 1
            if pops == 4:
                stop.set()
            raise QueueError("the broker is away")

    rig = a_rig(queue=Broken())
    await rig.engine.run(stop)

    assert pops == 4
    assert rig.clock.slept == sorted(rig.clock.slept)
    assert len(rig.clock.slept) == 4


async def test_without_quota_only_what_needs_none_is_popped():
    rig, stop, orders = a_rig(), asyncio.Event(), []

    class Watching:
        async def pop(self, order: Any, *, patience_s: float) -> None:
            orders.append(tuple(order))
            stop.set()

    rig = a_rig(queue=Watching())
    rig.fetcher.blocked = at(3600)
    await rig.engine.run(stop)

    assert orders == [(Lane("library", "event"),)]


async def test_a_paused_engine_pops_nothing():
    rig, stop = a_rig(tuning=Tuning(paused=True, patience_s=1)), asyncio.Event()
    await rig.push(SHELF)
    task = asyncio.create_task(rig.engine.run(stop))
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(rig.clock.slept) > 3
    stop.set()
    await task

    assert rig.recorder.settlements == []


async def test_what_was_popped_while_somebody_paused_goes_back(monkeypatch: pytest.MonkeyPatch):
    rig, stop = a_rig(), asyncio.Event()
    await rig.push(SHELF)
    queue = rig.queue

    popped = queue.pop

    async def pop(order: Any, *, patience_s: float) -> Any:
        stop.set()
        rig.engine.tuning = replace(rig.engine.tuning, paused=True)
        return await popped(order, patience_s=patience_s)

    monkeypatch.setattr(queue, "pop", pop)
    await rig.engine.run(stop)

    assert rig.recorder.settlements == []
    assert by_queue(await queue.depths())["normal"].ready == 1


async def test_a_push_of_deferred_work_goes_back_to_the_queue_it_came_from():
    rig = a_rig({SHELF.url: Throttled(until=at(5), reason="secondary")})
    await rig.queue.push([Push(request=SHELF, queue="soon")])
    await rig.step()

    assert by_queue(await rig.queue.depths())["soon"].delayed == 1
