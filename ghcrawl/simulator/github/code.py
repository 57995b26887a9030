"""What git and releases hold: commits, branches, tags, and files of releases."""

from __future__ import annotations

from dataclasses import dataclass, field

from ghcrawl.simulator.github.moments import Dated
from ghcrawl.simulator.github.people import User


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Commit:
    """A commit: fixed by its sha, and shared by a repository and its forks.

    author, committer: the accounts that the e-mail addresses belong to, where they belong to one.
    depth: longer than any parent's, so that commits of one second still have an order.
    """

    sha: str
    message: str
    author: User | None
    author_name: str
    author_email: str
    authored_at: str
    committer: User | None
    committer_name: str
    committer_email: str
    committed_at: str
    parents: tuple[Commit, ...] = ()
    depth: int = 0


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Asset(Dated):
    """A file of a release."""

    id: int
    name: str
    content_type: str
    size: int
    download_count: int


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Release:
    """A release; a draft (`published_at` None) is shown to those who may push."""

    id: int
    tag_name: str
    target: str
    name: str | None
    body: str
    author: User
    created_at: str
    published_at: str | None
    prerelease: bool = False
    assets: list[Asset] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Ref:
    """A branch or a tag: a name for a commit."""

    name: str
    commit: Commit
    protected: bool = False


def reachable(head: Commit) -> tuple[Commit, ...]:
    """`head` and its ancestors, newest first."""
    seen = {head.sha: head}
    todo = [head]
    while todo:
        for parent in todo.pop().parents:
            if parent.sha not in seen:
                seen[parent.sha] = parent
                todo.append(parent)
    return tuple(sorted(seen.values(), key=lambda commit: (commit.committed_at, commit.depth), reverse=True))
