"""The ticker: spends a platform's budget on its sources, one replica at a time, and learns from what they answer.

Every replica calls `turn`; the first one that finds a tick due takes a lease and ticks. A replica that dies in its turn
loses the lease in a minute. What is to be spent is written down before anything is queued, and each source is leased by
a write of its version before its request is queued: no crash and no second ticker asks a source twice in one version,
or spends more than the budget.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from ghcrawl.platforms.contract import Feed
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.sources import Sources
from ghcrawl.ports.store import Store
from ghcrawl.schedule import platform_statistics as pools
from ghcrawl.schedule import tick
from ghcrawl.schedule.asking import TICK_D, asking, watch, watched
from ghcrawl.schedule.estimator import Reading
from ghcrawl.schedule.options import Options
from ghcrawl.schedule.platform_statistics import Outlook
from ghcrawl.schedule.poolstate import WINDOW_D, PoolState, from_json, state_name, to_json
from ghcrawl.schedule.strategies import new_items
from ghcrawl.schedule.tick import Ticked
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Bury, Defer, Outcome, Retry, Save, Skip
from ghcrawl.values.requests import Context, Push, Request
from ghcrawl.values.source import DAY_S, WatchedSource, days, source_key
from ghcrawl.values.type_names import TypeName

log = structlog.stdlib.get_logger(__name__)

LEASE_D: Final = 60.0 / DAY_S
ASKED_D: Final = 900.0 / DAY_S
"""A source without an answer for this long may be asked again."""
CATCH_UP_D: Final = 300.0 / DAY_S
"""After a pause, so much of it is made up for at once."""
SURVEY_EVERY_D: Final = 1.0 / 24.0
FREE_ASKS: Final = 10
"""Requests that may be made for each charged call, where unchanged answers are free."""
SOON_SHARE: Final = 0.1
REFUSED_D: Final = 1.0
CLOCKS_D: Final = 300.0 / DAY_S
GROWN: Final = 1.1
"""If this many more sources were read than at the last survey, the price is calculated again."""
TRIES: Final = 3


@dataclass(slots=True, kw_only=True)
class Ticker:
    """One platform's schedule in one replica.

    hourly: calls an hour that may be spent at the moment. tell: told of every tick; found: of every reading's items;
        seen: of what all replicas share, at every turn.
    free_now: whether unchanged answers are free with the credentials of the moment.
    """

    platform: str
    feed: Feed | None
    sources: Sources
    store: Store
    queue: Queue
    clock: Clock
    hourly: Callable[[], float]
    worker: str
    options: Options = field(default_factory=Options)
    free_now: Callable[[], bool] = lambda: False
    tell: Callable[[Ticked], None] = lambda _: None
    found: Callable[[int], None] = lambda _: None
    seen: Callable[[PoolState], None] = lambda _: None
    _types: frozenset[str] = frozenset()
    _noticed: list[tuple[WatchedSource, Reading]] = field(default_factory=list)
    _plan: tick.Plan = field(default_factory=tick.Plan)
    _reach: float = 0.0
    _own: set[float] = field(default_factory=set)
    _discovered: set[str] = field(default_factory=set)

    # Ticking

    async def turn(self) -> Ticked | None:
        """Tick if one is due and no other replica does. None: no tick. Raises StoreError, QueueError."""
        now = days(self.clock.now())
        before = await self.store.read_state(state_name(self.platform))
        if before is None:  # no source was ever named
            return None
        state = from_json(before)
        self._learn(state)
        self.seen(state)
        if not self._due(state, now):
            return None
        leased = to_json(replace(state, holder=self.worker, until=now + LEASE_D))
        if not await self.store.swap_state(state_name(self.platform), before, leased):
            return None
        return await self._tick(state, leased, now)

    def _due(self, state: PoolState, now: float) -> bool:
        """A moment too far in the future comes from a wrong clock and is ignored."""
        since = now - state.ticked_at
        held = state.holder not in {"", self.worker} and now < state.until < now + LEASE_D + CLOCKS_D
        return not held and (since >= TICK_D - 0.5 / DAY_S or since < -CLOCKS_D)

    def _learn(self, state: PoolState) -> None:
        self._types, self._reach = state.types, state.pool.reach
        self._plan = tick.Plan(self.options.chosen, Outlook.of(state.pool), state.pool.price)

    async def _tick(self, state: PoolState, leased: Mapping[str, object], now: float) -> Ticked | None:
        rate = self.options.calls_per_hour or self.hourly()
        state = await self._surveyed(self._counted(state, now), now, rate)
        self._learn(state)
        saved = self._saved(state, now, rate)
        budget = self._budget(state, now, rate, saved)
        candidates = self._priced(await self.sources.due(self.platform, tick.wanted(budget)))
        before = now - tick.AGED_FROM * self.options.max_age_d
        aged = self._priced(await self.sources.oldest(self.platform, tick.aged_wanted(budget), before=before))
        choice = tick.choose(candidates, aged, budget, now, self._plan)
        passed = min(max(now - state.ticked_at, 0.0), 1.0) * 24.0
        [oldest] = [each.estimate.last or now for each in await self.sources.oldest(self.platform, 1, before=now)] or [
            now
        ]
        done = replace(
            state,
            pool=replace(state.pool, price=tick.repriced(state.pool.price, choice.level, passed), budget=rate),
            ticked_at=now,
            holder="",
            spent=(*(each for each in state.spent if each[0] > now - WINDOW_D), (now, round(choice.cost, 4), rate)),
            rest=max(saved - choice.cost, 0.0),
            oldest=oldest,
        )
        if not await self.store.swap_state(state_name(self.platform), leased, to_json(done)):
            return None  # the lease ran out: its new holder spends this
        self._own = {now, *(each for each in self._own if each > now - WINDOW_D)}
        asked = await self._ask(choice, now)
        ticked = Ticked(
            asked=asked,
            cost=choice.cost,
            expected=sum(new_items(each, now, self._plan.outlook) for each, _ in choice.ask),
            sources=state.pool.size,
            overdue=sum(each.due <= now for each in candidates),
            price=done.pool.price,
            hourly=rate,
            oldest_d=now - oldest,
            short=now - oldest > self.options.max_age_d,
        )
        self.tell(ticked)
        return ticked

    def _saved(self, state: PoolState, now: float, rate: float) -> float:
        """Calls saved up since the last tick: at most those of five minutes, and the part of one that is over."""
        return min(state.rest + rate * _passed(state, now) * 24.0, rate * CATCH_UP_D * 24.0 + 1.0)

    def _budget(self, state: PoolState, now: float, rate: float, saved: float) -> tick.Budget:
        """The calls saved up, at most those of an hour less those spent within it."""
        calls = min(saved, state.left(now, rate, self._own)) if rate > 0 else 0.0
        if not self.free_now():
            return tick.Budget(calls=calls, asks=int(calls + 1e-6))
        asks = int(rate * _passed(state, now) * 24.0 * FREE_ASKS + 1.0) if calls > 0 else 0
        return tick.Budget(calls=calls, asks=asks)

    def _priced(self, found: Sequence[WatchedSource]) -> Sequence[WatchedSource]:
        """What is free with the credentials of the moment may have changed since the source was written."""
        free = self.free_now()
        return [each if each.free == free else replace(each, free=free) for each in found]

    def _counted(self, state: PoolState, now: float) -> PoolState:
        """The pool with the readings of this replica since its last turn."""
        pool = pools.faded(state.pool, now)
        for source, reading in self._noticed:
            pool = pools.noticed(pool, source.estimate, reading)
        self._noticed.clear()
        return replace(state, pool=pool)

    async def _surveyed(self, state: PoolState, now: float, rate: float) -> PoolState:
        if abs(now - state.surveyed_at) < SURVEY_EVERY_D and state.pool.price > 0:
            return state
        begin = os.urandom(10).hex()
        sample = [*await self.sources.list(self.platform, limit=tick.SAMPLE, after=begin)]
        if len(sample) < tick.SAMPLE:
            more = await self.sources.list(self.platform, limit=tick.SAMPLE - len(sample))
            sample += [each for each in more if each.key <= begin]
        size = await self.sources.count(self.platform)
        pool = pools.surveyed(replace(state.pool, budget=rate), sample, size=size)
        if pool.price <= 0 or pool.read > GROWN * state.pool.read:  # a price of the few read first may be far off
            plan = tick.Plan(self.options.chosen, Outlook.of(pool))
            pool = replace(pool, price=tick.first_price(self._priced(sample), size, rate, plan))
        return replace(state, pool=pool, surveyed_at=now)

    async def _ask(self, choice: tick.Choice, now: float) -> int:
        """Lease what was chosen, then queue it; only what this replica leased."""
        taken = [replace(each, asked=now + ASKED_D, due=now + ASKED_D) for each, _ in choice.ask]
        mine = await self.sources.write(taken)
        asking = [each for each, _ in choice.ask if each.key in mine]
        soon = max(1, round(len(asking) * SOON_SHARE))
        pushes = []
        for place, each in enumerate(asking):
            request = replace(self.request(each), asked_at=self.clock.now())
            pushes.append(Push(request=request, queue="soon" if place < soon else "normal"))
        await self.queue.push(pushes)
        later = [replace(each, due=due) for each, due in choice.later]
        if later:
            await self.sources.write(later)
        return len(pushes)

    def request(self, source: WatchedSource) -> Request:
        """The request that asks `source`."""
        return asking(self.platform, self.feed, source)

    # Readings

    async def read(self, request: Request, outcome: Outcome) -> None:
        """Learn from a settled request, if it answers for a source, and watch what it discovered. Never raises.

        What is lost is asked again, or discovered again.
        """
        try:
            await self._discover(request, outcome)
        except CrawlError as error:
            log.warning("discovery_lost", url=request.url, error=str(error))
        if request.type not in self._types or request.payload is not None or request.context.pagination.page > 1:
            return
        if isinstance(outcome, Defer | Retry):
            return
        try:
            await self._read(request, outcome)
        except CrawlError as error:
            log.warning("reading_lost", url=request.url, error=str(error))

    async def _discover(self, request: Request, outcome: Outcome) -> None:
        """The saved document becomes a source, where the settings say so and there is room."""
        if not isinstance(outcome, Save) or outcome.document.deleted_at is not None:
            return
        document, limit = outcome.document, self.options.discover_limit
        if TypeName(self.platform, document.type) not in self.options.discover or len(self._discovered) >= limit:
            return
        scope = Context(scope=request.context.scope)
        found = replace(request, type=document.type, url=document.url, payload=None, attempt=0, context=scope)
        source = replace(watched(self.platform, self.feed, found), named_by="rule")
        if source.key not in self._discovered and await self.sources.count(self.platform) < limit:
            await watch(self.sources, self.store, {self.platform: self.feed}, [source])
            self._discovered.add(source.key)

    async def _read(self, request: Request, outcome: Outcome) -> None:
        now = days(self.clock.now())
        for _ in range(TRIES):
            source = await self.sources.get(source_key(self.platform, request.type, request.url))
            if source is None:
                return
            learned = self._learned(source, request, outcome, now)
            if await self.sources.write([learned]):
                return

    def _learned(self, source: WatchedSource, request: Request, outcome: Outcome, now: float) -> WatchedSource:
        match outcome:
            case Save():
                reading = self._reading(source, request, outcome, now)
            case Skip(reason="unchanged"):
                reading = Reading(now=now, reach=self._reach)
            case Skip(reason="visited"):  # another replica asked a moment ago, and learned from it
                return replace(source, asked=0.0, due=now + max(source.gap, TICK_D))
            case Skip() | Bury():
                return tick.backed_off(source, now, retry_after=REFUSED_D)
            case _:
                return source
        self._noticed.append((source, reading))
        if source.estimate.last is not None:
            self.found(len(reading.times) + reading.undated)
        return tick.answered(source, reading, self._plan)

    def _reading(self, source: WatchedSource, request: Request, outcome: Save, now: float) -> Reading:
        if self.feed is None or request.type != self.feed.type:  # it only says that it changed
            return Reading(now=now, undated=int(source.estimate.last is not None))
        times = [days(moment) for moment in self.feed.news(outcome)]
        onward = any(push.request.type == request.type and push.request.payload is None for push in outcome.follow_ups)
        return Reading(now=now, times=times, truncated=onward, reach=self._reach)


def _passed(state: PoolState, now: float) -> float:
    """Days since the last tick, as far as they are made up for."""
    return min(max(now - state.ticked_at, 0.0), CATCH_UP_D) if state.ticked_at else TICK_D
