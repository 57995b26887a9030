"""From a message to a delivery and back: what is done before a request may be worked on, and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

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
        """It is forgotten; or, if the broker has taken it back meanwhile, comes again, which does no harm."""
        await self._owner.settle(self, done=True)

    async def release(self) -> None:
        """It waits again."""
        await self._owner.settle(self, done=False)


class Pops:
    """What this process holds that can be popped, and what it has in hand. owe: pushes something as soon as it can."""

    def __init__(
        self,
        tagging: Tagging,
        suspects: PoisonMessages,
        undertaker: DeadLetterHandler,
        clock: Clock,
        owe: Callable[[Push], None],
    ) -> None:
        self.buffers: Final = Buffers()
        self.in_hand: Final[set[AmqpDelivery]] = set()
        self._tagging = tagging
        self._suspects = suspects
        self._undertaker = undertaker
        self._clock = clock
        self._owe = owe

    def held(self) -> list[Incoming]:
        """What could be popped here."""
        return self.buffers.held() + self._suspects.held()

    async def begun(self, incoming: Incoming) -> AmqpDelivery | None:
        """A delivery of that message; None: it was none, or not yet. If nothing came of it, it may be popped again."""
        try:
            return await self._begin(incoming)
        except BaseException:
            self.buffers.put(incoming, first=True)
            raise

    async def _begin(self, incoming: Incoming) -> AmqpDelivery | None:
        try:
            request = decode(incoming.content())
        except DecodeError as error:
            await self._undertaker.file_undecodable(incoming, error, incoming.queue)
            return None
        taken = await self._tagging.take(request, incoming.queue, token=incoming.token)
        name = name_of(request, incoming.token)
        if taken == "first":
            return self._delivery(incoming, request, name)
        if taken == "again":
            return await self._suspected(incoming, request, name)
        await self._hand_on(incoming, request, name)
        await incoming.ack()
        return None

    async def _hand_on(self, incoming: Incoming, request: Request, name: str) -> None:
        """What is known of a suspect is known of whoever takes its place, who is then one from the start.

        Else somebody who finds the same killer again after each death would give it three starts each time.
        """
        twin = await self._tagging.twin(request, incoming.queue)
        if twin is not None and await self._suspects.hand_on(name, name_of(request, twin.token)) + incoming.returns:
            await self._tagging.tags.delete(twin.key, twin.token)

    async def _suspected(self, incoming: Incoming, request: Request, name: str) -> AmqpDelivery | None:
        verdict = await self._suspects.judge(incoming, name)
        if verdict == "killer":
            await self._undertaker.file_killer(incoming, request, self._suspects.max_starts)
        if verdict != "begin":
            return None
        try:
            await self._suspects.begin(name)
        except BaseException:
            await run_to_end(self._survived(name))
            raise
        return self._delivery(incoming, request, name, suspect=True)

    def _delivery(self, incoming: Incoming, request: Request, name: str, *, suspect: bool = False) -> AmqpDelivery:
        delivery = AmqpDelivery(self, incoming, request, name, suspect=suspect)
        self.in_hand.add(delivery)
        return delivery

    async def settle(self, delivery: AmqpDelivery, *, done: bool) -> None:
        """What was popped is forgotten, or waits again. Nothing happens to what is settled already."""
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
        """It killed nobody, and whatever waited for that may be popped."""
        self._free(self._suspects.let_go(name))
        with suppress(CrawlError):  # else remembered a while longer, and then swept
            await self._suspects.forget(name)

    async def _put_back(self, delivery: AmqpDelivery) -> None:
        """It waits again, unless a better copy of it does already.

        As a new push, with a tag: one that comes back without any may have killed somebody. Where that cannot be done
        just now, its own message goes back; a broker that has taken it back already may have lost it, too.
        """
        again = Push(request=delivery.request, queue=delivery.queue)
        try:
            await self._tagging.push([again], token=new_token(), now=self._clock.now())
        except CrawlError:
            if not await delivery.incoming.give_back():
                self._owe(again)
        else:
            await delivery.incoming.ack()

    def _free(self, parked: Sequence[Incoming]) -> None:
        for incoming in parked:
            self.buffers.put(incoming, first=True)
