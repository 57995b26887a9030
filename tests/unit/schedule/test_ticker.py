"""The ticker: replicas that agree, a budget that holds, and sources that learn from what their requests come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from typing import Any

import pytest

from ghcrawl.ports.source import BudgetView, PrincipalView
from ghcrawl.schedule.asking import asking, watch, watched
from ghcrawl.schedule.budget import hourly
from ghcrawl.schedule.options import Options
from ghcrawl.schedule.poolstate import PoolState, from_json, state_name, to_json
from ghcrawl.schedule.ticker import ASKED_D
from ghcrawl.values.errors import QueueError, StoreError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Bury, Defer, Outcome, Save, Skip
from ghcrawl.values.requests import Request
from ghcrawl.values.source import DAY_S, WatchedSource, days
from ghcrawl.values.type_names import TypeName
from queues.memory import MemoryQueue
from stores.sources import MemorySources
from tests.support.builders import NOW, a_failure
from tests.support.scheduled import FEED, MINUTE, World, a_blog, a_page


async def test_what_was_never_read_is_asked_first_and_then_waits_until_it_is_due():
    world = World()
    await world.name("a")
    [ticker] = world.tickers
    ticked = await ticker.turn()
    assert ticked is not None
    assert ticked.asked == 1
    assert await world.answer(ticker) == 1
    world.pass_time(MINUTE / 2)
    assert await ticker.turn() is None, "a tick a minute"
    read = await world.get("a")
    assert (read.calls, read.estimate.last is not None, read.asked) == (1, True, 0.0)


async def test_nothing_is_looked_at_where_nothing_was_ever_named():
    world = World()
    assert await world.tickers[0].turn() is None
    assert await world.store.read_state(state_name("web")) is None


async def test_a_source_is_asked_at_its_poll_interval_at_most_however_rich_the_budget():
    world = World(calls=10_000)
    await world.name("a", rate=500)
    for _ in range(120):
        await world.tickers[0].turn()
        await world.answer(world.tickers[0])
        world.pass_time(20)
    assert 35 <= len(world.asked_at) <= 41, "forty minutes, one a minute"


@pytest.mark.slow
async def test_the_budget_of_an_hour_is_never_exceeded_and_half_of_it_is_half_the_calls_at_once():
    world = World(calls=120)
    await world.name(*(str(n) for n in range(100)), rate=40)
    for minute in range(180):
        if minute == 90:
            world.tickers[0].hourly = lambda: 60.0
        await world.tickers[0].turn()
        await world.answer(world.tickers[0])
        world.pass_time(MINUTE)
    at = world.asked_at
    begin = at[0]
    assert world.most_in_an_hour() <= 120
    halves = Counter(int((moment - begin) * 48 + 1e-9) for moment in at)
    assert [halves[half] for half in (1, 2)] == pytest.approx([60, 60], abs=2)
    assert [halves[half] for half in (3, 4, 5)] == pytest.approx([30, 30, 30], abs=2), "at once, and no swing"


async def test_a_budget_of_nothing_asks_nothing():
    world = World(calls=0)
    await world.name("a", "b")
    for _ in range(5):
        await world.tickers[0].turn()
        world.pass_time(MINUTE)
    assert await world.popped() == []
    world.tickers[0].hourly = lambda: 60.0
    await world.tickers[0].turn()
    assert len(await world.popped()) == 1


async def test_calls_that_are_less_than_one_a_tick_are_saved_up():
    world = World(calls=6)
    await world.name(*"abcdef")
    for _ in range(61):
        await world.tickers[0].turn()
        await world.answer(world.tickers[0])
        world.pass_time(MINUTE)
    assert 5 <= len(world.asked_at) <= 6


@pytest.mark.slow
async def test_three_replicas_of_which_one_dies_and_one_has_a_wrong_clock_ask_nothing_twice():
    world = World(replicas=3, calls=240, max_age_d=0.25)
    world.clocks[2].advance(30)
    names = [str(n) for n in range(200)]
    await world.name(*names[:100], rate=5)
    await world.name(*names[100:], rate=0.1)
    for minute in range(480):
        alive = world.tickers if minute < 200 else world.tickers[1:]
        for ticker in world.random.sample(alive, len(alive)):
            if minute == 200 and ticker is alive[0]:  # the dead one held the lease
                before = await world.store.read_state(state_name("web"))
                held = replace(from_json(before), holder="w0", until=days(world.clock.now()) + MINUTE / DAY_S)
                assert await world.store.swap_state(state_name("web"), before, to_json(held))
            await ticker.turn()
        await world.answer(world.random.choice(alive))
        world.pass_time(MINUTE)
    assert max(world.asked.values()) == 1, "no source twice in one version"
    assert world.most_in_an_hour() <= 240
    assert len(world.asked_at) >= 7 * 240 * 0.95, "and the budget is used"
    reads = [(await world.get(name)).estimate.last for name in names]
    now = days(world.clock.now())
    assert all(read is not None and now - read <= 0.25 for read in reads), "none is starved"


async def test_the_price_does_not_hang_on_who_is_read_first():
    prices = []
    for first, rest in (("busy", "quiet"), ("quiet", "busy")):
        world = World(calls=20)
        for each in (first, rest):
            await world.name(*(f"{each}{n}" for n in range(20)), rate=100 if each == "busy" else 0.1)
            for _ in range(150):
                await world.tickers[0].turn()
                await world.answer(world.tickers[0])
                world.pass_time(MINUTE)
        prices.append(from_json(await world.store.read_state(state_name("web"))).pool.price)
    assert max(prices) < 2 * min(prices)


async def test_what_is_leased_and_lost_is_asked_again_after_a_while():
    world = World()
    await world.name("a")
    await world.tickers[0].turn()
    assert len(await world.popped()) == 1, "and its worker dies"
    world.pass_time(MINUTE * 2)
    await world.tickers[0].turn()
    assert await world.popped() == []
    world.pass_time(ASKED_D * DAY_S)
    await world.tickers[0].turn()
    assert len(await world.popped()) == 1


async def test_a_broker_that_is_away_costs_the_tick_and_nothing_else():
    class Away(MemoryQueue):
        async def push(self, pushes):
            raise QueueError("away")

    world = World()
    await world.name("a")
    world.tickers[0].queue = Away(world.clock)
    with pytest.raises(QueueError):
        await world.tickers[0].turn()
    world.tickers[0].queue = world.queue
    world.pass_time(ASKED_D * DAY_S + MINUTE)
    await world.tickers[0].turn()
    assert len(await world.popped()) == 1


async def test_a_clock_that_was_a_year_ahead_binds_nobody():
    world = World()
    await world.name("a")
    before = await world.store.read_state(state_name("web"))
    ahead = replace(from_json(before), ticked_at=days(NOW) + 365, holder="x", until=days(NOW) + 365)
    await world.store.swap_state(state_name("web"), before, to_json(ahead))
    assert await world.tickers[0].turn() is not None


class TestReadings:
    async def read(self, outcome: Outcome) -> WatchedSource:
        world = World()
        await world.name("a")
        await world.tickers[0].turn()
        [request] = await world.popped()
        await world.tickers[0].read(request, outcome)
        return await world.get("a")

    async def test_an_unchanged_answer_is_a_reading_without_items(self):
        source = await self.read(Skip(reason="unchanged"))
        assert (source.estimate.last, source.errors, source.asked) == (days(NOW), 0, 0.0)

    async def test_what_is_missing_is_left_alone_for_a_day_and_its_estimate_stays(self):
        source = await self.read(Skip(reason="missing"))
        assert source.estimate.last is None
        assert source.errors == 1
        assert source.not_before == pytest.approx(days(NOW) + 1)

    async def test_a_deadletter_is_an_error(self):
        assert (await self.read(Bury(failure=a_failure()))).errors == 1

    async def test_what_is_put_off_is_still_under_way(self):
        assert (await self.read(Defer(until=NOW, reason="primary"))).asked > days(NOW)

    async def test_an_answer_that_somebody_else_got_says_nothing(self):
        source = await self.read(Skip(reason="visited"))
        assert (source.asked, source.estimate.last) == (0.0, None)

    async def test_a_page_that_goes_on_was_cut(self):
        world = World()
        await world.name("a")
        [ticker] = world.tickers
        await ticker.turn()
        [request] = await world.popped()
        await ticker.read(request, a_page(request, []))
        world.pass_time(10 * DAY_S)
        await ticker.turn()
        [request] = await world.popped()
        now = days(world.clock.now())
        await ticker.read(request, a_page(request, [now - n / 2400 for n in range(100)], onward=True))
        assert (await world.get("a")).estimate.slow_days < 1, "only the hour that it covers"

    async def test_what_is_no_source_is_nobodys_business(self):
        world = World()
        await world.name("a")
        [ticker] = world.tickers
        await ticker.turn()
        stranger = Request(platform="web", type="feed", url="https://b.example")
        await ticker.read(stranger, a_page(stranger, []))
        assert await world.sources.count("web") == 1

    async def test_something_without_a_feed_says_only_whether_it_changed(self):
        world = World()
        request = Request(platform="web", type="list", url="https://x/list", policy="refresh")
        source = watched("web", FEED, request)
        await watch(world.sources, world.store, {"web": FEED}, [source])
        assert asking("web", FEED, source) == request
        [ticker] = world.tickers
        await ticker.turn()
        [pushed] = await world.popped()
        await ticker.read(pushed, a_page(pushed, []))
        world.pass_time(DAY_S)
        await ticker.turn()
        [pushed] = await world.popped()
        await ticker.read(pushed, a_page(pushed, []))
        found = await world.sources.get(source.key)
        assert found is not None
        assert found.estimate.slow_items > 0.9


class TestBudget:
    def principal(self, id: str = "p", **fields: object) -> PrincipalView:
        budget = BudgetView(
            resource="core", limit=5000, remaining=2600, reset_at=NOW + timedelta(minutes=30), reserved=100, main=True
        )
        return replace(PrincipalView(id=id, label=id, budgets=(budget,)), **fields)  # type: ignore[arg-type]

    def test_it_is_a_share_of_what_is_left_until_the_reset(self):
        assert hourly([self.principal()], NOW, 0.5) == pytest.approx(0.5 * 4900)
        poor = self.principal(budgets=(replace(self.principal().budgets[0], remaining=350),))
        assert hourly([poor], NOW, 0.5) == pytest.approx(0.5 * 250 / 0.5), "people and events have spent the rest"

    def test_credentials_of_one_principal_count_once_and_those_that_are_refused_not_at_all(self):
        assert hourly([self.principal(), self.principal()], NOW, 1.0) == pytest.approx(4900)
        assert hourly([self.principal(retired="revoked")], NOW, 1.0) == 0
        assert hourly([self.principal(benched_until=NOW + timedelta(minutes=1))], NOW, 1.0) == 0
        assert hourly([self.principal(budgets=())], NOW, 1.0) == 60


# Discovery


def saved(name: str, **over: Any) -> Save:
    save = a_page(a_blog(name), [])
    return replace(save, document=replace(save.document, type="blog", **over))


DISCOVER = Options(discover=frozenset({TypeName("web", "blog")}), discover_limit=2)


async def test_what_a_crawl_saves_becomes_a_source_where_the_settings_say_so():
    world = World()
    [ticker] = world.tickers
    await ticker.read(a_blog("a"), saved("a"))
    assert await world.sources.count("web") == 0

    ticker.options = DISCOVER
    for _ in range(2):
        await ticker.read(a_blog("a"), saved("a"))
    assert (await world.get("a")).named_by == "rule"
    ticked = await ticker.turn()
    assert ticked is not None
    assert ticked.asked == 1


async def test_no_more_is_discovered_than_the_limit_allows_and_nothing_that_is_gone():
    world = World()
    [ticker] = world.tickers
    ticker.options = DISCOVER
    await ticker.read(a_blog("gone"), saved("gone", deleted_at=NOW))
    for name in "abc":
        await ticker.read(a_blog(name), saved(name))
    assert await world.sources.count("web") == 2


async def test_a_source_that_cannot_be_kept_is_discovered_again():
    class Away(MemorySources):
        async def add(self, sources: Sequence[WatchedSource]) -> int:
            raise StoreError("away")

    world = World()
    [ticker] = world.tickers
    ticker.options, ticker.sources = DISCOVER, Away()
    await ticker.read(a_blog("a"), saved("a"))
    ticker.sources = world.sources
    await ticker.read(a_blog("a"), saved("a"))
    assert await world.sources.count("web") == 1


@pytest.mark.slow
@pytest.mark.parametrize("calls", [0.4, 2.8, 5.0, 33.3, 50.0])
async def test_a_budget_is_spent_to_the_last_call_and_parts_of_calls_are_saved_up(calls: float):
    world = World(calls=calls)
    await world.name(*map(str, range(100)), rate=10.0)
    for _ in range(20 * 60):
        await world.tickers[0].turn()
        await world.answer(world.tickers[0])
        world.pass_time(MINUTE)
    assert 20 * calls - 1 <= len(world.asked_at) <= 20 * calls + 1
    assert world.most_in_an_hour() <= ceil(calls), "a call cannot be divided"


def test_what_another_clock_spent_counts_for_a_minute_longer():
    tick = days(NOW)
    state = PoolState(spent=((tick, 4.0, 10.0),))
    at = [tick + minutes / 1440 for minutes in (0, 59, 60, 60.9, 61)]
    assert [state.left(now, 10.0) for now in at] == [6.0, 6.0, 6.0, 6.0, 10.0]
    assert [state.left(now, 10.0, {tick}) for now in at] == [6.0, 6.0, 10.0, 10.0, 10.0]
