"""Simulated hosts of Mastodon, and crawls of them into one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ghcrawl.fetch.mastodon.tokens import HostToken, read_tokens
from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.loading import load
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push, Request
from ghcrawl.wiring import Service, open_service, settings_model

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
    """Crawls into one file, unless its settings say otherwise.

    worker: who takes streams over at once from a process of that name.
    """

    db: Path = Path()
    credentials: Sequence[HostToken] = ()
    clock: Clock = field(default_factory=SystemClock)
    settings: Mapping[str, Any] = field(default_factory=dict)
    worker: str = ""

    def open(self, tally: Tally) -> AbstractAsyncContextManager[Service]:
        """The service."""
        over: dict[str, Any] = {"sqlite.path": self.db, "sqlite.synchronous": "normal", **self.settings}
        settings, _ = load(None, {}, over, model=settings_model((MASTODON,)))
        credentials = {"mastodon": self.credentials}
        return open_service(settings, credentials, tally, clock=self.clock, platforms=(MASTODON,), worker=self.worker)

    async def push(self, service: Service, *specs: str | Request, policy: str = "default") -> None:
        """These are asked for, as of now."""
        now = self.clock.now()
        roots = [each if isinstance(each, Request) else service.mounts.read_spec(each, policy) for each in specs]
        await service.backend.queue.push([Push(request=replace(r, asked_at=now), queue="immediate") for r in roots])

    async def crawl(self, *specs: str | Request, policy: str = "default") -> Crawled:
        """One crawl to its end."""
        tally = Tally()
        async with self.open(tally) as service:
            await self.push(service, *specs, policy=policy)
            service.supervisor.start()
            await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
            await service.supervisor.drain(5)
            return await left(service, tally)


def killable(host: str, settings: Mapping[str, Any]) -> Stage:
    """As a process runs it that is killed, and the next one that goes on: both by the same name."""
    return Stage(credentials=tokens(host), settings={**settings, "mastodon.budgets": []}, worker="one")


async def left(service: Service, tally: Tally) -> Crawled:
    """What there is now."""
    stored = {one.urn: one async for one in service.backend.store.list(DocumentFilter())}
    letters = await service.backend.deadletters.list(DeadletterFilter(), limit=1000)
    return Crawled(tally=tally, stored=stored, deadletters=letters)
