"""Whole crawls of the simulator in this process, and what they came to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ghcrawl.fetch.github import read_tokens
from ghcrawl.model import Deadletter, Document, Push
from ghcrawl.ports import DeadletterFilter, DocumentFilter
from ghcrawl.settings import load
from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.faults import Faults
from ghcrawl.simulator.generation.generate import generate
from ghcrawl.simulator.generation.size import SMALL, WorldSize
from ghcrawl.simulator.manners import Manners
from ghcrawl.simulator.oracle import TYPES, Expected, expected
from ghcrawl.simulator.run import running
from ghcrawl.simulator.server import Server, Setup
from ghcrawl.simulator.world import World
from ghcrawl.tally import Tally
from ghcrawl.wiring import open_service

TOKEN = "ghp_oneOfTheOrganisationsMembers0000000000"


@dataclass(kw_only=True)
class Crawled:
    """What one crawl left behind."""

    tally: Tally
    documents: Mapping[tuple[str, str], Document]
    deadletters: Sequence[Deadletter]

    @property
    def entities(self) -> set[tuple[str, str]]:
        """(type, URN) of the documents that are things, not pages or cursors."""
        return {key for key, document in self.documents.items() if key[0] in TYPES and not document.deleted_at}


@dataclass(kw_only=True)
class Stage:
    """A simulated GitHub, somebody to crawl it as, and a file to crawl it into."""

    world: World
    server: Server
    db: Path
    tokens: Sequence[str]
    viewer: Any
    settings: dict[str, Any] = field(default_factory=dict)

    async def crawl(self, *specs: str, policy: str = "default") -> Crawled:
        """One crawl to its end, as the command line would do it."""
        overrides = {"sqlite.path": self.db, "sqlite.synchronous": "normal", "github.api_url": self.server.url}
        settings, _ = load(None, {}, overrides | self.settings)
        tally, now = Tally(), datetime.now(UTC)
        async with open_service(settings, read_tokens(";".join(self.tokens)), tally, unhurried=False) as service:
            read_spec = service.platforms["github"].read_spec
            roots = [read_spec(spec, self.server.url, policy) for spec in specs or ("acme",)]
            pushes = [Push(request=replace(root, asked_at=now), queue="immediate") for root in roots]
            await service.backend.queue.push(pushes)
            service.supervisor.start()
            await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
            await service.supervisor.drain(5)
            found = {(one.type, one.urn): one async for one in service.backend.store.list(DocumentFilter())}
            letters = await service.backend.deadletters.list(DeadletterFilter(), limit=100)
        return Crawled(tally=tally, documents=found, deadletters=letters)

    def expected(self, login: str = "acme") -> dict[tuple[str, str], Expected]:
        """What there should be, straight from the world."""
        return expected(self.world, login, base=self.server.url, viewer=self.viewer)


@asynccontextmanager
async def stage(
    folder: Path,
    size: WorldSize = SMALL,
    *,
    tokens: Sequence[str] = (TOKEN,),
    limit: int = 5000,
    window_s: float = 3600,
    faults: Faults | None = None,
    manners: Manners | None = None,
    clock: SimClock | None = None,
    seed: int = 0,
    **settings: Any,
) -> AsyncIterator[Stage]:
    """A simulator whose tokens belong to different members of `acme`, all of whom see everything of it."""
    world = generate(size, seed=seed, clock=clock)
    members = [member.user.login for member in world.org("acme").members.values()]
    principals = [
        replace(world.principal(login, limit=limit), window_s=window_s)
        for _, login in zip(tokens, members, strict=False)
    ]
    setup = Setup(
        tokens=dict(zip(tokens, principals, strict=True)),
        manners=manners or Manners(),
        faults=faults or Faults(),
    )
    async with running(world, setup) as server:
        yield Stage(
            world=world,
            server=server,
            db=folder / "crawl.db",
            tokens=tokens,
            viewer=principals[0].viewer,
            settings={name.replace("__", "."): value for name, value in settings.items()},
        )
