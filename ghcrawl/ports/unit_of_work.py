"""What a settled request leaves behind, made durable as one step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ghcrawl.ports.queue import Delivery, Pushed
from ghcrawl.ports.store import Saved, Touch
from ghcrawl.values.model import Deadletter, Document, Push


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Everything one request leaves behind, as data: made durable in one go where that is possible.

    if_tied, if_mixed: pushed as well if saving the document has that result.
    """

    pushes: tuple[Push, ...] = ()
    document: Document | None = None
    if_tied: Push | None = None
    if_mixed: Push | None = None
    supersede: str = ""
    touch: Touch | None = None
    deadletter: Deadletter | None = None

    def asks(self, saved: Saved | None) -> Push | None:
        """What is pushed as well, now that it is known what saving the document came to."""
        return self.if_tied if saved == "tied" else self.if_mixed if saved == "mixed" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What making effects durable came to. saved: None where there was no document."""

    pushed: Pushed = field(default_factory=Pushed)
    saved: Saved | None = None


class UnitOfWork(Protocol):
    """Makes effects durable, then acks. A crash at any line means that the request comes again, never lost."""

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """Order: pushes confirmed → document, touch or deadletter written → ack; or all of it in one transaction.

        What a save asks for (`Effects.asks`) is pushed once it is known what it came to, before the ack.

        Goes on to its end even if the caller is cancelled meanwhile. Raises QueueError or StoreError before the ack;
        the caller then releases the delivery.
        """
