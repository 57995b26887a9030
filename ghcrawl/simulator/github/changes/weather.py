"""Everyday life: changes at random, in about the proportions in which they happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from ghcrawl.simulator.github.changes import issues, pulls, repos
from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.entities import Issue, Repo
from ghcrawl.simulator.github.people import Org, User
from ghcrawl.simulator.github.world import World

T = TypeVar("T")


class _Day(Struct, frozen=True, kw_only=True):
    """A user about to do something somewhere."""

    world: World
    repo: Repo
    by: User
    rng: Random

    def some_issue(self, *, is_open: bool | None = None, pull: bool | None = None) -> Issue | None:
        wanted = [
            issue
            for issue in self.repo.issues.values()
            if is_open in (None, issue.closed_at is None) and pull in (None, issue.pull is not None)
        ]
        return self.rng.choice(wanted) if wanted else None


Event: TypeAlias = Callable[[_Day], Change | None]
"""Makes a change; None: it cannot happen there now."""


def _on_issue(
    change: Callable[..., Change], *, is_open: bool | None = None, pull: bool | None = None, **told: Any
) -> Event:
    """`change` of some issue or pull request in that state. told: further arguments of the change."""

    def event(day: _Day) -> Change | None:
        issue = day.some_issue(is_open=is_open, pull=pull)
        return change(day.world, day.repo, issue, by=day.by, **told) if issue else None

    return event


def _open(day: _Day) -> Change:
    return issues.open_issue(day.world, day.repo, by=day.by, title=f"Trouble {day.repo.next_number}")


def _edit(day: _Day) -> Change | None:
    issue = day.some_issue()
    return issues.edit_issue(day.world, day.repo, issue, title=f"{issue.title}!") if issue else None


def _edit_comment(day: _Day) -> Change | None:
    comments = list(day.repo.issue_comments.values())
    if not comments:
        return None
    return issues.edit_comment(day.world, day.repo, day.rng.choice(comments), body="On second thought: no.")


def _push(day: _Day) -> Change:
    return pulls.push(day.world, day.repo, by=day.by, count=day.rng.randint(1, 3))


def _comment_commit(day: _Day) -> Change:
    history = day.repo.history(day.repo.head)
    return pulls.comment_commit(day.world, day.repo, day.rng.choice(history), by=day.by)


def _release(day: _Day) -> Change:
    return repos.publish_release(day.world, day.repo, by=day.by, tag=f"build/{len(day.repo.tags)}")


EVENTS: Final[Sequence[tuple[int, Event]]] = (
    (20, _on_issue(issues.comment)),
    (12, _push),
    (10, _open),
    (6, lambda day: pulls.open_pull(day.world, day.repo, by=day.by)),
    (6, _on_issue(issues.close, is_open=True)),
    (5, _on_issue(pulls.review, is_open=True, pull=True, remarks=("Hm.",))),
    (4, _edit),
    (4, _on_issue(pulls.merge, is_open=True, pull=True)),
    (3, _edit_comment),
    (3, lambda day: repos.star(day.world, day.repo, by=day.by)),
    (2, _on_issue(issues.reopen, is_open=False, pull=False)),
    (1, _comment_commit),
    (1, _release),
)


def written_to(world: World, org: Org) -> list[Repo]:
    """The repositories of `org` in which something happens."""
    return [
        repo
        for repo in world.repos_of(org)
        if repo.has_issues and repo.head and not repo.archived and repo.standing == "fine"
    ]


def drawn(rng: Random, events: Sequence[tuple[int, Callable[[T], Change | None]]], place: T) -> Change:
    """The change by one of `events` at `place`. Events are drawn by weight until one can happen there."""
    weights = [weight for weight, _ in events]
    while True:
        (_, event), *_ = rng.choices(events, weights=weights)
        change = event(place)
        if change is not None:
            return change


def random_change(world: World, org: Org, rng: Random) -> Change:
    """Something that happens every day, in a repository of `org` that is written to, done by one of its members."""
    by = rng.choice([member.user for member in org.members.values()])
    return drawn(rng, EVENTS, _Day(world=world, repo=rng.choice(written_to(world, org)), by=by, rng=rng))
