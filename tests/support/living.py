"""A crawler and a world that changes under it: life goes on while the service runs, and then the two are compared."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.simulator.github.changes import people
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.live.live import Life
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from ghcrawl.wiring import Service, load, open_service
from tests.support.builders import a_type
from tests.support.clock import FastClock
from tests.support.crawling import Stage, stage
from tests.support.platforms import SIMULATED

ORGS = ("acme", "globex")
EMBEDDED = frozenset({"base", "head", "milestone", "repository", "organization", "parent", "source", "user", "issue"})
"""Other things inside a body; they move without the body's own `updated_at`."""
UNTOLD = frozenset({"author_association", "mergeable", "rebaseable", "mergeable_state", "pinned_comment"})
"""What changes with who asks and when, and what no list or no webhook says."""
LASTING = frozenset({"user", "commit"})
"""What stays although nothing leads to it any more."""


@dataclass(kw_only=True)
class Living:
    """A stage with life on it, and the service that follows it.

    called: the repository that first had a name. alike: repositories that took such a name → who had it first; a URL
    with that name says nothing about which of them it meant when it was written.
    """

    stage: Stage
    life: Life
    clock: FastClock
    service: Service
    tally: Tally
    deliveries: int = 0
    problems: list[str] = field(default_factory=list)
    called: dict[str, int] = field(default_factory=dict)
    alike: dict[int, int] = field(default_factory=dict)

    async def crawl(self, policy: str) -> None:
        """Everything once, to the end."""
        platform, now = self.service.platforms["github"], self.clock.now()
        roots = [platform.read_spec(spec, self.stage.server.url, policy) for spec in ORGS]
        await self.service.backend.queue.push(
            [Push(request=replace(root, asked_at=now), queue="immediate") for root in roots]
        )
        await self.settle()

    async def settle(self) -> None:
        """Until nothing waits and nothing is in hand."""
        await self.service.supervisor.until_empty(self.service.backend.queue, every_s=5)

    async def deliver(self, hooks: Iterable[Hook]) -> None:
        """As the service does with webhooks whose signature it has verified."""
        deliveries = self.service.platforms["github"].deliveries
        assert deliveries is not None
        for hook in hooks:
            self.deliveries += 1
            payload = json.loads(json.dumps(hook.payload))
            request = deliveries.request(hook.event, f"delivery-{self.deliveries}", payload, self.clock.now())
            await self.service.backend.queue.push([Push(request=request, queue="event")])

    async def poll(self, *, private: bool = True) -> None:
        """The feeds of the organisations, and of the private repositories that are in none of them."""
        feed, now = self.service.platforms["github"].feed, self.clock.now()
        wanted = [("org", f"{self.stage.server.url}/orgs/{login}") for login in ORGS]
        if private:
            async for repo in self.service.backend.store.list(DocumentFilter(types=(a_type("repo"),), deleted=False)):
                wanted += [("repo", repo.url)] if repo.body.get("private") else []
        requests = [request for type, url in wanted if feed and (request := feed.request(type, url)) is not None]
        await self.service.backend.queue.push(
            [Push(request=replace(request, asked_at=now), queue="immediate") for request in requests]
        )

    async def documents(self) -> Mapping[tuple[str, str], Document]:
        store = self.service.backend.store
        return {(one.type, one.urn): one async for one in store.list(DocumentFilter(deleted=False))}

    async def deadletters(self) -> list[str]:
        letters = await self.service.backend.deadletters.list(DeadletterFilter(), limit=100)
        return [f"{letter.request.name}: {letter.reason}" for letter in letters]

    async def assert_equal_before(self) -> None:
        """The first crawl left nothing out, so whatever differs later was missed while it happened."""
        assert await self.differences() == {}, self.problems[:20]

    def remember_names(self) -> None:
        """Whoever is called something at this moment may be told apart by it, unless somebody else was called that."""
        for repo in self.stage.world.repos.values():
            first = self.called.setdefault(repo.full_name.lower(), repo.id)
            if first != repo.id:
                self.alike[repo.id] = self.alike.get(first, first)

    async def differences(self) -> Counter[str]:
        """What the store says otherwise than the world, by kind; empty where they are equal."""
        found, true = await self.documents(), self._bodies()
        types = {type for type, _ in true}
        self.problems = [f"missing {key}" for key in true if key not in found]
        self.problems += [
            f"surplus {key}" for key in found if key[0] in types and key not in true and key[0] not in LASTING
        ]
        for key, bodies in true.items():
            if key in found:
                said, wanted = self._plain(dict(found[key].body)), [self._plain(body) for body in bodies]
                if said not in wanted:
                    self.problems.append(
                        f"differs {key} {_difference(said, min(wanted, key=lambda one: len(_different(said, one))))}"
                    )
        return Counter(" ".join(problem.split()[:2]) for problem in self.problems)

    def _bodies(self) -> dict[tuple[str, str], list[Any]]:
        bodies: dict[tuple[str, str], list[Any]] = {}
        for login in ORGS:
            bodies |= self.stage.bodies(login)
        return bodies

    def _plain(self, body: Any) -> Any:
        """A body without what nobody can keep true, and with repositories by number: names live on in old URLs."""
        kept = {name: value for name, value in body.items() if name not in EMBEDDED | UNTOLD and value is not None}
        if "sha" in kept:
            kept["commit"] = {**kept["commit"], "comment_count": 0}
        if "protected" in kept:  # a branch embeds its commit, which counts its comments
            kept["commit"] = kept["commit"]["sha"]
        if ("zipball_url" in kept and "assets" not in kept) or "object" in kept:
            kept = _tag(kept)
        base = re.escape(self.stage.server.url)
        text = re.sub(rf"{base}(/repos)?/([\w.-]+)/([\w.-]+)", self._by_number, json.dumps(kept, sort_keys=True))
        return json.loads(text)

    def _by_number(self, match: re.Match[str]) -> str:
        world = self.stage.world
        repo = world.find_repo(match[2], match[3]) or world.moved_repo(match[2], match[3])
        return f"{match[1] or ''}/{self.alike.get(repo.id, repo.id)}" if repo else match[0]


