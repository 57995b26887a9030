"""Commands on sources: add, list and remove."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from ghcrawl.platforms.kind import alternative
from ghcrawl.platforms.mount import Mounts
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.sources import Sources
from ghcrawl.ports.store import Store
from ghcrawl.schedule.asking import watch, watched
from ghcrawl.schedule.estimator import rates
from ghcrawl.schedule.poolstate import from_json, state_name
from ghcrawl.schedule.source_history import UserClass, user_class
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import WatchedSource, days, moment_of

MOST: Final = 500
"""Sources in one list."""


class Watched(BaseModel):
    """A source, for a person or a program."""

    model_config = ConfigDict(frozen=True)

    platform: str
    type: str
    url: str
    due: datetime | None = Field(description="when it will be worth a call; null: at once")
    read: datetime | None = Field(description="when it was last read; null: never")
    news: datetime | None = Field(description="when its newest item appeared")
    rate: float = Field(description="items a day, of the last 30 days or so")
    rate_now: float = Field(description="items a day, of the last day or so")
    user_class: UserClass | None = Field(description="what its days look like; nothing depends on it")
    days: tuple[int, ...] = Field(description="items of each of the last 30 days, oldest first")
    hours: tuple[int, ...] = Field(description="items by hour of the day, UTC")
    weight: float
    every_d: float = Field(description="days after which it is asked in any case; 0: as it has news")
    calls: int
    items: int
    errors: int = Field(description="failed calls in a row")
    why: str = Field(description="why it is asked now, or what it waits for")


class Schedule(BaseModel):
    """What one platform's schedule did in the last hour."""

    model_config = ConfigDict(frozen=True)

    platform: str
    sources: int
    calls_per_hour: float = Field(description="budget of the last tick")
    spent: float = Field(description="charged calls of the last hour, as expected when they were made")
    price: float = Field(description="value at which a call is worth making")
    oldest_read: datetime | None = Field(description="when the source was read that was read longest ago")
    ticked_at: datetime | None


class Added(BaseModel):
    """Result of adding sources: new ones, ones with other terms than before, and ones that stay as they were."""

    model_config = ConfigDict(frozen=True)

    added: int
    changed: int
    known: int


class Watching(Protocol):
    """Sources by their specs, here or of a service. Raises SpecError, StoreError; a service ConfigError, too."""

    async def add(self, specs: Sequence[str], *, weight: float, every_d: float) -> Added:
        """Watch what `specs` name."""

    async def remove(self, specs: Sequence[str]) -> int:
        """Watch them no longer. Returns how many were watched."""

    async def show(self, spec: str) -> Watched | None:
        """The source that `spec` names; None: it is not watched."""

    async def list(self, *, limit: int, platform: str = "") -> Sequence[Watched]:
        """Those due first, `limit` of them; of one platform, where one is named."""

    async def schedules(self) -> Sequence[Schedule]:
        """The schedule of each platform that has sources."""


class WatchedHere(Struct, frozen=True, kw_only=True):
    """The sources of this store. policy: for specs that name none."""

    sources: Sources
    store: Store
    mounts: Mounts
    clock: Clock
    policy: str

    async def add(self, specs: Sequence[str], *, weight: float, every_d: float) -> Added:
        """As the protocol says."""
        named = {source.key: source for source in [await self._named(spec) for spec in specs]}
        wanted = [replace(each, weight=weight, pin=every_d) for each in named.values()]
        feeds = {mount.name: mount.platform.feed for mount in self.mounts}
        added = await watch(self.sources, self.store, feeds, wanted)
        changed = sum([await self._changed(each) for each in wanted])
        return Added(added=added, changed=changed, known=len(wanted) - added - changed)

    async def _changed(self, wanted: WatchedSource) -> bool:
        """Weight and interval of what is watched already become those of `wanted`."""
        stored = await self.sources.get(wanted.key)
        while stored is not None and (stored.weight, stored.pin) != (wanted.weight, wanted.pin):
            if await self.sources.write([replace(stored, weight=wanted.weight, pin=wanted.pin, due=0.0)]):
                return True
            stored = await self.sources.get(wanted.key)
        return False

    async def remove(self, specs: Sequence[str]) -> int:
        """As the protocol says."""
        return await self.sources.remove({(await self._named(spec)).key for spec in specs})

    async def show(self, spec: str) -> Watched | None:
        """As the protocol says."""
        source = await self.sources.get((await self._named(spec)).key)
        return None if source is None else self._shown(source, await self._prior(source.platform))

    async def list(self, *, limit: int, platform: str = "") -> Sequence[Watched]:
        """As the protocol says."""
        found: list[tuple[WatchedSource, float]] = []
        for mount in self.mounts:
            if platform in {"", mount.name} and (some := await self.sources.due(mount.name, limit)):
                prior = await self._prior(mount.name)
                found += [(each, prior) for each in some]
        found.sort(key=lambda one: one[0].due)
        return [self._shown(source, prior) for source, prior in found[:limit]]

    async def schedules(self) -> Sequence[Schedule]:
        """As the protocol says."""
        now, found = days(self.clock.now()), []
        for mount in self.mounts:
            state = from_json(await self.store.read_state(state_name(mount.name)))
            if count := await self.sources.count(mount.name):
                shown = Schedule(
                    platform=mount.name,
                    sources=count,
                    calls_per_hour=state.pool.budget,
                    spent=sum(calls for at, calls, _ in state.spent if at > now - 1 / 24),
                    price=state.pool.price,
                    oldest_read=moment_of(state.oldest) if state.oldest else None,
                    ticked_at=moment_of(state.ticked_at) if state.ticked_at else None,
                )
                found.append(shown)
        return found

    async def _prior(self, platform: str) -> float:
        return from_json(await self.store.read_state(state_name(platform))).pool.prior

    async def _named(self, spec: str) -> WatchedSource:
        """The source that a spec names, of the kind that a crawl has found it to be."""
        request = self.mounts.read_spec(spec, self.policy)
        platform = self.mounts[request.platform].platform
        instead = alternative(platform.kinds[request.type], request)
        for each in (request, *([instead] if instead is not None else [])):
            found = [document for document in await self.store.find(each.url) if document.deleted_at is None]
            if found:
                request = replace(each, type=found[0].type, url=found[0].url)
                break
        return watched(request.platform, platform.feed, request)

    def _shown(self, source: WatchedSource, prior: float) -> Watched:
        slow, fast = rates(source.estimate, prior)
        last = source.estimate.last
        return Watched(
            platform=source.platform,
            type=source.type,
            url=source.url,
            due=moment_of(max(source.due, source.not_before)) if last is not None else None,
            read=moment_of(last) if last is not None else None,
            news=moment_of(source.news) if source.news > 0 else None,
            rate=round(slow, 4),
            rate_now=round(fast, 4),
            user_class=user_class(source.trace) if last is not None else None,
            days=tuple(source.trace.days),
            hours=tuple(source.trace.hours),
            weight=source.weight,
            every_d=source.pin,
            calls=source.calls,
            items=source.items,
            errors=source.errors,
            why=self._why(source),
        )

    def _why(self, source: WatchedSource) -> str:
        now, last = days(self.clock.now()), source.estimate.last
        if source.asked > now:
            return "asked just now"
        if source.errors and source.not_before > now:
            return f"failed {source.errors} times in a row; waits before the next try"
        if last is None:
            return "never read"
        if source.not_before > now or last + source.gap > now:
            return "its platform allows no call yet"
        if source.pin and now - last >= source.pin:
            return "its interval is over"
        return "its news are worth a call" if source.due <= now else "too little news to expect yet"
