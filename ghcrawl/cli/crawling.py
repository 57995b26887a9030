"""One crawl, from its first push until nothing waits any more or somebody stops it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ghcrawl.cli import live, records, roots
from ghcrawl.cli.following import Follower
from ghcrawl.cli.hopeless import hopeless
from ghcrawl.cli.kinds import entity_types
from ghcrawl.cli.options import Place
from ghcrawl.cli.program import as_typed
from ghcrawl.cli.progress import Reporter
from ghcrawl.cli.records import Begun, Record
from ghcrawl.cli.result import Result
from ghcrawl.cli.roots import Root
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.watching import Watcher, quotas
from ghcrawl.cli.words import counted, stamp, written
from ghcrawl.errors import ConfigError, CrawlError
from ghcrawl.fetch.github import Credential
from ghcrawl.model import QUEUES, Push, iso, moment
from ghcrawl.ports import DeadletterFilter
from ghcrawl.settings import Settings
from ghcrawl.tally import Tally
from ghcrawl.telemetry import Observers, SettledLog
from ghcrawl.tuning import FREE_QUEUES
from ghcrawl.wiring import Service, github_platform, open_service, redacted

TICK_S: Final = 0.1
SHOWN_EVERY_S: Final = 0.25
LIVE_EVERY_S: Final = 1.0
TROUBLE_S: Final = 3.0
"""How long a file may fail without a single success before the crawl stops with what it says."""
STUCK_GRACE_S: Final = 2.0
PEEKED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be crawled, and how. specs: none works through what waits.

    more: settings from the command line besides those of `place`; command: what goes on with this crawl.
    afresh: begin again, even if it was interrupted. chatty: log every settled request.
    remembered: nobody named the API; the file was crawled from it before.
    max_calls: so many at the most. follow: when all is there look what happens, until somebody stops it.
    title: on the screen; empty for one made of the specs.
    """

    specs: tuple[str, ...]
    place: Place
    settings: Settings
    credentials: Sequence[Credential] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    command: str = "ghcrawl crawl"
    afresh: bool = False
    chatty: bool = False
    remembered: bool = False
    unhurried: bool = True
    max_calls: int | None = None
    follow: bool = False
    title: str = ""

    @property
    def policy(self) -> str:
        """For specs that name none."""
        return self.settings.crawl.policy

    @property
    def api_url(self) -> str:
        """Without a slash at its end."""
        return self.settings.github.api_url.rstrip("/")

    @property
    def heading(self) -> str:
        """What is crawled, in a few words."""
        named = ", ".join(self.specs[:3]) + (f" and {len(self.specs) - 3} more" if len(self.specs) > 3 else "")
        return self.title or (f"Crawling {named}" if named else f"Working through {self.settings.waits_in}")


async def crawl(plan: Plan, reporter: Reporter) -> Result:
    """What the crawl came to. Raises CrawlError for whatever stands in the way of beginning, ending or counting it."""
    wanted = roots.read(github_platform(plan.settings), plan.specs, plan.api_url, plan.policy)
    tally = Tally(asked=roots.names(wanted))
    observer = Observers(tally, SettledLog()) if plan.chatty else tally
    with Signals(reporter.close) as signals:
        opening = open_service(
            plan.settings, plan.credentials, observer, unhurried=plan.unhurried, max_calls=plan.max_calls
        )
        async with opening as service:
            return await _Crawl(plan, service, tally, reporter, signals).run(wanted)


