"""Whole crawls of a network of the AT Protocol in this process, simulated or real, and what they came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from ghcrawl.platforms.atproto import BLUESKY
from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.source import Credential
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.loading import load
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.wiring import Service, open_service, settings_model

MODEL = settings_model((BLUESKY,))


def jetstream(url: str) -> str:
    """Of the simulated network at `url`."""
    return f"{url.replace('http', 'ws', 1)}/subscribe"


class Crawled(Struct, frozen=True, kw_only=True):
    """What one crawl left behind."""

    tally: Tally
    documents: Mapping[str, Document]
    deadletters: Sequence[Deadletter]

    def of(self, type: str) -> list[Document]:
        """Those of a type that are there."""
        return [each for each in self.documents.values() if each.type == type and each.deleted_at is None]

    @property
    def saved(self) -> int:
        """Documents written."""
        return self.tally.documents


@dataclass(kw_only=True)
class Stage:
    """A network to be crawled into one file, unless its settings say otherwise.

    worker: who takes streams over at once from a process of that name.
    """

    db: Path
    api_url: str
    accounts: Sequence[Credential] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    worker: str = ""

    def open(self, tally: Tally) -> Any:
        """The service, as a context manager."""
        overrides = {"sqlite.path": self.db, "sqlite.synchronous": "normal", "bluesky.api_url": self.api_url}
        settings, _ = load(None, {}, overrides | self.settings, model=MODEL)
        credentials = {"bluesky": self.accounts} if self.accounts else {}
        return open_service(settings, credentials, tally, clock=self.clock, platforms=(BLUESKY,), worker=self.worker)

    async def push(self, service: Service, *specs: str, policy: str = "default") -> None:
        """These are asked for, as of now."""
        roots = [service.mounts.read_spec(spec, policy) for spec in specs]
        asked_at = self.clock.now()
        await service.backend.queue.push(
            [Push(request=replace(root, asked_at=asked_at), queue="immediate") for root in roots]
        )

    async def crawl(self, *specs: str, policy: str = "default") -> Crawled:
        """One crawl to its end."""
        tally = Tally()
        async with self.open(tally) as service:
            await self.push(service, *specs, policy=policy)
            service.supervisor.start()
            await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
            await service.supervisor.drain(5)
            return await left(service, tally)


def killable(url: str, settings: dict[str, Any]) -> Stage:
    """As a process runs it that is killed, and the next one that goes on: both by the same name."""
    return Stage(db=Path(settings.get("sqlite.path", "")), api_url=url, settings=settings, worker="one")


async def left(service: Service, tally: Tally) -> Crawled:
    """What there is now."""
    found = {one.urn: one async for one in service.backend.store.list(DocumentFilter())}
    letters = await service.backend.deadletters.list(DeadletterFilter(), limit=100)
    return Crawled(tally=tally, documents=found, deadletters=letters)
