"""From a message to a delivery and back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.dedup import new_token
from ghcrawl.values.errors import CrawlError, DecodeError
from ghcrawl.values.model import Push, Request
from ghcrawl.values.shielded import run_to_end
from queues.amqp.buffers import Buffers
from queues.amqp.dead_letters import DeadLetterHandler, name_of
from queues.amqp.message import Incoming
from queues.amqp.poison_messages import PoisonMessages
from queues.codec import decode
from queues.dedup_protocol import Tagging

Owe: TypeAlias = Callable[[Push], None]
"""Pushes a request as soon as possible."""


class AmqpDelivery:
    """A request popped from an AmqpQueue."""

    def __init__(self, owner: Pops, incoming: Incoming, request: Request, name: str, *, suspect: bool) -> None:
        self.request: Final = request
        self.suspect: Final = suspect
        self.queue: Final = incoming.queue
        self.incoming: Final = incoming
        self.name: Final = name
        self._owner = owner

    async def ack(self) -> None:
        """Forget it; if the broker has taken it back meanwhile, it comes again, which does no harm."""
        await self._owner.settle(self, done=True)

    async def release(self) -> None:
        """Let it wait again."""
        await self._owner.settle(self, done=False)


class Pops:
    """What can be popped here, and what was popped and is not settled."""

    def __init__(
        self, tagging: Tagging, poison: PoisonMessages, dead_letters: DeadLetterHandler, clock: Clock, owe: Owe
    ) -> None:
        self.buffers: Final = Buffers()
        self.in_hand: Final[set[AmqpDelivery]] = set()
        self._tagging = tagging
        self._poison = poison
        self._dead_letters = dead_letters
        self._clock = clock
        self._owe = owe

    def held(self) -> list[Incoming]:
        """What could be popped here."""
        return self.buffers.held() + self._poison.held()

    async def begun(self, incoming: Incoming) -> AmqpDelivery | None:
        """The delivery of that message, if it may be worked on now. After a failure it can be popped again.

        Raises StoreError, QueueError.
        """
        try:
            return await self._begin(incoming)
        except BaseException:
            self.buffers.put(incoming, first=True)
            raise

    async def _begin(self, incoming: Incoming) -> AmqpDelivery | None:
        try:
            request = decode(incoming.content())
        except DecodeError as error:
            await self._dead_letters.file_undecodable(incoming, error, incoming.queue)
            return None
        taken = await self._tagging.take(request, incoming.queue, token=incoming.copy.token)
        name = name_of(request, incoming.copy.token)
        if taken == "superfluous":
            await self._hand_on(incoming, request, name)
            await incoming.ack()
            return None
        if taken == "again" and not await self._may_begin(incoming, request, name):
            return None
        delivery = AmqpDelivery(self, incoming, request, name, suspect=taken == "again")
        self.in_hand.add(delivery)
        return delivery

    async def _hand_on(self, incoming: Incoming, request: Request, name: str) -> None:
        """The copy that takes a suspect's place is a suspect from the start.

        Else a killer that is discovered again after each death would have `max_starts` each time.
        """
        twin = await self._tagging.twin(request, incoming.queue)
        if twin is not None and await self._poison.hand_on(name, name_of(request, twin.token)) + incoming.returns:
            await self._tagging.tags.delete(twin.key, twin.token)

    async def _may_begin(self, incoming: Incoming, request: Request, name: str) -> bool:
        verdict = await self._poison.judge(incoming, name)
        if verdict == "killer":
            await self._dead_letters.file_killer(incoming, request, self._poison.max_starts)
        if verdict != "begin":
            return False
        try:
            await self._poison.begin(name)
        except BaseException:
            await run_to_end(self._survived(name))
            raise
        return True

    async def settle(self, delivery: AmqpDelivery, *, done: bool) -> None:
        """Forget what was popped, or let it wait again. Does nothing if it is settled already."""
        if delivery not in self.in_hand:
            return
        self.in_hand.discard(delivery)
        if delivery.suspect:  # before the broker, which may be away for long and deliver it again meanwhile
            await self._survived(delivery.name)
        if done:
            await delivery.incoming.ack()
        else:
            await self._put_back(delivery)

    async def _survived(self, name: str) -> None:
        """It killed no process, and what was parked for its sake can be popped."""
        for incoming in self._poison.let_go(name):
            self.buffers.put(incoming, first=True)
        with suppress(CrawlError):  # else remembered until it is swept
            await self._poison.forget(name)

    async def _put_back(self, delivery: AmqpDelivery) -> None:
        """Let it wait again, unless a better copy of it does already.

        As a new push, with a marker: a message that comes back without one may have killed its process. If that fails,
        its own message goes back; the broker may have taken that back, and lost it, too.
        """
        again = Push(request=delivery.request, queue=delivery.queue)
        try:
            await self._tagging.push([again], token=new_token(), now=self._clock.now())
        except CrawlError:
            if not await delivery.incoming.give_back():
                self._owe(again)
        else:
            await delivery.incoming.ack()
