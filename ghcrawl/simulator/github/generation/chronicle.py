"""One repository while its history is being written."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from hashlib import sha1
from random import Random

from ghcrawl.simulator.github.code import Commit
from ghcrawl.simulator.github.entities import Issue, Milestone, Repo
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.moments import at
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.world import World


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Chronicle:
    """What writing a history needs at hand.

    people: who is active here. staff: those of them who may merge and label.
    bot, button: the accounts that open pull requests by themselves and that commit what is merged by a button.
    until: seconds since 1970; nothing happens later.
    head: the tip of the default branch so far. authors: who has committed to it by hand.
    """

    world: World
    repo: Repo
    rng: Random
    size: WorldSize
    people: list[User]
    staff: list[User]
    bot: User
    button: User
    until: int
    head: Commit | None = None
    authors: dict[User, None] = field(default_factory=dict)

    def number_of(self, mean: float) -> int:
        """A count with that mean (geometric): most are smaller, a few are much larger."""
        return int(self.rng.expovariate(math.log(1 + 1 / mean))) if mean > 0 else 0

    def somebody(self, *, gone: float = 0.02) -> User | None:
        """A user active here; None, for a deleted account, with probability `gone`."""
        return None if self.rng.random() < gone else self.rng.choice(self.people)

    def between(self, earliest: int, latest: int) -> int:
        """A moment from `earliest` to `latest`, or `earliest` where that is the later one."""
        return self.rng.randint(earliest, max(earliest, latest))

    def write_commit(self, when: int, author: User | None, *, parents: tuple[Commit, ...], message: str = "") -> Commit:
        """A commit by `author`."""
        return make_commit(
            self.repo,
            author,
            parents=parents,
            when=at(when),
            message=message or f"{texts.title(self.rng).capitalize()}\n\n{texts.body(self.rng)}",
        )

    def some_milestone(self) -> Milestone | None:
        """A milestone to put an issue into, one time in four."""
        if not self.repo.milestones or self.rng.random() > 0.25:
            return None
        return self.rng.choice(list(self.repo.milestones.values()))

    def tag_issue(self, issue: Issue) -> None:
        """Labels, assignees and perhaps a milestone for `issue`."""
        labels = list(self.repo.labels.values())
        issue.labels = self.rng.sample(labels, k=min(len(labels), self.rng.choice((0, 0, 1, 1, 2, 3))))
        issue.assignees = self.rng.sample(self.staff, k=min(len(self.staff), self.rng.choice((0, 0, 0, 1, 2))))
        issue.milestone = self.some_milestone()


def make_commit(repo: Repo, account: User | None, *, parents: tuple[Commit, ...], when: str, message: str) -> Commit:
    """A commit in `repo` on top of `parents`, its sha derived from what it says.

    account: who made it; None where the e-mail address leads to no account.
    """
    name = (account.name or account.login) if account else "somebody else"  # every sha derives from it
    address = f"{account.login.lower()}@users.example.org" if account else "root@localhost"
    told = f"{when}\0{name} <{address}>\0{message}\0{[parent.sha for parent in parents]}"
    seed = f"{repo.id}\0{len(repo.commits)}\0{told}"
    sha = sha1(seed.encode(), usedforsecurity=False).hexdigest()
    commit = Commit(
        sha=sha,
        message=message,
        author=account,
        author_name=name,
        author_email=address,
        authored_at=when,
        committer=account,
        committer_name=name,
        committer_email=address,
        committed_at=when,
        parents=parents,
        depth=1 + max((parent.depth for parent in parents), default=0),
    )
    repo.commits[sha] = commit
    return commit
