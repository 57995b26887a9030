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
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

import structlog

from ghcrawl.errors import CrawlError, Unstorable
from ghcrawl.finished import finished
from ghcrawl.model import QUEUES, Push, QueueName, Request
from ghcrawl.ports import Clock, Depth, Pushed
from ghcrawl.tags import Starts, Tags, new_token
from queues.amqp_bodies import ABOVE_BYTES, MAX_BYTES, packed
from queues.amqp_chores import Chores
from queues.amqp_consumers import Consumers
from queues.amqp_deaths import Bury, Undertaker
from queues.amqp_demand import Demand
from queues.amqp_errors import Unroutable
from queues.amqp_housekeeping import Housekeeping
from queues.amqp_link import AmqpLink, open_link
from queues.amqp_looks import Looks
from queues.amqp_management import managed
from queues.amqp_message import Incoming, Outgoing
from queues.amqp_names import Names
from queues.amqp_pops import AmqpDelivery, Pops
from queues.amqp_publisher import Publisher
from queues.amqp_settings import AmqpSettings
from queues.amqp_suspects import Suspects
from queues.amqp_topology import declare
from queues.codec import encode
from queues.tags import Post, Tagging, apart

log = structlog.stdlib.get_logger(__name__)

QUIET_S: Final = 12.0
"""What others have in hand shows by what comes of it, or in the management API, within this time."""
AT_ONCE: Final = 500
"""Pushes that share their round trips."""
PARTS: Final = 2
"""So many such of one push at a time: while one is published, the tags of another are written."""