class _Crawl:
    """One crawl while it runs."""

    def __init__(self, plan: Plan, service: Service, tally: Tally, reporter: Reporter, signals: Signals) -> None:
        self._plan = plan
        self._service = service
        self._tally = tally
        self._reporter = reporter
        self._signals = signals
        self._clock = service.backend.clock
        reserve = plan.settings.github.reserve
        unpause = as_typed(shlex.join(("ghcrawl", "config", "set", "crawl.paused", "false", *plan.place.typed())))
        self._watcher = Watcher(service, tally, title=plan.heading, reserve=reserve, unpause=unpause)
        self._began_s = asyncio.get_running_loop().time()
        self._next_shown_s = 0.0
        self._next_live_s = LIVE_EVERY_S
        self._live: Mapping[str, Any] = {}
        self._stopping = ""
        self._follower: Follower | None = None
        self._complete = False

    async def run(self, wanted: Sequence[Root]) -> Result:
        begun = await self._begin(wanted)
        self._follower = self._following(wanted)
        self._live = await live.kept(self._service.backend.store)
        supervisor = self._service.supervisor
        supervisor.start()
        trouble, grace_s = "", self._plan.settings.crawl.shutdown_grace_s
        try:
            trouble = await self._until_over(begun)
            grace_s = STUCK_GRACE_S if trouble else grace_s
        finally:
            drained = await self._drain(grace_s)
            self._reporter.close()
        short = self._service.spending is not None and not await self._service.queue.is_empty()
        finished = not (trouble or short or self._signals.received)
        if finished:
            await records.finish(self._service.backend.store, begun.record if begun else None, self._clock.now())
        return await self._result(begun, wanted, trouble=trouble, finished=finished, drained=drained)

    # The beginning ------------------------------------------------------------------------------------------

    async def _begin(self, wanted: Sequence[Root]) -> Begun | None:
        """The crawl is remembered, its roots wait, and the person knows what is being done."""
        plan, backend = self._plan, self._service.backend
        await self._demand_ours()
        if not wanted:
            if await backend.queue.is_empty():
                raise ConfigError(f"nothing waits in {plan.settings.waits_in}; name what to crawl: ghcrawl crawl ORG")
            self._reporter.say(f"{plan.heading} from {plan.api_url}: {await self._waiting()}.")
            return None
        record = Record(
            specs=tuple(root.spec for root in wanted),
            policy=plan.policy,
            api_url=plan.api_url,
            asked_at=moment(iso(self._clock.now())),
            command=redacted(plan.command),
        )
        waited = "" if await backend.queue.is_empty() else await self._waiting()
        begun = await records.begin(backend.store, record, afresh=plan.afresh)
        asked_at = begun.record.asked_at
        pushes = [Push(request=replace(root.request, asked_at=asked_at), queue="immediate") for root in wanted]
        await backend.queue.push(pushes)
        self._introduce(begun, waited)
        return begun

    def _introduce(self, begun: Begun, waited: str) -> None:
        plan, say = self._plan, self._reporter.say
        if not plan.title:
            say(f"{plan.heading} from {plan.api_url} into {plan.settings.kept_in}, {_as_whom(plan)}.")
        if begun.resumed:
            say(f"Going on with the crawl begun at {stamp(begun.record.asked_at)}: {waited or 'nothing waits'}.")
        elif begun.others and waited:
            others = ", ".join(dict.fromkeys(spec for record in begun.others for spec in record.specs))
            say(f"An earlier crawl ({others}) is not finished: {waited}, and is worked through as well.")
        elif waited:
            say(f"{waited[0].upper()}{waited[1:]} already, and is worked through as well.")

    async def _demand_ours(self) -> None:
        """Raises ConfigError where requests wait that another API would have to answer."""
        ours, place = self._plan.api_url, self._plan.settings.waits_in
        for name in QUEUES:
            for request in await self._service.backend.queue.peek(name, limit=PEEKED):
                if request.url != ours and not request.url.startswith((f"{ours}/", f"{ours}?")):
                    raise ConfigError(
                        f"in {place} requests wait for another API than {ours} ({request.url}); "
                        "name that one with --api-url, or another file with --db"
                    )

    async def _waiting(self) -> str:
        depths = await self._service.backend.queue.depths()
        count = sum(depth.total for depth in depths.values())
        return f"{counted(count, 'request waits', 'requests wait')}"

    # Meanwhile ----------------------------------------------------------------------------------------------

    async def _until_over(self, begun: Begun | None) -> str:
        """Return once nothing is left to do, all calls are made, or somebody stops it; or why it cannot go on."""
        queue, engine = self._service.backend.queue, self._service.engine
        while not self._signals.received:
            if why := self._hopeless():
                return why
            if self._follower is not None:
                await self._go_on(self._follower, begun)
            done = self._follower is None and await queue.is_empty()
            if not engine.busy and (done or await self._spent()):
                return ""
            await self._attend()
            await self._signals.wait(TICK_S)
        return ""

    def _following(self, wanted: Sequence[Root]) -> Follower | None:
        backend = self._service.backend
        roots = [root.request for root in wanted]
        platform = self._service.platforms["github"]
        if not self._plan.follow:
            return None
        return Follower(platform=platform, queue=backend.queue, store=backend.store, clock=backend.clock, roots=roots)

    async def _go_on(self, follower: Follower, begun: Begun | None) -> None:
        """Keep what was asked for up to date, once it is there: what still waits was put off until bursts are over."""
        if not self._complete and not self._service.engine.busy:
            depths = await self._service.backend.queue.depths()
            if not any(depth.ready or depth.in_flight for depth in depths.values()):
                self._complete = True
                await records.finish(self._service.backend.store, begun.record if begun else None, self._clock.now())
                self._reporter.say("Everything is there. Following what happens; Ctrl-C stops it.")
        await follower.attend(complete=self._complete)

    async def _spent(self) -> bool:
        """Whether all calls are made that may be made, and nothing waits that needs none."""
        spending = self._service.spending
        if spending is None or not spending.spent:
            return False
        depths = await self._service.backend.queue.depths()
        return all(not depths[name].ready for name in FREE_QUEUES)

    async def _attend(self) -> None:
        now_s = self._elapsed_s()
        if now_s >= self._next_live_s:
            self._next_live_s = now_s + LIVE_EVERY_S
            await self._take_live()
        if now_s >= self._next_shown_s:
            self._next_shown_s = now_s + SHOWN_EVERY_S
            await self._show()

    async def _take_live(self) -> None:
        """Settings that somebody changed meanwhile hold from now on."""
        kept = await live.kept(self._service.backend.store)
        if kept == self._live:
            return
        try:
            applied = live.changed(self._plan.place, self._plan.more, self._live, kept)
        except CrawlError as error:
            self._reporter.say(f"The live settings cannot be used: {error}")
        else:
            self._service.tune(applied.settings)
            for name in sorted({name for name in {*kept, *self._live} if kept.get(name) != self._live.get(name)}):
                live_here = applied.origins.get(name) == "live"
                used = f"{written(kept[name])} from now on" if live_here else "nothing that can be used here"
                self._reporter.say(f"{name} is {used if name in kept else 'no longer set'}.")
        self._live = kept

    def _hopeless(self) -> str:
        """Why going on is of no use; empty while it is."""
        service, plan = self._service, self._plan
        hint = f" ({plan.settings.kept_in} was crawled from there; --api-url names another)" if plan.remembered else ""
        if sentence := hopeless(service, plan.api_url, hint=hint):
            return sentence
        trouble = service.trouble
        if trouble is not None and (self._clock.now() - trouble.since).total_seconds() >= TROUBLE_S:
            return str(trouble.error)
        return ""

    async def _show(self) -> None:
        self._reporter.show(await self._watcher.look(self._elapsed_s(), stopping=self._stopping))

    def _elapsed_s(self) -> float:
        return asyncio.get_running_loop().time() - self._began_s

    # The end ------------------------------------------------------------------------------------------------

    async def _drain(self, grace_s: float) -> bool:
        """True: what was in hand is finished. What is not waits again."""
        self._stopping = "Stopping: what is in hand is being finished. Ctrl-C again stops at once."
        draining = asyncio.ensure_future(self._service.supervisor.drain(grace_s))
        while not draining.done():
            await asyncio.wait([draining], timeout=SHOWN_EVERY_S)
            if self._signals.received and not draining.done():
                await self._show()
        return await draining

    async def _result(
        self, begun: Begun | None, wanted: Sequence[Root], *, trouble: str, finished: bool, drained: bool
    ) -> Result:
        plan, backend = self._plan, self._service.backend
        return Result(
            specs=plan.specs,
            policy=plan.policy,
            api_url=plan.api_url,
            db=plan.settings.kept_in,
            command=plan.command,
            asked_at=begun.record.asked_at if begun else None,
            resumed=begun is not None and begun.resumed,
            finished=finished,
            interrupted=self._signals.received,
            max_calls=plan.max_calls,
            trouble=trouble,
            drained=drained,
            duration_s=self._elapsed_s(),
            tally=self._tally,
            entity_types=entity_types(self._service.platforms.values()),
            refused=roots.refused(wanted, self._tally),
            depths=await backend.queue.depths(),
            stored=await backend.store.counts(),
            deadletters=await backend.deadletters.count(DeadletterFilter()),
            quotas=quotas(self._service, plan.settings.github.reserve),
            restarts=self._service.supervisor.restarts,
            suggested=plan.place.typed(),
        )


def _as_whom(plan: Plan) -> str:
    if plan.credentials:
        return f"with {counted(len(plan.credentials), 'token')}"
    if plan.settings.github.api_url.rstrip("/") == "https://api.github.com":
        return "without a token: 60 calls an hour (with one in GHCRAWL_TOKENS: 5,000)"
    return "without a token"
