"""The port's queue in RabbitMQ, for any number of processes.

Messages are popped from the prefetched ones, in the order that the loops ask for; a pop never asks the
broker. Two things are looser than in one file: what other processes hold is known from the management API alone, as of
some seconds ago; and a superfluous copy counts as waiting until it is popped and dropped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter, DedupMarker, DedupMarkers, new_token
from ghcrawl.ports.queue import Depth, Pushed
from ghcrawl.values.background import Background
from ghcrawl.values.cancellation import all_of, run_to_end
from ghcrawl.values.errors import CrawlError, QueueError, Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.connection import AmqpLink
from queues.amqp.consumers import Consumers
from queues.amqp.dead_letters import Bury, DeadLetterHandler
from queues.amqp.errors import Unroutable
from queues.amqp.inspection import Inspection
from queues.amqp.management import managed
from queues.amqp.message import ABOVE_BYTES, MAX_BYTES, Incoming, Outgoing, packed
from queues.amqp.names import DEAD, Names, QueueSpec, lane_of, lanes
from queues.amqp.pops import AmqpDelivery, Pops
from queues.amqp.prefetch import Loops
from queues.amqp.republishing import Backlog, Lost, Recovery
from queues.amqp.settings import AmqpSettings
from queues.codec import encode
from queues.dedup_protocol import DedupProtocol, apart

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EVERY_S: Final = 1.0
REVIVE_S: Final = 30.0
SWEEP_S: Final = 3600.0
QUIET_S: Final = 12.0
"""What other processes hold shows by what comes of it, or in the management API, within this time."""
STARTS_S: Final = 7 * 86400.0
"""How long a start of a suspect is remembered."""
AT_ONCE: Final = 500
"""Pushes that share their round trips."""
PARTS: Final = 2
"""Such groups of one push at a time: while one is published, the markers of another are written."""


class AmqpQueue:
    """Made by `open_amqp_queue`. Raises QueueError, and StoreError where the markers are kept elsewhere."""

    def __init__(
        self, link: AmqpLink, *, markers: DedupMarkers, crashes: CrashCounter, bury: Bury, clock: Clock
    ) -> None:
        settings = link.settings
        self.names: Final = Names(prefix=settings.prefix, waits_s=settings.waits_s)
        self.link: Final = link
        self._markers = markers
        self._crashes = crashes
        self._clock = clock
        self._dedup = DedupProtocol(markers=markers, pack=self._packed, publish=self._publish, sleep=clock.sleep)
        self._dead_letters = DeadLetterHandler(bury, markers, crashes, clock)
        self._recovery = Recovery(self._dedup, clock)
        self.pops: Final = Pops(
            self._dedup, crashes, settings.max_starts, self._dead_letters, clock, self._recovery.owed.put
        )
        self.early: Final = Backlog[Incoming]("delay", self._send_round)
        self._dead = Backlog[Incoming]("deadletter", self._file_dead)
        self._loops = Loops(settings.loops, settings.hand_back_s)
        self.consumers: Final = Consumers(link, self.names, self._loops, self._arrived)
        self._inspection = Inspection(link, self.names, markers, clock)
        self._management = managed(settings)
        self._platforms = {LEGACY_PLATFORM: None}
        self._is_declared = True
        self._quiet_since: float | None = None
        self._background = Background()

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says."""
        await self.know({each.request.platform for each in pushes})
        return await self._declared(lambda: self._push(pushes))

    async def _declared(self, call: Callable[[], Awaitable[T]]) -> T:
        """Its result; if queues turn out to be lost, after declaring them again."""
        try:
            return await call()
        except Unroutable as error:
            log.warning("topology_lost", error=str(error))
            await self.declare()
            return await call()

    async def declare(self) -> None:
        """Declare everything; what was lost with a queue will be published again. Raises ConfigError, QueueError."""
        await run_to_end(self._declare(self.names.specs(self._platforms)))

    async def _declare(self, specs: Iterable[QueueSpec]) -> None:
        now = self._clock.now()
        new = await self.link.declare(specs)
        for spec in new:
            if spec.role != "dead":
                self._recovery.lost.put(Lost(lane_of(spec.key) if spec.role == "work" else None, now))
        await self.consumers.abandon([spec.name for spec in new])

    async def know(self, platforms: Iterable[str]) -> None:
        """Declare and count the lanes of these platforms, too. Raises ConfigError, QueueError."""
        new = [platform for platform in platforms if platform not in self._platforms]
        if new:
            await run_to_end(self._declare(self.names.work_specs(new)))
            self._platforms.update(dict.fromkeys(new))

    async def _push(self, pushes: Sequence[Push]) -> Pushed:
        now, slots = self._clock.now(), asyncio.Semaphore(PARTS)

        async def push(part: Sequence[Push]) -> Pushed:
            async with slots:
                return await self._dedup.push([_due(each, now) for each in part], token=new_token(), now=now)

        wanted = list(apart(pushes).values()) if len(pushes) > AT_ONCE else pushes
        parts = [wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE)]
        queued = sum(pushed.queued for pushed in await all_of(map(push, parts), first=Unroutable))
        return Pushed(queued=queued, bounced=len(pushes) - queued)

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> AmqpDelivery | None:
        """As the port says. Without patience, what is still on its way from the broker does not count as there."""
        with self._loops.popping(len(self.pops.in_flight)):
            if trouble := self.link.trouble():
                raise trouble
            await self.know({lane.platform for lane in order})
            await self._declared(lambda: self.consumers.want(order))
            monotonic = asyncio.get_running_loop().time
            deadline = monotonic() + patience_s
            while incoming := await self.pops.buffers.take(order, deadline - monotonic()):
                if delivery := await self.pops.begun(incoming):
                    return delivery
            return None

    @property
    def blocked(self) -> bool:
        """As `ghcrawl.ports.Broker` says."""
        return self.link.blocked

    @property
    def restarts(self) -> int:
        """As `ghcrawl.ports.Broker` says."""
        return self._background.restarts

    async def answer(self) -> None:
        """As `ghcrawl.ports.Broker` says. A queue that was lost is declared again by housekeeping."""
        if down := self._background.down:
            raise QueueError(f"background tasks ended and are being restarted: {', '.join(down)}")
        with suppress(Unroutable):
            await self.link.declared(self.names.queue(Lane(LEGACY_PLATFORM, "event")))

    async def depths(self) -> Mapping[Lane, Depth]:
        """As the port says, of every platform that this process or the management API has heard of."""
        delayed = await self._markers.delayed(self._clock.now())
        unsettled = await self._unsettled()
        told = [lane for queue in unsettled if (lane := self.names.lane(queue)) is not None]
        await self.know({lane.platform for lane in (*delayed, *told)})
        ready = Counter(incoming.lane for incoming in self.pops.held())
        here = ready + Counter(incoming.lane for incoming in _fresh(self.early))
        popped = Counter(delivery.incoming.lane for delivery in self.pops.in_flight)
        depths: dict[Lane, Depth] = {}
        for lane in lanes(self._platforms):
            queue = self.names.queue(lane)
            depths[lane] = Depth(
                ready=ready[lane] + await self.link.ready_count(queue),
                delayed=delayed.get(lane, 0),
                in_flight=max(popped[lane], unsettled.get(queue, 0) - here[lane]),
            )
        return depths

    async def _unsettled(self) -> Mapping[str, int]:
        return await self._management.unsettled() if self._management else {}

    async def is_empty(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says. While other processes pop too, only after `QUIET_S` in which nothing was seen."""
        wanted = platforms if platforms is not None else list(self._platforms)
        await self.know(wanted)
        busy = (
            self.pops.in_flight or self.held() or self._recovery.owed.items or await self._markers.any_queued(platforms)
        )
        empty = not (busy or await self._inspection.anything(wanted))
        if empty and not await self._others_pop(wanted):
            return True
        now = asyncio.get_running_loop().time()
        self._quiet_since = (self._quiet_since or now) if empty else None
        if self._quiet_since is None or now - self._quiet_since < QUIET_S:
            return False
        unsettled = await self._unsettled()
        return not any(unsettled.get(self.names.queue(lane)) for lane in lanes(self._platforms))

    async def _others_pop(self, platforms: Iterable[str]) -> bool:
        for lane in lanes(platforms):
            declared = await self.link.declared(self.names.queue(lane))
            if (declared.consumer_count or 0) > self.consumers.hears(lane):
                return True
        return False

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """As the port says, except for what other processes have prefetched."""
        shown: list[Request] = []
        for lane in await self._lanes_of(queue, platform):
            held = [incoming for incoming in self.pops.held() + _fresh(self.early) if incoming.lane == lane]
            shown += await self._inspection.peek(lane, held, limit - len(shown))
        return shown

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """As the port says. What other processes have prefetched is in flight."""
        purged = 0
        for lane in await self._lanes_of(queue, platform):
            prefetched = self.pops.buffers.empty([lane])
            prefetched += [incoming for incoming in _fresh(self.early) if incoming.lane == lane]
            purged += await run_to_end(self._inspection.purge(lane, prefetched))
        return purged

    async def _lanes_of(self, queue: QueueName, platform: str | None) -> list[Lane]:
        await self.know(() if platform is None else (platform,))
        return [Lane(each, queue) for each in self._platforms if platform in (None, each)]

    def _arrived(self, incoming: Incoming) -> None:
        if incoming.lane == DEAD:
            self._dead.put(incoming)
        elif incoming.copy.left_s > 0:
            self.early.put(incoming)
        else:
            self.pops.buffers.put(incoming)

    async def _packed(self, request: Request) -> bytes:
        content = encode(request)
        body = await asyncio.to_thread(packed, content) if len(content) > ABOVE_BYTES else content
        if len(body) > self.link.settings.max_message_bytes or len(content) > MAX_BYTES:
            raise Unstorable(f"{request.name[:200]} is too large for a message: {len(body):,} bytes")
        return body

    async def _publish(self, markers: Sequence[DedupMarker]) -> None:
        await self.know({marker.platform for marker in markers})
        await self.link.send([self._outgoing(marker) for marker in markers])

    def _outgoing(self, marker: DedupMarker) -> Outgoing:
        if (moment := marker.not_before) is None:
            return Outgoing(self.names.work, marker.lane, marker.body, marker.token)
        exchange, left_s = self.names.place((moment - self._clock.now()).total_seconds())
        not_before_us = (moment - _EPOCH) // timedelta(microseconds=1)
        return Outgoing(exchange, marker.lane, marker.body, marker.token, not_before_us, left_s)

    async def _send_round(self, incoming: Incoming) -> None:
        """Let a message wait once more that came before its moment."""
        exchange, left_s = self.names.place(incoming.copy.left_s)
        await self._replace(incoming, replace(incoming.copy, exchange=exchange, left_s=left_s))

    async def _file_dead(self, incoming: Incoming) -> None:
        if not incoming.stale and (pardoned := await self._dead_letters.file_dead(incoming)):
            await self._replace(incoming, replace(pardoned, exchange=self.names.work))

    async def _replace(self, incoming: Incoming, copy: Outgoing) -> None:
        if not incoming.stale:
            await self.link.send([copy])
            await incoming.ack()

    def start(self) -> None:
        """Start the background tasks."""
        self._background.start("delays", self.early.run)
        self._background.start("deadletters", self._dead.run)
        self._background.start("housekeeping", self._housekeep)
        self._background.start("owed", self._recovery.owed.run)
        self._background.start("recovery", self._recovery.lost.run)

    async def take_over(self) -> None:
        """Set the delivery limit, and look after what the broker sets aside even while nothing is popped."""
        self.consumers.attend()
        if self._management is not None:
            await self._management.limit_deliveries(self.names.prefix, self.link.settings.delivery_limit)

    async def _housekeep(self) -> None:
        """Never returns."""
        monotonic = asyncio.get_running_loop().time
        periods_s = {self.revive: REVIVE_S, self.sweep: SWEEP_S}
        done_at = dict.fromkeys(periods_s, monotonic())
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self._mend()
                await self.consumers.want(self.consumers.deaf())
                await self.hand_back(self.consumers.unwanted())
                await self._fit(monotonic())
                for do, period_s in periods_s.items():
                    if monotonic() - done_at[do] >= period_s:
                        done_at[do] = monotonic()
                        await do()
            except Unroutable as error:
                self._is_declared = False
                log.warning("topology_lost", error=str(error))
            except CrawlError as error:
                log.warning("chore_failed", chore="housekeeping", error=str(error))

    async def _mend(self) -> None:
        """Connect again, and declare again what the broker may have lost meanwhile."""
        await self.link.check()
        if self.link.away:
            self._is_declared = False
            await self.link.restore()
            await self.link.check()
        if not self._is_declared:
            await self.declare()
            self._is_declared = True

    async def _fit(self, now: float) -> None:
        """Prefetch what suits the number of loops, and return what is too much for them to the broker."""
        self._loops.reckon(now)
        larger, smaller = self.consumers.misfits()
        if (larger or smaller) and not self.link.away:
            await self.hand_back(larger)
            await self.consumers.stop(smaller)
            await self.consumers.want(larger + smaller)
            log.info("prefetch_fitted", loops=self._loops.number, queues=[*map(self.names.queue, larger + smaller)])

    async def revive(self) -> None:
        """Restart consumers that the broker forgot: it does not always say so when a queue is declared again."""
        await self.consumers.probe()
        active = self.consumers.active
        deaf = [lane for lane in active if not (await self.link.declared(self.names.queue(lane))).consumer_count]
        if deaf:
            queues = [*map(self.names.queue, deaf)]
            log.warning("consumers_lost", queues=queues)
            await self.consumers.abandon(queues)
            await self.consumers.want(deaf)

    async def sweep(self) -> None:
        """Forget old crashes; publish again what has an old marker and an empty queue."""
        await self._crashes.sweep(self._clock.now() - timedelta(seconds=STARTS_S))
        before = self._clock.now() - timedelta(seconds=self.link.settings.orphaned_s)
        for lane in lanes(self._platforms):
            if not await self.link.ready_count(self.names.queue(lane)):
                self._recovery.lost.put(Lost(lane, before))

    async def hand_back(self, lanes: Sequence[Lane]) -> None:
        """Return what was prefetched of these lanes and not popped. The next pop fetches again."""
        if not lanes:
            return
        await self.consumers.stop(lanes)
        for incoming in self.pops.buffers.empty(lanes):
            await incoming.give_back()
        log.info("prefetched_handed_back", queues=[*map(self.names.queue, lanes)])

    def held(self) -> list[Incoming]:
        """All that was prefetched and not popped."""
        return [*self.pops.held(), *_fresh(self.early), *_fresh(self._dead)]

    async def close(self) -> None:
        """Return what was prefetched to the broker, which takes back what was popped."""
        await self._background.stop()
        if not self.link.away:
            with suppress(CrawlError):
                await self.consumers.stop(self.consumers.active)
            for incoming in self.held():
                await incoming.give_back()
        await self.link.close()


def _fresh(backlog: Backlog[Incoming]) -> list[Incoming]:
    return [incoming for incoming in backlog.items if not incoming.stale]


def _due(push: Push, now: datetime) -> Push:
    return replace(push, not_before=None) if push.not_before is not None and push.not_before <= now else push


@asynccontextmanager
async def open_amqp_queue(
    settings: AmqpSettings,
    *,
    markers: DedupMarkers,
    crashes: CrashCounter,
    bury: Bury,
    clock: Clock,
    platforms: Collection[str] = (),
) -> AsyncIterator[AmqpQueue]:
    """The queue, until the block is left. Raises ConfigError for what waiting will not mend, QueueError.

    platforms: whose lanes count even before this process pushes to them or pops from them.
    """
    queue = AmqpQueue(AmqpLink(settings), markers=markers, crashes=crashes, bury=bury, clock=clock)
    try:
        await queue.link.restore()
        await queue.declare()
        await queue.know(platforms)
        queue.start()
        yield queue
    finally:
        await run_to_end(queue.close())
