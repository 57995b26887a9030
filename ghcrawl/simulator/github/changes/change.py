"""What a change leaves behind: who did what to what, in the words of webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from ghcrawl.simulator.github.code import Commit, Ref, Release
from ghcrawl.simulator.github.entities import (
    CommitComment,
    Issue,
    IssueComment,
    Label,
    Milestone,
    Repo,
    Review,
    ReviewComment,
)
from ghcrawl.simulator.github.people import Member, Owner, Team, User
from ghcrawl.simulator.github.records import IssueEvent
from ghcrawl.simulator.github.world import World

Subject: TypeAlias = (
    Commit | CommitComment | Issue | IssueComment | Label | Member | Milestone | Ref | Release | Repo | Review
) | (ReviewComment | Team | User)


class Change(Struct, frozen=True, kw_only=True):
    """One thing that happened. Webhooks and event feeds are made of it.

    event, action: GitHub's names of the webhook, `issues` and `opened`; action is empty where an event has none.
    subject: what it happened to; still whole where it is gone.
    before: what was there before, by field, where a webhook tells it.
    """

    event: str
    action: str
    at: str
    owner: Owner
    subject: Subject
    repo: Repo | None = None
    actor: User | None = None
    before: Mapping[str, Any] = {}


def happened(
    world: World,
    what: str,
    subject: Subject,
    *,
    repo: Repo,
    actor: User | None = None,
    before: Mapping[str, Any] | None = None,
) -> Change:
    """`what` (`issues.opened`) has happened in `repo`: counters are true again, and older bodies are out of date."""
    repo.recount()
    return done(world, what, subject, owner=repo.owner, repo=repo, actor=actor, before=before or {})


def done(world: World, what: str, subject: Subject, *, owner: Owner, **more: Any) -> Change:
    """`what` (`team.created`) has happened to something of `owner`. more: other fields of `Change`."""
    world.changed()
    event, _, action = what.partition(".")
    return Change(event=event, action=action, at=world.now(), owner=owner, subject=subject, **more)


def note(world: World, repo: Repo, issue: Issue, event: str, actor: User | None, **what: Any) -> None:
    """Among the events of `issue` is this one from now on. what: the fields of `IssueEvent` that tell more."""
    made = IssueEvent(
        id=world.ids.take("issue_event"), issue=issue, actor=actor, event=event, created_at=world.now(), **what
    )
    repo.records.issue_events[made.id] = made
