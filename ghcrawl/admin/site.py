"""What the routes work on: the ports and values of one running service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from ghcrawl.platforms.mount import Mounts
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter, Deadletters, Forgotten, Requeued
from ghcrawl.ports.inbox import IdempotencyKeys
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.source import PrincipalView
from ghcrawl.ports.store import Store
from ghcrawl.redelivery.sweep_schedule import Redelivery
from ghcrawl.schedule.watching import Watching
from ghcrawl.settings.live import LiveSettings
from ghcrawl.telemetry.history import Point, Span
from ghcrawl.telemetry.instrumented import Turn
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import TypeName, TypeNames


class UnreachableHost(Struct, frozen=True, kw_only=True):
    """A host that does not answer: its base URL, since when, and why."""

    platform: str
    base_url: str
    since: datetime
    reason: str


class Workers(Struct, frozen=True, kw_only=True):
    """The loops of this process. wanted: by the settings; blocked_until: while no platform can be asked anything.

    unreachable: the platforms that do not answer. unreachable_hosts: of all of them.
    blocked: the platforms that cannot be asked just now, and when each can be again.
    """

    worker: str
    wanted: int
    running: int
    busy: int
    paused: bool
    draining: bool
    restarts: int
    doing: tuple[Turn, ...] = ()
    blocked_until: datetime | None = None
    blocked: Mapping[str, datetime] = {}
    unreachable: Mapping[str, UnreachableHost] = {}
    unreachable_hosts: tuple[UnreachableHost, ...] = ()
    trouble: str = ""


class Site(Struct, frozen=True, kw_only=True):
    """One running service, as its routes see it.

    mounts: the platforms, as the settings have them. write: a request as JSON; read: JSON of `write` or
    of a client; raises DecodeError. requeue, forget: as much as can be done with deadletters within one answer.
    use_tokens: work with these credentials until the next start; raises ConfigError. applied: returns once the live
    settings of this moment hold in this process. figures: what was done since the start, as JSON; rate: requests
    settled from a queue in the last minute. stored, buried: documents by type, and deadletters, of this moment or
    of one shortly before; raise StoreError.
    watching: the sources that people name.
    history: what all replicas saw and did, oldest first; raises StoreError.
    redelivery: requests deliveries that did not arrive; None: not configured.
    """

    queue: Queue
    store: Store
    deadletters: Deadletters
    idempotency_keys: IdempotencyKeys
    clock: Clock
    mounts: Mounts
    live: LiveSettings
    requeue: Callable[[DeadletterFilter, QueueName | None], Awaitable[Requeued]]
    forget: Callable[[DeadletterFilter], Awaitable[Forgotten]]
    write: Callable[[Request], bytes]
    read: Callable[[bytes], Request]
    workers: Callable[[], Workers]
    principals: Callable[[], Sequence[PrincipalView]]
    use_tokens: Callable[[str], Awaitable[None]]
    figures: Callable[[], Mapping[str, object]]
    rate: Callable[[QueueName], int]
    stored: Callable[[], Awaitable[Mapping[TypeName, int]]]
    buried: Callable[[], Awaitable[DeadletterCounts]]
    applied: Callable[[], Awaitable[None]]
    history: Callable[[Span], Awaitable[Sequence[Point]]]
    watching: Watching
    redelivery: Redelivery | None = None

    def types(self, texts: Iterable[str], platforms: Collection[str]) -> tuple[TypeName, ...]:
        """The types that are meant, of these platforms if any are given. Raises SpecError for an ambiguous name.

        What no platform here has may be of another version, or of a platform that is mounted no more.
        """
        names, everywhere = TypeNames(self.mounts.types), [mount.name for mount in self.mounts]
        found: list[TypeName] = []
        for text in texts:
            known, (platform, slash, name) = names.read(text, platforms), text.partition("/")
            unknown = [TypeName(platform, name)] if slash else [TypeName(p, text) for p in platforms or everywhere]
            found += [known] if known else unknown
        return tuple(found)