class AmqpQueue:
    """Made by `open_amqp_queue`. Raises QueueError, and StoreError where the tags are kept elsewhere."""

    def __init__(
        self, link: AmqpLink, publisher: Publisher, *, tags: Tags, starts: Starts, bury: Bury, clock: Clock
    ) -> None:
        settings = link.settings
        self.names: Final = Names(prefix=settings.prefix, waits_s=settings.waits_s)
        self.link: Final = link
        self._publisher = publisher
        self._tags = tags
        self._starts = starts
        self._clock = clock
        self._tagging = Tagging(tags=tags, publish=self._publish, sleep=clock.sleep)
        self._undertaker = Undertaker(bury, tags, starts, clock)
        suspects = Suspects(starts, clock, settings.max_starts)
        self.pops: Final = Pops(self._tagging, suspects, self._undertaker, clock)
        self.early: Final = Chores("delay", self._send_round)
        self._dead = Chores("deadletter", lambda incoming: self._undertaker.file_dead(incoming, publisher, self.names))
        self.consumers: Final = Consumers(link, self.names, self._arrived, self._dead.put)
        self._looks = Looks(link, self.names, tags, clock)
        self._management = managed(settings)
        self._demand = Demand(settings.loops, settings.hand_back_s)
        self._house = Housekeeping(link, self.consumers, self._demand, hand_back=self.hand_back, sweep=self._sweep)
        self._closing = False
        self._quiet_since: float | None = None
        self._tasks: list[asyncio.Task[None]] = []

    # The port -------------------------------------------------------------------------------------------------

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """As the port says. What was lost of our queues meanwhile is declared anew."""
        try:
            return await self._push(pushes)
        except Unroutable as error:
            log.warning("topology_lost", error=str(error))
            await declare(self.link, self.names)
            await self.consumers.stop(QUEUES)  # a queue made anew at once may not tell its consumers that it was gone
            return await self._push(pushes)

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

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> AmqpDelivery | None:
        """As the port says. Without patience, what is still on its way from the broker does not count as there."""
        with self._demand.popping(len(self.pops.in_hand)):
            return await self._pop(order, patience_s)

    async def _pop(self, order: Sequence[QueueName], patience_s: float) -> AmqpDelivery | None:
        trouble = self.link.trouble()
        if trouble is not None:
            raise trouble
        await self.consumers.want(order)
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
        """As `ghcrawl.ports.Broker` says. A queue that was lost is declared anew by whoever pushes."""
        with suppress(Unroutable):
            await self._looks.ready("event")

    async def depths(self) -> Mapping[QueueName, Depth]:
        """As the port says."""
        delayed = await self._tags.delayed(self._clock.now())
        elsewhere = await self._held_elsewhere()
        in_hand = Counter(delivery.queue for delivery in self.pops.in_hand)
        depths: dict[QueueName, Depth] = {}
        for name in QUEUES:
            ready = await self._looks.ready(name) + len(self.pops.held(name))
            in_flight = in_hand[name] + elsewhere.get(name, 0)
            depths[name] = Depth(ready=ready, delayed=delayed.get(name, 0), in_flight=in_flight)
        return depths

    async def is_empty(self) -> bool:
        """As the port says. While others pop too, only once nothing has been seen of anything for `QUIET_S`."""
        empty = not (self.pops.in_hand or self.held() or await self._tags.any_queued() or await self._looks.anything())
        if empty and not await self._others_pop():
            return True
        now = asyncio.get_running_loop().time()
        self._quiet_since = (self._quiet_since or now) if empty else None
        if self._quiet_since is None or now - self._quiet_since < QUIET_S:
            return False
        return not any((await self._held_elsewhere()).values())

    async def _others_pop(self) -> bool:
        for name in QUEUES:
            if await self.link.consumer_count(self.names.queue(name)) > (name in self.consumers.active):
                return True
        return False

    async def peek(self, queue: QueueName, *, limit: int) -> Sequence[Request]:
        """As the port says, except for what other processes have prefetched."""
        early = [incoming for incoming in self.early.held() if incoming.queue == queue]
        return await self._looks.peek(queue, self.pops.held(queue) + early, limit)

    async def purge(self, queue: QueueName) -> int:
        """As the port says. What other processes have prefetched is in flight."""
        prefetched = self.pops.buffers.empty([queue])
        prefetched += [incoming for incoming in self.early.held() if incoming.queue == queue]
        return await finished(self._looks.purge(queue, prefetched))

    # What arrives ---------------------------------------------------------------------------------------------

    def _arrived(self, incoming: Incoming) -> None:
        (self.early if incoming.left_s > 0 else self.pops.buffers).put(incoming)

    # What leaves ----------------------------------------------------------------------------------------------

    async def _publish(self, posts: Sequence[Post]) -> None:
        await self._publisher.send([await self._outgoing(post) for post in posts])

    async def _outgoing(self, post: Post) -> Outgoing:
        push, content = post.push, encode(post.push.request)
        body, encoding = await asyncio.to_thread(packed, content) if len(content) > ABOVE_BYTES else (content, None)
        if len(body) > self.link.settings.max_message_bytes or len(content) > MAX_BYTES:
            raise Unstorable(f"{push.request.name[:200]} is too large for a message: {len(body):,} bytes")
        now = self._clock.now()
        wait_s = 0.0 if push.not_before is None else max(0.0, (push.not_before - now).total_seconds())
        exchange, left_s = self._place(wait_s)
        return Outgoing(
            exchange=exchange,
            queue=push.queue,
            body=body,
            encoding=encoding,
            token=post.token,
            not_before=push.not_before,
            left_s=left_s,
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
        works: list[Coroutine[Any, Any, None]] = [self.early.run(), self._dead.run(), self._house.keep()]
        self._tasks = [asyncio.create_task(work, name="amqp-queue") for work in works]

    async def _sweep(self) -> int:
        before = self._clock.now() - timedelta(seconds=self.link.settings.residence_s)
        return await self._tags.sweep(before) + await self._starts.sweep(before)

    async def hand_back(self, queues: Sequence[QueueName]) -> None:
        """Nothing of these queues is held here, except what is in hand. The next pop fetches anew."""
        if not queues:
            return
        await self.consumers.stop(queues)
        for incoming in self.pops.buffers.empty(queues):
            await incoming.give_back()
        log.info("prefetched_handed_back", queues=list(queues))

    async def close(self) -> None:
        """What was prefetched waits in the broker again, and so does what is still in hand."""
        if self._closing:
            return
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if not self.link.away:
            with suppress(CrawlError):
                await self.consumers.stop(QUEUES)
            for incoming in self.held():
                await incoming.give_back()
        await self.link.close()

    def held(self) -> list[Incoming]:
        """All that was prefetched and is not in hand."""
        held = [incoming for name in QUEUES for incoming in self.pops.held(name)]
        return held + self.early.held() + self._dead.held()

    async def _held_elsewhere(self) -> Mapping[QueueName, int]:
        """What other processes hold, where that can be known."""
        if self._management is None:
            return {}
        unsettled = await self._management.unsettled()
        early = Counter(incoming.queue for incoming in self.early.held())
        in_hand = Counter(delivery.queue for delivery in self.pops.in_hand)
        return {
            name: max(
                0, unsettled.get(self.names.queue(name), 0) - len(self.pops.held(name)) - early[name] - in_hand[name]
            )
            for name in QUEUES
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
    settings: AmqpSettings, *, tags: Tags, starts: Starts, bury: Bury, clock: Clock
) -> AsyncIterator[AmqpQueue]:
    """The queue, until the block is left. Raises ConfigError for what waiting will not mend, QueueError."""
    link = await open_link(settings)
    try:
        await declare(link, Names(prefix=settings.prefix, waits_s=settings.waits_s))
        publisher = Publisher(link, await link.publisher_channel())
        queue = AmqpQueue(link, publisher, tags=tags, starts=starts, bury=bury, clock=clock)
    except BaseException:
        await link.close()
        raise
    queue.start()
    try:
        yield queue
    finally:
        await finished(queue.close())
