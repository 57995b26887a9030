"""What the routes work on: the ports and values of one running service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ghcrawl.live import LiveSettings
from ghcrawl.model import QueueName, Request
from ghcrawl.platform import Platform
from ghcrawl.ports import Clock, DeadletterCounts, DeadletterFilter, Deadletters, Queue, Store
from ghcrawl.receipts import Receipts
from ghcrawl.redelivery import Redelivery


class Round(Protocol):
    """What was done with many deadletters within one answer, as far as whoever asks again has to know."""

    @property
    def left(self) -> int:
        """Are meant too, and there was no time for them."""

    @property
    def before(self) -> datetime | None:
        """The bound by which those are found: they were given up before that moment; None: none are left."""


class Requeued(Round, Protocol):
    """What a requeue came to: wait now because of it, waited already, and never were requests (and stay)."""

    @property
    def queued(self) -> int:
        """Wait now because of it."""

    @property
    def bounced(self) -> int:
        """Waited already."""

    @property
    def unreadable(self) -> int:
        """Stay, because they never were requests."""


class Forgotten(Round, Protocol):
    """What deleting came to."""

    @property
    def deleted(self) -> int:
        """Are gone because of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of one resource of a principal, as far as its last answers told."""

    resource: str
    limit: int
    remaining: int
    reset_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """One credential, for people and metrics. Nothing here is secret.

    id: the same for credentials that share a budget. retired: why it is not used; empty while it is.
    """

    id: str
    label: str
    traits: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = ()
    calls: int = 0
    in_flight: int = 0
    benched_until: datetime | None = None
    benched_for: str = ""
    retired: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What one loop does now: nothing (`request` None), or this request since then."""

    loop: str
    since: datetime
    request: Request | None = None
    queue: QueueName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """The loops of this process. wanted: by the settings; blocked_until: while no platform can be asked anything."""

    worker: str
    wanted: int
    running: int
    busy: int
    paused: bool
    draining: bool
    restarts: int
    doing: tuple[Doing, ...] = ()
    blocked_until: datetime | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One running service, as its routes see it.

    api_url: of the platform that specs are read for. write: a request as JSON; read: what `write` gave, or somebody
    else's; raises DecodeError. requeue, forget: as much as can be done with deadletters within one answer.
    use_tokens: work with these credentials until the next start; raises ConfigError. applied: returns once the live
    settings of this moment hold in this process. figures: what was done since the start, as JSON; rate: requests
    settled from a queue in the last minute. stored, buried: documents by type, and deadletters, of this moment or
    of one shortly before; raise StoreError.
    redelivery: who asks for deliveries that did not arrive; None where nobody does.
    """

    queue: Queue
    store: Store
    deadletters: Deadletters
    receipts: Receipts
    clock: Clock
    platforms: Mapping[str, Platform]
    api_url: str
    live: LiveSettings
    requeue: Callable[[DeadletterFilter, QueueName | None], Awaitable[Requeued]]
    forget: Callable[[DeadletterFilter], Awaitable[Forgotten]]
    write: Callable[[Request], bytes]
    read: Callable[[bytes], Request]
    crew: Callable[[], Crew]
    principals: Callable[[], Sequence[Principal]]
    use_tokens: Callable[[str], Awaitable[None]]
    figures: Callable[[], Mapping[str, object]]
    rate: Callable[[QueueName], int]
    stored: Callable[[], Awaitable[Mapping[str, int]]]
    buried: Callable[[], Awaitable[DeadletterCounts]]
    applied: Callable[[], Awaitable[None]]
    redelivery: Redelivery | None = None

    @property
    def platform(self) -> Platform:
        """The one that specs are read for when nothing else is said: the first."""
        return next(iter(self.platforms.values()))
