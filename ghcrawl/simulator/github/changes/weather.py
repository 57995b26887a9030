"""Everyday life: changes at random, in about the proportions in which they happen."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec import Struct

from ghcrawl.simulator.github.changes import issues, pulls, repos
from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.entities import Issue, Repo
from ghcrawl.simulator.github.people import Org, User
from ghcrawl.simulator.github.world import World


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


def _open(day: _Day) -> Change:
    return issues.open_issue(day.world, day.repo, by=day.by, title=f"Trouble {day.repo.next_number}")


def _comment(day: _Day) -> Change | None:
    issue = day.some_issue()
    return issues.comment(day.world, day.repo, issue, by=day.by) if issue else None


def _edit(day: _Day) -> Change | None:
    issue = day.some_issue()
    return issues.edit_issue(day.world, day.repo, issue, title=f"{issue.title}!") if issue else None


def _close(day: _Day) -> Change | None:
    issue = day.some_issue(is_open=True)
    return issues.close(day.world, day.repo, issue, by=day.by) if issue else None


def _reopen(day: _Day) -> Change | None:
    issue = day.some_issue(is_open=False, pull=False)
    return issues.reopen(day.world, day.repo, issue, by=day.by) if issue else None


def _edit_comment(day: _Day) -> Change | None:
    comments = list(day.repo.issue_comments.values())
    if not comments:
        return None
    return issues.edit_comment(day.world, day.repo, day.rng.choice(comments), body="On second thought: no.")


def _push(day: _Day) -> Change:
    return pulls.push(day.world, day.repo, by=day.by, count=day.rng.randint(1, 3))


def _open_pull(day: _Day) -> Change:
    return pulls.open_pull(day.world, day.repo, by=day.by)


def _review(day: _Day) -> Change | None:
    issue = day.some_issue(is_open=True, pull=True)
    return pulls.review(day.world, day.repo, issue, by=day.by, remarks=("Hm.",)) if issue else None


def _merge(day: _Day) -> Change | None:
    issue = day.some_issue(is_open=True, pull=True)
    return pulls.merge(day.world, day.repo, issue, by=day.by) if issue else None


def _comment_commit(day: _Day) -> Change:
    history = day.repo.history(day.repo.head)
    return pulls.comment_commit(day.world, day.repo, day.rng.choice(history), by=day.by)


def _release(day: _Day) -> Change:
    return repos.publish_release(day.world, day.repo, by=day.by, tag=f"build/{len(day.repo.tags)}")


def _star(day: _Day) -> Change:
    return repos.star(day.world, day.repo, by=day.by)


EVENTS: Final[tuple[tuple[int, Callable[[_Day], Change | None]], ...]] = (
    (20, _comment),
    (12, _push),
    (10, _open),
    (6, _open_pull),
    (6, _close),
    (5, _review),
    (4, _edit),
    (4, _merge),
    (3, _edit_comment),
    (3, _star),
    (2, _reopen),
    (1, _comment_commit),
    (1, _release),
)


def random_change(world: World, org: Org, rng: Random) -> Change:
    """Something that happens every day, in a repository of `org` that is written to, done by one of its members."""
    alive = [
        repo
        for repo in world.repos_of(org)
        if repo.has_issues and repo.head and not repo.archived and repo.standing == "fine"
    ]
    by = rng.choice([member.user for member in org.members.values()])
    day = _Day(world=world, repo=rng.choice(alive), by=by, rng=rng)
    weights = [weight for weight, _ in EVENTS]
    while True:
        (_, event), *_ = rng.choices(EVENTS, weights=weights)
        change = event(day)
        if change is not None:
            return change
