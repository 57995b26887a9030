"""What a settled request leaves behind, made durable as one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from ghcrawl.ports.queue import Delivery, Pushed
from ghcrawl.ports.store import Saved, Touch
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.requests import Push


def asks_nothing(_saved: Saved | None) -> None:
    """For documents that are settled however they are saved."""


class Effects(Struct, frozen=True, kw_only=True):
    """Everything one request leaves behind: made durable in one go where that is possible.

    asks: what is pushed as well, by the result of saving the document. Pure, and called in any thread; hardly any
    result asks for something, so it is made only then.
    carried: what the elements leave behind that came with the request and were processed with it.
    """

    pushes: tuple[Push, ...] = ()
    document: Document | None = None
    asks: Callable[[Saved | None], Push | None] = asks_nothing
    supersede: str = ""
    touch: Touch | None = None
    deadletter: Deadletter | None = None
    carried: tuple[Effects, ...] = ()


class Committed(Struct, frozen=True, kw_only=True):
    """What making effects durable came to. saved: None where there was no document. carried: the same of each."""

    pushed: Pushed = Pushed()
    saved: Saved | None = None
    carried: tuple[Saved | None, ...] = ()


class UnitOfWork(Protocol):
    """Makes effects durable, then acks. A crash at any line means that the request comes again, never lost."""

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """Order: pushes confirmed → document, touch or deadletter written → ack; or all of it in one transaction.

        All that was carried is durable, in the same order, before the request's own pushes are: one of them may say
        that a list was read to its end. All pushes count as those of the request.

        What a save asks for (`Effects.asks`) is pushed once it is known what it came to, before the ack.

        Goes on to its end even if the caller is cancelled meanwhile. Raises QueueError or StoreError before the ack;
        the caller then releases the delivery.
        """
