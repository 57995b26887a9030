"""One crawl, from its first push until no request waits any more or it is stopped."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from ghcrawl.cli import live, records, roots
from ghcrawl.cli.command_prefix import as_typed
from ghcrawl.cli.following import Follower
from ghcrawl.cli.kinds import entity_types
from ghcrawl.cli.plan import Plan, bases, from_apis, introduction
from ghcrawl.cli.progress import Reporter
from ghcrawl.cli.records import Begun, Record
from ghcrawl.cli.result import Result
from ghcrawl.cli.roots import Root
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.unrecoverable import unrecoverable
from ghcrawl.cli.unsupported_requests import left_waiting, ours, sentences
from ghcrawl.cli.watching import Watcher, quotas
from ghcrawl.cli.words import counted
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Depth, by_queue
from ghcrawl.telemetry.logs import SettledLog
from ghcrawl.telemetry.metrics import Observers
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import ConfigError, CrawlError
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.requests import Push
from ghcrawl.values.times import iso, moment
from ghcrawl.values.tuning import FREE_QUEUES
from ghcrawl.wiring import Service, open_service

TICK_S: Final = 0.1
SHOWN_EVERY_S: Final = 0.25
LIVE_EVERY_S: Final = 1.0
SCHEDULE_S: Final = 10.0
"""How often to look whether a tick of the schedule is due."""
OUTAGE_S: Final = 3.0
"""How long a file may fail without a single success before the crawl stops with what it says."""
STUCK_GRACE_S: Final = 2.0
PEEKED: Final = 20


async def crawl(plan: Plan, reporter: Reporter) -> Result:
    """The result of the crawl, `reporter` closed. Raises CrawlError where it cannot start, finish or be counted."""
    wanted = roots.read(plan.mounts, plan.specs, plan.policy)
    tally = Tally(asked=roots.names(wanted))
    observer = Observers(tally, SettledLog()) if plan.verbose else tally
    with closing(reporter), Signals(reporter.close) as signals:
        opening = open_service(plan.settings, plan.credentials, observer, max_calls=plan.max_calls)
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
        unpause = as_typed(shlex.join(("ghcrawl", "config", "set", "crawl.paused", "false", *plan.place.typed())))
        self._watcher = Watcher(service, tally, title=plan.heading, unpause=unpause)
        self._began_s = asyncio.get_running_loop().time()
        self._next_shown_s = 0.0
        self._next_live_s = LIVE_EVERY_S
        self._live: Mapping[str, Any] = {}
        self._stopping = ""
        self._follower: Follower | None = None
        self._complete = False
        self._next_schedule_s = 0.0

    async def run(self, wanted: Sequence[Root]) -> Result:
        begun = await self._begin(wanted)
        self._follower = self._following(wanted)
        self._live = await live.kept(self._service.backend.store)
        self._service.supervisor.start()
        trouble, grace_s = "", self._plan.settings.crawl.shutdown_grace_s
        try:
            trouble = await self._until_over(begun)
            grace_s = STUCK_GRACE_S if trouble else grace_s
        finally:
            drained = await self._drain(grace_s)
            self._reporter.close()
        short = self._service.spending is not None and not await self._nothing_waits()
        finished = not (trouble or short or self._signals.received)
        if finished:
            await records.finish(self._service.backend.store, begun.record if begun else None, self._clock.now())
        return await self._result(begun, wanted, trouble=trouble, finished=finished, drained=drained)

    # The start ----------------------------------------------------------------------------------------------

    async def _begin(self, wanted: Sequence[Root]) -> Begun | None:
        """The crawl is remembered, its roots wait, and the person knows what is being done."""
        plan, backend = self._plan, self._service.backend
        await self._demand_ours()
        if not wanted:
            if await self._nothing_waits():
                raise ConfigError(
                    "; ".join((f"no requests are queued in {plan.settings.waits_in}", *await self._left_waiting()))
                    + "; give a SPEC: ghcrawl crawl ORG"
                )
            self._reporter.say(f"{plan.heading}{from_apis(plan.mounts.base_urls.values())}: {await self._waiting()}.")
            await self._tell_left_waiting()
            return None
        record = Record(
            specs=tuple(root.spec for root in wanted),
            policy=plan.policy,
            bases=bases(plan.mounts, wanted),
            asked_at=moment(iso(self._clock.now())),
            command=REDACTOR.text(plan.command),
        )
        waited = "" if await self._nothing_waits() else await self._waiting()
        begun = await records.begin(backend.store, record, afresh=plan.afresh)
        asked_at = begun.record.asked_at
        pushes = [Push(request=replace(root.request, asked_at=asked_at), queue="immediate") for root in wanted]
        await backend.queue.push(pushes)
        for sentence in introduction(plan, begun, waited):
            self._reporter.say(sentence)
        await self._tell_left_waiting()
        return begun

    async def _demand_ours(self) -> None:
        """Raises ConfigError where requests wait that another API would have to answer.

        A request that carries its payload asks no API: the event of a webhook has no URL of one.
        """
        place = self._plan.settings.waits_in
        for name in QUEUES:
            for request in await self._service.backend.queue.peek(name, limit=PEEKED):
                mount = self._plan.mounts.get(request.platform)
                if mount is not None and request.payload is None and not mount.owns(request.url):
                    raise ConfigError(
                        f"{place} contains requests for another API than {mount.base_url} ({request.url}); "
                        "choose that API with --api-url, or another file with --db"
                    )

    async def _nothing_waits(self) -> bool:
        """Whether nothing is left to do of what this version can do."""
        return await self._service.backend.queue.is_empty(self._service.engine.platforms)

    async def _left_waiting(self) -> Iterable[str]:
        """What this version can do nothing with, and leaves where it is."""
        depths = await self._service.backend.queue.depths()
        return sentences(left_waiting(depths, self._service.engine.platforms))

    async def _tell_left_waiting(self) -> None:
        for sentence in await self._left_waiting():
            self._reporter.say(f"{sentence}.")

    async def _depths(self) -> Mapping[QueueName, Depth]:
        return by_queue(ours(await self._service.backend.queue.depths(), self._service.engine.platforms))

    async def _waiting(self) -> str:
        depths = await self._depths()
        count = sum(depth.total for depth in depths.values())
        return f"{counted(count, 'request waits', 'requests wait')}"

    # Meanwhile ----------------------------------------------------------------------------------------------

    async def _until_over(self, begun: Begun | None) -> str:
        """Return once all work is done, all calls are made, or it is stopped; or the reason why it cannot go on."""
        engine = self._service.engine
        while not self._signals.received:
            if why := self._unrecoverable(begun):
                return why
            if self._follower is not None:
                await self._go_on(self._follower, begun)
            done = self._follower is None and await self._nothing_waits()
            if not engine.busy and (done or await self._spent()):
                return ""
            await self._attend()
            await self._signals.wait(TICK_S)
        return ""

    def _following(self, wanted: Sequence[Root]) -> Follower | None:
        if not self._plan.follow:
            return None
        backend = self._service.backend
        return Follower(
            platforms=self._service.platforms,
            queue=backend.queue,
            store=backend.store,
            sources=backend.sources,
            clock=backend.clock,
            roots=[root.request for root in wanted],
        )

    async def _go_on(self, follower: Follower, begun: Begun | None) -> None:
        """Keep what was asked for up to date, once it is there: what still waits was put off until bursts are over."""
        if not self._complete and not self._service.engine.busy:
            depths = await self._depths()
            if not any(depth.ready or depth.in_flight for depth in depths.values()):
                self._complete = True
                await records.finish(self._service.backend.store, begun.record if begun else None, self._clock.now())
                self._reporter.say("The crawl is complete. Following changes; Ctrl-C stops.")
        await follower.attend(complete=self._complete)
        if self._elapsed_s() >= self._next_schedule_s:
            self._next_schedule_s = self._elapsed_s() + SCHEDULE_S
            await self._service.look_again()

    async def _spent(self) -> bool:
        """Whether all calls are made that may be made, and nothing waits that needs none."""
        spending = self._service.spending
        if spending is None or not spending.spent:
            return False
        depths = await self._depths()
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
        """Settings changed meanwhile hold from now on."""
        kept = await live.kept(self._service.backend.store)
        if kept == self._live:
            return
        try:
            applied = live.changed(self._plan.place, self._plan.more, self._live, kept)
        except CrawlError as error:
            self._reporter.say(f"The live settings are invalid: {error}")
        else:
            self._service.tune(applied.settings)
            for sentence in live.changes(self._live, kept, applied.origins):
                self._reporter.say(sentence)
        self._live = kept

    def _unrecoverable(self, begun: Begun | None) -> str:
        """Why the crawl cannot go on; empty: it can."""
        service = self._service
        names = begun.record.bases if begun else service.opened
        if sentence := unrecoverable(service, names, hint=self._plan.hint):
            return sentence
        outage = service.outage
        if outage is not None and (self._clock.now() - outage.since).total_seconds() >= OUTAGE_S:
            return str(outage.error)
        return ""

    async def _show(self) -> None:
        self._reporter.show(await self._watcher.look(self._elapsed_s(), stopping=self._stopping))

    def _elapsed_s(self) -> float:
        return asyncio.get_running_loop().time() - self._began_s

    # The end ------------------------------------------------------------------------------------------------

    async def _drain(self, grace_s: float) -> bool:
        """True: requests in flight were finished. The others are ready again."""
        self._stopping = "Stopping: finishing requests in flight. Press Ctrl-C again to stop immediately."
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
            bases=bases(plan.mounts, wanted) or plan.mounts.base_urls,
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
            depths=await self._depths(),
            stored=await backend.store.counts(),
            deadletters=await backend.deadletters.count(DeadletterFilter()),
            quotas=quotas(self._service),
            restarts=self._service.supervisor.restarts,
            suggested=plan.place.typed(),
            free_again=all(plan.mounts[root.request.platform].platform.free_unchanged for root in wanted),
        )
