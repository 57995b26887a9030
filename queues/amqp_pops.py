"""From a message to a delivery and back: what is done before a request may be worked on, and after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ghcrawl.errors import CrawlError, DecodeError, QueueError
from ghcrawl.model import QueueName, Request
from queues.amqp_buffers import Buffers
from queues.amqp_deaths import Undertaker, name_of
from queues.amqp_message import Incoming
from queues.amqp_publisher import Publisher
from queues.amqp_suspects import Suspects
from queues.codec import decode
from queues.tags import Tagging

MAX_RETURNS: Final = 5
"""A release of what came back oftener is a new message, or the broker would set it aside one day."""


class AmqpDelivery:
    """A request popped from an AmqpQueue."""

    def __init__(self, owner: Pops, incoming: Incoming, request: Request, name: str) -> None:
        self.request: Final = request
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
    """What this process holds that can be popped, and what it has in hand.

    work: the exchange whose keys are the queues' names.
    """

    def __init__(
        self, tagging: Tagging, suspects: Suspects, undertaker: Undertaker, publisher: Publisher, *, work: str
    ) -> None:
        self.buffers: Final = Buffers()
        self.in_hand: Final[set[AmqpDelivery]] = set()
        self._tagging = tagging
        self._suspects = suspects
        self._undertaker = undertaker
        self._publisher = publisher
        self._work = work

    def held(self, queue: QueueName) -> list[Incoming]:
        """What could be popped from `queue` here."""
        return self.buffers.held(queue) + [each for each in self._suspects.held() if each.queue == queue]

    async def begun(self, incoming: Incoming) -> AmqpDelivery | None:
        """A delivery of that message; None: it was none, or not yet. If nothing came of it, it may be popped again."""
        try:
            return await self._begin(incoming)
        except BaseException:
            self.buffers.put(incoming, first=True)
            raise

    async def _begin(self, incoming: Incoming) -> AmqpDelivery | None:
        try:
            request = decode(incoming.body)
        except DecodeError as error:
            await self._undertaker.file_undecodable(incoming, error, incoming.queue)
            return None
        name = name_of(request, incoming.token)
        verdict = await self._suspects.judge(incoming, name) if incoming.returns else "begin"
        if verdict == "killer":
            await self._undertaker.file_killer(incoming, request, self._suspects.max_starts)
        if verdict != "begin":
            return None
        try:
            return await self._take(incoming, request, name)
        except BaseException:
            self._free(self._suspects.let_go(name))
            raise

    async def _take(self, incoming: Incoming, request: Request, name: str) -> AmqpDelivery | None:
        if await self._tagging.take(request, incoming.queue, token=incoming.token) == "superfluous":
            self._free(self._suspects.let_go(name))
            await incoming.ack()
            return None
        if incoming.returns:
            await self._suspects.begin(name)
        delivery = AmqpDelivery(self, incoming, request, name)
        self.in_hand.add(delivery)
        return delivery

    async def settle(self, delivery: AmqpDelivery, *, done: bool) -> None:
        """What was popped is forgotten, or waits again. Nothing happens to what is settled already."""
        if delivery not in self.in_hand:
            return
        self.in_hand.discard(delivery)
        if done:
            await delivery.incoming.ack()
        else:
            await self._put_back(delivery)
        if delivery.incoming.returns:
            freed = self._suspects.let_go(delivery.name)
            self._free(freed)
            with suppress(CrawlError):  # remembered a while longer, and then swept
                await self._suspects.settled(delivery.name)

    async def _put_back(self, delivery: AmqpDelivery) -> None:
        """It waits again, unless a better copy of it does already."""
        incoming = delivery.incoming
        with suppress(CrawlError):
            if await self._tagging.take(delivery.request, delivery.queue, token=None) == "superfluous":
                await incoming.ack()
                return
        if incoming.returns >= MAX_RETURNS and not incoming.stale:
            with suppress(QueueError):
                await self._publisher.send([incoming.again(self._work)])
                await incoming.ack()
        await incoming.give_back()

    def _free(self, parked: Sequence[Incoming]) -> None:
        for incoming in parked:
            self.buffers.put(incoming, first=True)
