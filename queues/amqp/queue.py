"""The five queues in RabbitMQ, for any number of processes.

Names and arguments are in `amqp_names`, the protocol of deduplication in `tags`. What a process prefetched waits in its
memory and is popped from there by whatever order the loops ask for; a pop never asks the broker.

Of the contract, two things are looser than in one process's file: what others have in hand is told by the management
API alone, where one is configured, and as of some seconds ago; and a copy that a better one has made
superfluous counts as waiting until its turn comes, when it is let go.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter, DedupMarker, DedupMarkers, new_token
from ghcrawl.ports.queue import Depth, Pushed
from ghcrawl.values.background import Background
from ghcrawl.values.errors import CrawlError, QueueError, Unstorable
from ghcrawl.values.model import LEGACY_PLATFORM, Lane, Push, QueueName, Request
from ghcrawl.values.shielded import run_to_end
from queues.amqp.compression import ABOVE_BYTES, MAX_BYTES, packed
from queues.amqp.connection import AmqpLink, open_link
from queues.amqp.consumers import Consumers
from queues.amqp.dead_letters import Bury, DeadLetterHandler
from queues.amqp.errors import Unroutable
from queues.amqp.housekeeping import Housekeeping
from queues.amqp.inspection import Inspection
from queues.amqp.maintenance import Maintenance
from queues.amqp.management import managed
from queues.amqp.message import Incoming, Outgoing
from queues.amqp.names import Names, QueueSpec, lanes
from queues.amqp.poison_messages import PoisonMessages
from queues.amqp.pops import AmqpDelivery, Pops
from queues.amqp.prefetch import Prefetch
from queues.amqp.publisher import Publisher
from queues.amqp.recovery import Recovery
from queues.amqp.settings import AmqpSettings
from queues.amqp.topology import declare
from queues.codec import encode
from queues.dedup_protocol import Tagging, apart

log = structlog.stdlib.get_logger(__name__)

QUIET_S: Final = 12.0
"""What others have in hand shows by what comes of it, or in the management API, within this time."""
STARTS_S: Final = 7 * 86400.0
"""How long it is remembered that work on a message was begun."""
AT_ONCE: Final = 500
"""Pushes that share their round trips."""
PARTS: Final = 2
"""So many such of one push at a time: while one is published, the tags of another are written."""


class AmqpQueue:
    """Made by `open_amqp_queue`. Raises QueueError, and StoreError where the tags are kept elsewhere."""

    def __init__(
        self,
        link: AmqpLink,
        publisher: Publisher,
        *,
        tags: DedupMarkers,
        starts: CrashCounter,
        bury: Bury,
        clock: Clock,
    ) -> None:
        settings = link.settings
        self.names: Final = Names(prefix=settings.prefix, waits_s=settings.waits_s)
        self.link: Final = link
        self._publisher = publisher
        self._tags = tags
        self._starts = starts
        self._clock = clock
        self._tagging = Tagging(tags=tags, pack=self._packed, publish=self._publish, sleep=clock.sleep)
        self._undertaker = DeadLetterHandler(bury, tags, starts, clock)
        suspects = PoisonMessages(starts, clock, settings.max_starts)
        self._recovery = Recovery(self._tagging, clock)
        self.pops: Final = Pops(self._tagging, suspects, self._undertaker, clock, self._recovery.owe)
        self.early: Final = Maintenance("delay", self._send_round)
        self._dead = Maintenance(
            "deadletter", lambda incoming: self._undertaker.file_dead(incoming, publisher, self.names)
        )
        self.consumers: Final = Consumers(link, self.names, self._arrived, self._dead.put)
        self._looks = Inspection(link, self.names, tags, clock)
        self._management = managed(settings)
        self._demand = Prefetch(settings.loops, settings.hand_back_s)
        self._house = Housekeeping(
            link, self.consumers, self._demand, hand_back=self.hand_back, declare=self.declare, sweep=self.sweep
        )
        self._platforms = {LEGACY_PLATFORM: None}
        self._closing = False
        self._quiet_since: float | None = None
        self._background = Background()

    # The port -------------------------------------------------------------------------------------------------

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says. What was lost of our queues meanwhile is declared anew."""
        await self.know({each.request.platform for each in pushes})
        try:
            return await self._push(pushes)
        except Unroutable as error:
            log.warning("topology_lost", error=str(error))
            await self.declare()
            return await self._push(pushes)

    async def _want(self, order: Sequence[Lane]) -> None:
        try:
            await self.consumers.want(order)
        except Unroutable as error:
            log.warning("topology_lost", error=str(error))
            await self.declare()
            await self.consumers.want(order)

    async def declare(self) -> None:
        """All is there that should be, and what was lost with a queue will be published again.

        Raises ConfigError, QueueError.
        """
        await run_to_end(self._declare([*self.names.specs(), *self.names.work_specs(self._platforms)]))

    async def _declare(self, specs: Iterable[QueueSpec]) -> None:
        now = self._clock.now()
        missing = await declare(self.link, self.names, specs)
        for spec in missing:
            self._recovery.lost(spec, now)
        await self.consumers.abandon([spec.name for spec in missing])

    async def know(self, platforms: Iterable[str]) -> None:
        """There are lanes for these platforms, and what waits in them counts. Raises ConfigError, QueueError."""
        new = [platform for platform in platforms if platform not in self._platforms]
        if new:
            await run_to_end(self._declare(self.names.work_specs(new)))
            self._platforms.update(dict.fromkeys(new))

    async def _push(self, pushes: Sequence[Push]) -> Pushed:
        now, slots = self._clock.now(), asyncio.Semaphore(PARTS)

        async def push(part: Sequence[Push]) -> Pushed:
            async with slots:
                return await self._tagging.push([_due(each, now) for each in part], token=new_token(), now=now)

        wanted = list(apart(pushes).values()) if len(pushes) > AT_ONCE else pushes
        parts = [wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE)]
        queued = 0
        for end in await asyncio.gather(*map(push, parts), return_exceptions=True):
            if isinstance(end, BaseException):
                raise end
            queued += end.queued
        return Pushed(queued=queued, bounced=len(pushes) - queued)

    async def pop(self, order: Sequence[Lane], *, patience_s: float) -> AmqpDelivery | None:
        """As the port says. Without patience, what is still on its way from the broker does not count as there."""
        with self._demand.popping(len(self.pops.in_hand)):
            return await self._pop(order, patience_s)

    async def _pop(self, order: Sequence[Lane], patience_s: float) -> AmqpDelivery | None:
        trouble = self.link.trouble()
        if trouble is not None:
            raise trouble
        await self.know({lane.platform for lane in order})
        await self._want(order)
        monotonic = asyncio.get_running_loop().time
        deadline = monotonic() + patience_s
        while (incoming := await self.pops.buffers.take(order, deadline - monotonic())) is not None:
            delivery = await self.pops.begun(incoming)
            if delivery is not None:
                return delivery
        return None

    @property
    def blocked(self) -> bool:
        """As `ghcrawl.ports.Broker` says."""
        return self.link.blocked

    async def answer(self) -> None:
        """As `ghcrawl.ports.Broker` says. A queue that was lost is declared anew by housekeeping."""
        if down := self._background.down:
            raise QueueError(f"what is done beside the loops has ended, and begins anew: {', '.join(down)}")
        with suppress(Unroutable):
            await self._looks.ready(Lane(LEGACY_PLATFORM, "event"))

    @property
    def restarts(self) -> int:
        """As `ghcrawl.ports.Broker` says."""
        return self._background.restarts

    async def depths(self) -> Mapping[Lane, Depth]:
        """As the port says, of every platform that this process has heard of, or the management API tells of."""
        delayed = await self._tags.delayed(self._clock.now())
        unsettled = await self._management.unsettled() if self._management else {}
        told = [lane for queue in unsettled if (lane := self.names.lane(queue)) is not None]
        await self.know({lane.platform for lane in (*delayed, *told)})
        held, in_hand = Counter(incoming.lane for incoming in self.pops.held()), self._in_hand()
        elsewhere = self._held_elsewhere(unsettled)
        depths: dict[Lane, Depth] = {}
        for lane in lanes(self._platforms):
            ready = await self._looks.ready(lane) + held[lane]
            in_flight = in_hand[lane] + elsewhere.get(lane, 0)
            depths[lane] = Depth(ready=ready, delayed=delayed.get(lane, 0), in_flight=in_flight)
        return depths

    async def is_empty(self, platforms: Collection[str] | None = None) -> bool:
        """As the port says. While others pop too, only once nothing has been seen of anything for `QUIET_S`."""
        wanted = platforms if platforms is not None else list(self._platforms)
        await self.know(wanted)
        busy = self.pops.in_hand or self.held() or self._recovery.owed or await self._tags.any_queued(platforms)
        empty = not (busy or await self._looks.anything(wanted))
        if empty and not await self._others_pop(wanted):
            return True
        now = asyncio.get_running_loop().time()
        self._quiet_since = (self._quiet_since or now) if empty else None
        if self._quiet_since is None or now - self._quiet_since < QUIET_S:
            return False
        return self._management is None or not any(self._held_elsewhere(await self._management.unsettled()).values())

    async def _others_pop(self, platforms: Iterable[str]) -> bool:
        for lane in lanes(platforms):
            if await self.link.consumer_count(self.names.queue(lane)) > (lane in self.consumers.active):
                return True
        return False

    async def peek(self, queue: QueueName, *, limit: int, platform: str | None = None) -> Sequence[Request]:
        """As the port says, except for what other processes have prefetched."""
        shown: list[Request] = []
        for lane in await self._lanes_of(queue, platform):
            held = [incoming for incoming in (*self.pops.held(), *self.early.held()) if incoming.lane == lane]
            shown += await self._looks.peek(lane, held, limit - len(shown))
        return shown

    async def purge(self, queue: QueueName, *, platform: str | None = None) -> int:
        """As the port says. What other processes have prefetched is in flight."""
        purged = 0
        for lane in await self._lanes_of(queue, platform):
            prefetched = self.pops.buffers.empty([lane])
            prefetched += [incoming for incoming in self.early.held() if incoming.lane == lane]
            purged += await run_to_end(self._looks.purge(lane, prefetched))
        return purged

    async def _lanes_of(self, queue: QueueName, platform: str | None) -> list[Lane]:
        """The lane of that platform, or of each that is known."""
        await self.know(() if platform is None else (platform,))
        return [Lane(each, queue) for each in self._platforms if platform in (None, each)]

    # What arrives ---------------------------------------------------------------------------------------------

    def _arrived(self, incoming: Incoming) -> None:
        (self.early if incoming.left_s > 0 else self.pops.buffers).put(incoming)

    # What leaves ----------------------------------------------------------------------------------------------

    async def _packed(self, request: Request) -> bytes:
        content = encode(request)
        body = await asyncio.to_thread(packed, content) if len(content) > ABOVE_BYTES else content
        if len(body) > self.link.settings.max_message_bytes or len(content) > MAX_BYTES:
            raise Unstorable(f"{request.name[:200]} is too large for a message: {len(body):,} bytes")
        return body

    async def _publish(self, tags: Sequence[DedupMarker]) -> None:
        await self.know({tag.platform for tag in tags})
        await self._publisher.send([self._outgoing(tag) for tag in tags])

    def _outgoing(self, tag: DedupMarker) -> Outgoing:
        wait_s = 0.0 if tag.not_before is None else (tag.not_before - self._clock.now()).total_seconds()
        exchange, left_s = self._place(wait_s)
        return Outgoing(
            exchange=exchange, lane=tag.lane, body=tag.body, token=tag.token, not_before=tag.not_before, left_s=left_s
        )

    def _place(self, wait_s: float) -> tuple[str, float]:
        """Where to send what has to wait so long, and how much of that is left when it comes from there."""
        if wait_s <= 0:
            return self.names.work, 0.0
        hop_s = self.names.wait_for(wait_s)
        return self.names.wait(hop_s), max(0.0, wait_s - hop_s)

    async def _send_round(self, incoming: Incoming) -> None:
        """It came before its moment: it waits once more."""
        exchange, left_s = self._place(incoming.left_s)
        await self._publisher.send([incoming.again(exchange, left_s=left_s)])
        await incoming.ack()

    # Housekeeping ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """From now on what has to be done beside the loops is done."""
        works = {"delays": self.early.run, "deadletters": self._dead.run, "housekeeping": self._house.keep}
        for name, work in (works | {"recovery": self._recovery.run}).items():
            self._background.start(name, work)

    async def sweep(self) -> None:
        """Starts that are long over are forgotten; what waits by its tag alone is published again."""
        await self._starts.sweep(self._clock.now() - timedelta(seconds=STARTS_S))
        before = self._clock.now() - timedelta(seconds=self.link.settings.orphaned_s)
        for lane in lanes(self._platforms):
            if not await self._looks.ready(lane):
                self._recovery.orphaned(lane, before)

    async def hand_back(self, lanes: Sequence[Lane]) -> None:
        """Nothing of these lanes is held here, except what is in hand. The next pop fetches anew."""
        if not lanes:
            return
        await self.consumers.stop(lanes)
        for incoming in self.pops.buffers.empty(lanes):
            await incoming.give_back()
        log.info("prefetched_handed_back", queues=[*map(self.names.queue, lanes)])

    async def close(self) -> None:
        """What was prefetched waits in the broker again, and so does what is still in hand."""
        if self._closing:
            return
        self._closing = True
        await self._background.stop()
        if not self.link.away:
            with suppress(CrawlError):
                await self.consumers.stop(self.consumers.active)
            for incoming in self.held():
                await incoming.give_back()
        await self.link.close()

    def held(self) -> list[Incoming]:
        """All that was prefetched and is not in hand."""
        return self.pops.held() + self.early.held() + self._dead.held()

    def _in_hand(self) -> Counter[Lane]:
        return Counter(delivery.incoming.lane for delivery in self.pops.in_hand)

    def _held_elsewhere(self, unsettled: Mapping[str, int]) -> Mapping[Lane, int]:
        """What other processes hold, where the management API tells how much anybody does."""
        here = self._in_hand() + Counter(incoming.lane for incoming in self.pops.held() + self.early.held())
        return {
            lane: max(0, unsettled[name] - here[lane])
            for lane in lanes(self._platforms)
            if (name := self.names.queue(lane)) in unsettled
        }

    async def take_over(self) -> None:
        """This process works on what waits, and looks after what the broker sets aside even while nobody pops.

        The broker's own backstop is set, where it can be. Looking needs neither.
        """
        self._house.attending = True
        if self._management is not None:
            await self._management.limit_deliveries(self.names.prefix, self.link.settings.delivery_limit)


def _due(push: Push, now: Any) -> Push:
    return push if push.not_before is None or push.not_before > now else Push(request=push.request, queue=push.queue)


@asynccontextmanager
async def open_amqp_queue(
    settings: AmqpSettings,
    *,
    tags: DedupMarkers,
    starts: CrashCounter,
    bury: Bury,
    clock: Clock,
    platforms: Collection[str] = (),
) -> AsyncIterator[AmqpQueue]:
    """The queue, until the block is left. Raises ConfigError for what waiting will not mend, QueueError.

    platforms: whose lanes are looked at though nothing was pushed to them or popped from them here.
    """
    link = await open_link(settings)
    try:
        queue = AmqpQueue(link, Publisher(link), tags=tags, starts=starts, bury=bury, clock=clock)
        await queue.declare()
        await queue.know(platforms)
    except BaseException:
        await link.close()
        raise
    queue.start()
    try:
        yield queue
    finally:
        await run_to_end(queue.close())