def _difference(said: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    names = _different(said, wanted)
    return {name: (str(said.get(name))[:80], str(wanted.get(name))[:80]) for name in sorted(names)}


def _tag(body: dict[str, Any]) -> dict[str, Any]:
    """A tag says another thing in a list than by itself, and the same of these two."""
    commit = body.get("commit") or body["object"]
    return {"name": body.get("name") or body["ref"].removeprefix("refs/tags/"), "sha": commit["sha"]}


def _different(said: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    return [name for name in {*said, *wanted} if said.get(name) != wanted.get(name)]


@asynccontextmanager
async def living(folder: Path, size: WorldSize, *, seed: int = 0, rate: float = 300.0) -> AsyncIterator[Living]:
    """A world of two organisations, of which the crawler's token sees everything, and a service that crawls it."""
    clock, tally = FastClock(rate), Tally()
    async with stage(folder, size, clock=clock, seed=seed, limit=1_000_000) as it:
        member = it.member
        globex = it.world.org("globex")
        if member.id not in globex.members:
            people.add_member(it.world, globex, member)
        principal = it.world.principal(member.login, limit=1_000_000)
        it.server.doorman.add(it.tokens[0], principal)
        it.viewers = [principal.viewer]
        overrides = {"sqlite.path": it.db, "sqlite.synchronous": "normal", "github.api_url": it.server.url}
        overrides |= SIMULATED
        settings, _ = load(None, {}, overrides | it.settings)
        tokens = read_tokens(";".join(it.tokens))
        async with open_service(settings, {"github": tokens}, tally, clock=clock) as service:
            service.supervisor.start()
            life = Life(
                world=it.world, site=Site(it.server.url), logins=ORGS, seed=seed, stays=frozenset({member.login})
            )
            try:
                yield Living(stage=it, life=life, clock=clock, service=service, tally=tally)
            finally:
                await service.supervisor.drain(5)
