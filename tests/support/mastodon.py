"""Simulated hosts of Mastodon, and crawls of them into one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ghcrawl.fetch.mastodon.tokens import HostToken, read_tokens
from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.sections import load
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.model import Deadletter, Document, Push, Request
from ghcrawl.wiring import open_service, settings_model

TOKEN = "simulated-token-of-user1"


def tokens(*hosts: str) -> tuple[HostToken, ...]:
    """The same token for each host."""
    return read_tokens("\n".join(f"{host}={TOKEN}" for host in hosts), source="a test")


@dataclass(kw_only=True)
class Crawled:
    """What one crawl left behind. stored: with tombstones, by URN."""

    tally: Tally
    stored: Mapping[str, Document]
    deadletters: Sequence[Deadletter]

    @property
    def counts(self) -> Counter[str]:
        """Documents by type that are no tombstones."""
        return Counter(each.type for each in self.stored.values() if each.deleted_at is None)

    def of(self, type: str) -> list[Document]:
        """Those of a type that are no tombstones."""
        return [each for each in self.stored.values() if each.type == type and each.deleted_at is None]


@dataclass(kw_only=True)
class Stage:
    """Crawls into one file."""

    db: Path
    credentials: Sequence[HostToken] = ()
    clock: Clock = field(default_factory=SystemClock)
    settings: Mapping[str, Any] = field(default_factory=dict)

    async def crawl(self, *specs: str | Request, policy: str = "default") -> Crawled:
        """One crawl to its end."""
        over: dict[str, Any] = {"sqlite.path": self.db, "sqlite.synchronous": "normal", **self.settings}
        settings, _ = load(None, {}, over, model=settings_model((MASTODON,)))
        tally, now = Tally(), self.clock.now()
        credentials = {"mastodon": self.credentials}
        async with open_service(settings, credentials, tally, clock=self.clock, platforms=(MASTODON,)) as service:
            roots = [each if isinstance(each, Request) else service.mounts.read_spec(each, policy) for each in specs]
            await service.backend.queue.push([Push(request=replace(r, asked_at=now), queue="immediate") for r in roots])
            service.supervisor.start()
            await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
            await service.supervisor.drain(5)
            stored = {one.urn: one async for one in service.backend.store.list(DocumentFilter())}
            letters = await service.backend.deadletters.list(DeadletterFilter(), limit=1000)
        return Crawled(tally=tally, stored=stored, deadletters=letters)
