"""From a message to a delivery and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import CrashCounter, new_token
from ghcrawl.values.errors import CrawlError, DecodeError
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Push, Request
from queues.amqp.buffers import Buffers
from queues.amqp.dead_letters import DeadLetterHandler, name_of
from queues.amqp.message import Incoming
from queues.amqp.poison_messages import PoisonMessages
from queues.codec import decode
from queues.dedup_protocol import DedupProtocol

Owe: TypeAlias = Callable[[Push], None]
"""Pushes a request as soon as possible."""


class AmqpDelivery(Struct, frozen=True, eq=False):
    """A request popped from an AmqpQueue. name: of its message in the `CrashCounter`."""

    pops: Pops
    incoming: Incoming
    request: Request
    name: str
    suspect: bool

    @property
    def queue(self) -> QueueName:
        """The queue that it was popped from."""
        return self.incoming.lane.queue

    async def ack(self) -> None:
        """Forget it; if the broker has taken it back meanwhile, it comes again, which does no harm."""
        await self.pops.settle(self, done=True)

    async def release(self) -> None:
        """Let it wait again."""
        await self.pops.settle(self, done=False)


class Pops:
    """Prefetched messages, and deliveries that are not settled."""

    def __init__(
        self,
        dedup: DedupProtocol,
        crashes: CrashCounter,
        max_starts: int,
        dead: DeadLetterHandler,
        clock: Clock,
        owe: Owe,
    ) -> None:
        self.buffers: Final = Buffers()
        self.in_flight: Final[set[AmqpDelivery]] = set()
        self._poison = PoisonMessages(crashes, clock, max_starts, lambda each: self.buffers.put(each, first=True))
        self._dedup = dedup
        self._dead_letters = dead
        self._clock = clock
        self._owe = owe

    def held(self) -> list[Incoming]:
        """The prefetched messages."""
        return self.buffers.held() + self._poison.held()

    async def begun(self, incoming: Incoming) -> AmqpDelivery | None:
        """The delivery of that message, if it may be worked on. After StoreError or QueueError it waits here again."""
        try:
            return await self._begin(incoming)
        except BaseException:
            self.buffers.put(incoming, first=True)
            raise

    async def _begin(self, incoming: Incoming) -> AmqpDelivery | None:
        try:
            request = decode(incoming.content())
        except DecodeError as error:
            await self._dead_letters.file_undecodable(incoming, error, incoming.lane)
            return None
        taken = await self._dedup.take(request, incoming.lane.queue, token=incoming.copy.token)
        name = name_of(request, incoming.copy.token)
        if taken == "superfluous":
            await self._hand_on(incoming, request, name)
            await incoming.ack()
            return None
        if taken == "again" and not await self._may_begin(incoming, request, name):
            return None
        delivery = AmqpDelivery(self, incoming, request, name, taken == "again")
        self.in_flight.add(delivery)
        return delivery

    async def _hand_on(self, incoming: Incoming, request: Request, name: str) -> None:
        """The copy that takes a suspect's place is a suspect from the start.

        Else a killer that is discovered again after each death would have `max_starts` each time.
        """
        twin = await self._dedup.twin(request, incoming.lane.queue)
        if twin is not None and await self._poison.hand_on(name, name_of(request, twin.token)) + incoming.returns:
            await self._dedup.markers.delete(twin.key, twin.token)

    async def _may_begin(self, incoming: Incoming, request: Request, name: str) -> bool:
        verdict = await self._poison.judge(incoming, name)
        if verdict == "killer":
            await self._dead_letters.file_killer(incoming, request, self._poison.max_starts)
        return verdict == "start"

    async def settle(self, delivery: AmqpDelivery, *, done: bool) -> None:
        """Forget what was popped, or let it wait again. Does nothing if it is settled already."""
        if delivery not in self.in_flight:
            return
        self.in_flight.discard(delivery)
        if delivery.suspect:  # before the broker, which may be away for long and deliver it again meanwhile
            await self._poison.settled(delivery.name)
        if done:
            await delivery.incoming.ack()
        else:
            await self._put_back(delivery)

    async def _put_back(self, delivery: AmqpDelivery) -> None:
        """Let it wait again, unless a better copy of it does already.

        As a new push, with a marker: a message that comes back without one may have killed its process. If that fails,
        its own message goes back; the broker may have taken that back, and lost it, too.
        """
        again = Push(request=delivery.request, queue=delivery.queue)
        try:
            await self._dedup.push([again], token=new_token(), now=self._clock.now())
        except CrawlError:
            if not await delivery.incoming.give_back():
                self._owe(again)
        else:
            await delivery.incoming.ack()
