"""What is counted and logged: settled requests and the calls of platforms."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ghcrawl.ports.queue import Pushed
from ghcrawl.ports.store import Saved
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import OutcomeName
from ghcrawl.values.requests import Request


class Settled(Struct, frozen=True, kw_only=True):
    """One request came to its outcome, and that is durable.

    reason: a word of a fixed few; detail: free text for logs only.
    fetch_s, write_s: time spent retrieving and processing, and making it durable.
    cause: the failure's class for retry and bury.
    """

    request: Request
    queue: QueueName
    outcome: OutcomeName
    reason: str = ""
    detail: str = ""
    cause: str = ""
    saved: Saved | None = None
    pushed: Pushed = Pushed()
    fetch_s: float = 0.0
    write_s: float = 0.0


class Call(Struct, frozen=True, kw_only=True):
    """One answer of a platform, or none: status 0.

    principal: fingerprint, never a credential.
    remaining, limit, reset_at: the budget this answer reported.
    throttle: the kind of throttling it signalled, if any.
    """

    platform: str
    principal: str
    resource: str
    status: int
    seconds: float
    charged: bool
    remaining: int | None = None
    limit: int | None = None
    reset_at: datetime | None = None
    throttle: str = ""


class Observer(Protocol):
    """Called for everything worth counting. Must not block and must not raise."""

    def settled(self, settled: Settled) -> None:
        """A request came to its outcome."""

    def called(self, call: Call) -> None:
        """A platform answered."""
