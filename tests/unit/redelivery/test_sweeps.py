"""Deliveries that did not arrive are found and asked for again: once a sweep, by one replica, and not for ever."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from ghcrawl.ports.webhooks import ApiFailure
from ghcrawl.redelivery.state import STATE, Lease, Run, State
from ghcrawl.redelivery.sweep import MAX_AGAIN, MAX_LOST, MAX_PAGES, MAX_SHOWN, MAX_TRIES, Pace
from ghcrawl.redelivery.sweep_schedule import LEASE_S, Redelivery
from ghcrawl.values.errors import StoreError
from stores.memory import MemoryStore
from tests.support.builders import NOW, at
from tests.support.clock import FakeClock
from tests.support.tried import Tried

EVERY_S = 300.0
DAY_S = 86_400


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def platform(clock: FakeClock) -> Tried:
    return Tried(clock)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def sweeper(platform: Tried, store: MemoryStore, **over: object) -> Redelivery:
    pace = Pace(every_s=EVERY_S, gap_s=0)
    return Redelivery(platform, store, platform.clock, pace, **{"worker": "w1", **over})  # type: ignore[arg-type]


async def swept(found: Redelivery, platform: Tried) -> Run:
    """One sweep, once it is due."""
    platform.clock.advance(EVERY_S)
    run = await found.turn()
    assert run is not None
    return run


async def test_what_failed_and_never_arrived_is_asked_for_and_what_arrived_later_is_not(
    platform: Tried, store: MemoryStore
):
    for guid, arrives in (("lost", False), ("late", False), ("fine", True), ("late", True)):
        platform.try_(guid, arrives=arrives)
    platform.good = True
    run = await swept(sweeper(platform, store), platform)
    assert platform.asked == ["lost"]
    assert (run.pages, run.lost, run.asked, run.waiting, run.troubles) == (2, 1, 1, 1, ())
    assert [(asked.guid, asked.event, asked.tries) for asked in run.again] == [("lost", "issues", 1)]
    run = await swept(sweeper(platform, store), platform)
    assert (run.arrived, run.waiting, platform.asked) == (1, 0, ["lost"])


async def test_a_sweep_is_due_only_after_the_last_one_whoever_made_it_and_a_person_may_ask_for_it(
    platform: Tried, store: MemoryStore
):
    one, other = sweeper(platform, store), sweeper(platform, store, worker="w2")
    assert await one.turn() is not None
    assert await other.turn() is None
    platform.clock.advance(EVERY_S - 1)
    assert await other.turn() is None
    await one.soon()
    run = await other.turn()
    assert run is not None
    assert run.worker == "w2"


async def test_of_many_replicas_one_sweeps_and_nothing_is_asked_for_twice(platform: Tried, store: MemoryStore):
    for number in range(5):
        platform.try_(f"lost{number}")
    runs = await asyncio.gather(*(sweeper(platform, store, worker=f"w{n}").turn() for n in range(6)))
    assert len([run for run in runs if run]) == 1
    assert sorted(platform.asked) == [f"lost{number}" for number in range(5)]


async def test_a_replica_that_died_in_the_middle_holds_up_the_others_for_a_while_only(
    platform: Tried, store: MemoryStore
):
    platform.try_("lost")
    dead = State(lease=Lease(worker="dead", until=at(LEASE_S)))
    await store.write_state(STATE, dead.to_json())
    found = sweeper(platform, store)
    await found.soon()
    assert await found.turn() is None
    platform.clock.advance(LEASE_S)
    assert await found.turn() is not None
    assert platform.asked == ["lost"]


async def test_what_keeps_failing_is_asked_for_ever_more_seldom_and_in_the_end_given_up(
    platform: Tried, store: MemoryStore
):
    platform.try_("poison")
    found = sweeper(platform, store)
    sweeps = []
    run = Run(at=NOW)
    for number in range(600):
        before = len(platform.asked)
        run = await swept(found, platform)
        assert len(platform.asked) - before <= 1
        if len(platform.asked) > before:
            sweeps.append(number)
    assert sweeps == [2**tries - 1 for tries in range(MAX_TRIES)]
    assert run.waiting == 1
    platform.clock.advance(3 * DAY_S)
    run = await swept(found, platform)
    assert (run.given_up, run.waiting, len(platform.asked)) == (1, 0, MAX_TRIES)


async def test_what_is_too_old_to_be_sent_again_is_left_alone(platform: Tried, store: MemoryStore):
    platform.try_("old")
    platform.clock.advance(3 * DAY_S + 1)
    platform.try_("new")
    await swept(sweeper(platform, store), platform)
    assert platform.asked == ["new"]


async def test_each_sweep_reads_only_what_came_since_the_last_one(platform: Tried, store: MemoryStore):
    found = sweeper(platform, store)
    platform.good = True
    for number in range(20):
        platform.try_(f"first{number}")
        platform.clock.advance(61)
    assert (await swept(found, platform)).pages == 10
    platform.try_("second")
    platform.good = False
    platform.try_("lost")
    platform.good = True
    run = await swept(found, platform)
    assert (run.pages, platform.asked) == (2, ["lost"])


async def test_a_long_list_is_read_over_several_sweeps_and_nothing_is_left_out(platform: Tried, store: MemoryStore):
    found, count = sweeper(platform, store), 3 * MAX_PAGES
    platform.size = 1
    for number in range(count):
        platform.try_(f"{number}", arrives=number % 10 > 0)
        platform.clock.advance(61)
    platform.good = True
    runs = [await swept(found, platform) for _ in range(12)]
    assert {run.pages for run in runs[:3]} == {MAX_PAGES}
    assert max(run.pages for run in runs) == MAX_PAGES
    assert sorted(platform.asked, key=int) == [str(number) for number in range(0, count, 10)]
    assert runs[-1].waiting == 0
    assert (await found.read()).checkpoints[0].gaps == ()


@pytest.mark.slow
async def test_no_more_is_remembered_and_asked_for_at_a_time_than_is_bounded(platform: Tried, store: MemoryStore):
    platform.size = 100
    for number in range(MAX_LOST + 500):
        platform.try_(f"{number}")
    run = await swept(sweeper(platform, store), platform)
    assert (run.waiting, run.asked, len(run.again)) == (MAX_LOST, MAX_AGAIN, MAX_SHOWN)
    platform.good = True
    found = sweeper(platform, store)
    for _ in range(40):
        await swept(found, platform)
    arrived = {one.guid for one in platform.tried["acme"] if one.arrived}
    assert len(arrived) == MAX_LOST + 500
    assert (await found.read()).lost == ()


async def test_one_owner_that_cannot_be_asked_is_said_so_and_the_others_are_asked(platform: Tried, store: MemoryStore):
    platform.names = ("gone", "acme")
    platform.troubles["gone"] = ApiFailure(kind="refused", detail="gone: 404 Not Found")
    platform.try_("lost")
    with capture_logs() as logs:
        run = await swept(sweeper(platform, store), platform)
    assert (run.troubles, platform.asked) == (("gone: 404 Not Found",), ["lost"])
    assert {log["log_level"] for log in logs if log["event"] == "redelivery_swept"} == {"warning"}


async def test_while_there_is_no_quota_nothing_more_is_asked_for_and_the_next_sweep_goes_on(
    platform: Tried, store: MemoryStore
):
    found = sweeper(platform, store)
    platform.size = 1
    for guid in ("a", "b", "c"):
        platform.clock.advance(EVERY_S)
        platform.try_(guid)
    platform.troubles["page 2"] = ApiFailure(kind="away", detail="no quota")
    platform.troubles["again"] = ApiFailure(kind="away", detail="no quota")
    run = await swept(found, platform)
    assert (run.pages, run.waiting, run.asked, run.troubles) == (1, 1, 0, ("no quota",))
    platform.troubles.clear()
    platform.good = True
    run = await swept(found, platform)
    assert (run.pages, run.asked) == (4, 3)  # what is new, down to what was seen, and then the gap


async def test_a_cursor_that_is_refused_is_forgotten_and_the_list_read_from_its_head(
    platform: Tried, store: MemoryStore
):
    found = sweeper(platform, store)
    platform.size = 1
    for guid in ("a", "b", "c"):
        platform.try_(guid)
    platform.troubles["page 2"] = ApiFailure(kind="refused", detail="the cursor is invalid")
    await swept(found, platform)
    platform.troubles.clear()
    platform.good = True
    await swept(found, platform)
    await swept(found, platform)
    assert sorted(platform.asked) == ["a", "b", "c", "c"]


async def test_an_attempt_that_is_refused_is_counted_and_tried_again_later(platform: Tried, store: MemoryStore):
    found = sweeper(platform, store)
    platform.try_("lost")
    platform.troubles["again"] = ApiFailure(kind="refused", detail="403 Forbidden")
    run = await swept(found, platform)
    assert (run.refused, run.asked, run.waiting) == (1, 0, 1)
    platform.troubles.clear()
    platform.good = True
    assert (await swept(found, platform)).asked == 1


async def test_between_two_deliveries_there_is_a_gap(platform: Tried, store: MemoryStore):
    for guid in ("a", "b", "c"):
        platform.try_(guid)
    await Redelivery(platform, store, platform.clock, Pace(every_s=EVERY_S, gap_s=1.5)).turn()
    assert platform.clock.slept == [1.5, 1.5]


async def test_who_is_stopped_in_the_middle_leaves_no_lease_and_what_it_knows(platform: Tried, store: MemoryStore):
    reached, blocked = asyncio.Event(), asyncio.Event()

    class Slow(Tried):
        async def redeliver(self, hook: str, id: int) -> ApiFailure | None:
            reached.set()
            await blocked.wait()
            return None

    slow = Slow(platform.clock)
    slow.try_("lost")
    task = asyncio.create_task(sweeper(slow, store).turn())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    state = await sweeper(slow, store).read()
    assert state.lease is None
    assert [(lost.guid, lost.tries) for lost in state.lost] == [("lost", 0)]


async def test_who_was_outrun_by_another_writes_nothing_over_it(platform: Tried, store: MemoryStore):
    class Meddling(Tried):
        async def redeliver(self, hook: str, id: int) -> ApiFailure | None:
            await store.write_state(STATE, State(next_at=at(7)).to_json())
            return None

    meddling = Meddling(platform.clock)
    meddling.try_("lost")
    with capture_logs() as logs:
        await sweeper(meddling, store).turn()
    assert "redelivery_outrun" in {log["event"] for log in logs}
    assert await sweeper(meddling, store).read() == State(next_at=at(7))


async def test_everything_known_comes_back_from_the_store_as_it_was(platform: Tried, store: MemoryStore):
    platform.size = 1
    platform.troubles["page 1"] = ApiFailure(kind="away", detail="no quota")
    for guid in ("a", "b"):
        platform.try_(guid)
    await sweeper(platform, store).turn()
    state = await sweeper(platform, store).read()
    assert State.from_json(state.to_json()) == state
    assert [gap.cursor for gap in state.checkpoints[0].gaps] == ["1"]
    assert state.next_at == NOW + timedelta(seconds=EVERY_S)


async def test_a_store_that_fails_fails_the_sweep_and_nothing_else(platform: Tried):
    class Away(MemoryStore):
        async def swap_state(self, name: str, before: object, after: object) -> bool:
            raise StoreError("away")

    with pytest.raises(StoreError):
        await sweeper(platform, Away()).turn()
    assert platform.pages == 0
