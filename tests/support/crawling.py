"""Whole crawls of the simulator in this process, and what they came to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.simulator.faults import Faults
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.expectation import Expected
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import SMALL, WorldSize
from ghcrawl.simulator.github.oracle import MORE_TYPES, TYPES, expected
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.shapes.site import Body
from ghcrawl.simulator.github.world import World
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.wiring import load, open_service
from tests.support.platforms import SIMULATED

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
        return {
            key
            for key, document in self.documents.items()
            if key[0] in (*TYPES, *MORE_TYPES) and not document.deleted_at
        }


@dataclass(kw_only=True)
class Stage:
    """A simulated GitHub, somebody to crawl it as, and a file to crawl it into."""

    world: World
    server: Server
    db: Path
    tokens: Sequence[str]
    viewers: Sequence[Viewer]
    settings: dict[str, Any] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)

    async def crawl(self, *specs: str, policy: str = "default") -> Crawled:
        """One crawl to its end, as the command line would do it."""
        overrides = {"sqlite.path": self.db, "sqlite.synchronous": "normal", "github.api_url": self.server.url}
        overrides |= SIMULATED
        settings, _ = load(None, {}, overrides | self.settings)
        tally, now = Tally(), self.clock.now()
        tokens = read_tokens(";".join(self.tokens))
        async with open_service(settings, {"github": tokens}, tally, clock=self.clock) as service:
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

    @property
    def member(self) -> User:
        """Somebody who works in `acme`."""
        return next(iter(self.world.org("acme").members.values())).user

    @property
    def repo(self) -> Repo:
        """A repository of `acme`."""
        return self.world.repos_of(self.world.org("acme"))[0]

    def expected(self, login: str = "acme", *, everything: bool = False) -> dict[tuple[str, str], Expected]:
        """What there should be, straight from the world."""
        return expected(self.world, login, base=self.server.url, viewer=self.viewers[0], everything=everything)

    def bodies(self, login: str = "acme", *, everything: bool = False) -> dict[tuple[str, str], list[Body]]:
        """Every body that would be true of each thing, to one of the tokens or another."""
        found: dict[tuple[str, str], list[Body]] = {}
        for viewer in self.viewers:
            things = expected(self.world, login, base=self.server.url, viewer=viewer, everything=everything)
            for key, thing in things.items():
                found.setdefault(key, []).extend(thing.bodies())
        return found


@asynccontextmanager
async def stage(
    folder: Path,
    size: WorldSize = SMALL,
    *,
    tokens: Sequence[str] = (TOKEN,),
    limit: int = 5000,
    window_s: float = 3600,
    points: int = 5000,
    faults: Faults | None = None,
    manners: Manners | None = None,
    clock: Clock | None = None,
    seed: int = 0,
    **settings: Any,
) -> AsyncIterator[Stage]:
    """A simulator whose tokens belong to different members of `acme`, all of whom see everything of it."""
    world = generate(size, seed=seed, clock=clock)
    members = [member.user.login for member in world.org("acme").members.values()]
    principals = [
        replace(world.principal(login, limit=limit), window_s=window_s, points=points)
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
            viewers=[principal.viewer for principal in principals],
            clock=clock or SystemClock(),
            settings={name.replace("__", "."): value for name, value in settings.items()},
        )
