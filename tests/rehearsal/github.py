"""The simulator as GitHub: a world in which people go on working, and which tells of it by webhooks."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from uuid import uuid4

from ghcrawl.simulator.faults import Faults, Slow
from ghcrawl.simulator.github.changes import Change, comment, open_issue
from ghcrawl.simulator.github.entities import Issue, IssueComment, Repo
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.oracle import expected
from ghcrawl.simulator.github.people import Org
from ghcrawl.simulator.github.principals import Principal
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.shapes import accounts, issues, repos
from ghcrawl.simulator.github.shapes.site import Body
from ghcrawl.simulator.github.world import World

ORG: Final = "acme"
SIZE: Final = WorldSize(
    orgs=1, repos=3, owners=0, users=12, teams=2, issues=12, comments=1.5, commits=15, stars=6, quirks=False
)
ANSWER_S: Final = 0.5
"""How long each answer takes: slow enough for a crawl to be under way whenever something happens to it."""

Send = Callable[[Mapping[str, str], bytes], Awaitable[int]]


@dataclass(kw_only=True)
class Delivery:
    """One webhook: as often as it is sent, it is the same."""

    event: str
    body: bytes
    id: str = field(default_factory=lambda: str(uuid4()))


class GitHub:
    """The world's people, and what they do."""

    def __init__(self, server: Server, principal: Principal) -> None:
        self.server = server
        self.world: World = server.world
        self.secret = ""
        self.accepted = 0
        self.undelivered: list[Delivery] = []
        self._principal = principal
        self._rng = Random(7)

    def know(self, token: str) -> None:
        """`token` opens it, to the same budget and sight as every other."""
        self.server.doorman.add(token, self._principal)

    def revoke(self, token: str) -> None:
        """`token` opens it no more."""
        self.server.doorman.revoke(token)

    @property
    def answered(self) -> int:
        """Calls that were not refused."""
        return sum(number for status, number in self.server.journal.statuses.items() if status < 400)

    async def something_happens(self, send: Send) -> None:
        """Somebody opens or comments on an issue, and a webhook tells of it. What is refused is remembered."""
        repo = self._rng.choice(self.world.repos_of(self._org))
        by = self._rng.choice(list(self._org.members.values())).user
        if self._rng.random() < 0.3:
            change = open_issue(self.world, repo, by=by, title=f"Rehearsed {repo.next_number}")
        else:
            change = comment(self.world, repo, self._rng.choice(list(repo.issues.values())), by=by)
        await self._deliver(Delivery(event=change.event, body=json.dumps(self._told(change, repo)).encode()), send)

    async def deliver_again(self, send: Send) -> int:
        """What was refused is sent once more, as one can have GitHub do within three days. Returns how many were."""
        again, self.undelivered = self.undelivered, []
        for delivery in again:
            await self._deliver(delivery, send)
        return len(again)

    def expected(self) -> Mapping[tuple[str, str], list[Body]]:
        """(type, URN) of all there is now, with every body that would be true."""
        found = expected(self.world, ORG, base=self.server.url, viewer=self._principal.viewer)
        return {key: thing.bodies() for key, thing in found.items()}

    @property
    def _org(self) -> Org:
        return self.world.org(ORG)

    async def _deliver(self, delivery: Delivery, send: Send) -> None:
        signature = hmac.new(self.secret.encode(), delivery.body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Delivery": delivery.id,
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        if await send(headers, delivery.body) == 202:
            self.accepted += 1
        else:
            self.undelivered.append(delivery)

    def _told(self, change: Change, repo: Repo) -> dict[str, Any]:
        site, by = self.server.site, change.actor
        told: dict[str, Any] = {
            "action": change.action,
            "repository": repos.listed_repo(site, self.world, repo, self._principal.viewer),
            "organization": accounts.simple_org(site, self._org),
            "sender": accounts.maybe_user(site, by),
        }
        if isinstance(change.subject, IssueComment):
            told["comment"] = issues.issue_comment(site, repo, change.subject)
            told["issue"] = issues.listed_issue(site, repo, change.subject.issue)
        elif isinstance(change.subject, Issue):
            told["issue"] = issues.listed_issue(site, repo, change.subject)
        return told


@asynccontextmanager
async def github(host: str) -> AsyncIterator[GitHub]:
    """A GitHub that listens on `host`, which nobody has a token for yet."""
    world = generate(SIZE)
    member = next(iter(world.org(ORG).members.values())).user.login
    setup = Setup(faults=Faults([(1.0, Slow(ANSWER_S))], streak=1_000_000))
    async with running(world, setup, host=host) as server:
        yield GitHub(server, world.principal(member, limit=1_000_000))
