"""Everyday life and what breaks it: deletions, renames, transfers, people who come and go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeVar

from msgspec import Struct

from ghcrawl.simulator.github.changes import issues, people, pulls, repos
from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.changes.weather import random_change
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Org, User
from ghcrawl.simulator.github.world import World

T = TypeVar("T")
FEWEST_REPOS: Final = 3
"""An organisation keeps that many that are written to."""


class Moment(Struct, frozen=True, kw_only=True):
    """A user about to do something in `org`. stays: user ids of those who are never removed; others: where to."""

    world: World
    org: Org
    others: Sequence[Org]
    stays: frozenset[int]
    rng: Random

    @property
    def alive(self) -> list[Repo]:
        """The repositories that are written to."""
        return [
            repo
            for repo in self.world.repos_of(self.org)
            if repo.has_issues and repo.head and not repo.archived and repo.standing == "fine"
        ]

    @property
    def by(self) -> User:
        """One of its members."""
        return self.rng.choice([member.user for member in self.org.members.values()])

    def some(self, things: Sequence[T]) -> T | None:
        """One of them, if there is any."""
        return self.rng.choice(things) if things else None

    def spare(self) -> Repo | None:
        """A repository that the organisation can do without."""
        alive = self.alive
        return self.rng.choice(alive) if len(alive) > FEWEST_REPOS else None


def _everyday(moment: Moment) -> Change:
    return random_change(moment.world, moment.org, moment.rng)


def _delete_comment(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    comment = moment.some(list(repo.issue_comments.values()))
    return issues.delete_comment(moment.world, repo, comment) if comment else None


def _delete_issue(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    issue = moment.some([each for each in repo.issues.values() if each.pull is None])
    return issues.delete_issue(moment.world, repo, issue) if issue else None


def _transfer_issue(moment: Moment) -> Change | None:
    repo, into = moment.rng.choice(moment.alive), moment.rng.choice(moment.alive)
    issue = moment.some([each for each in repo.issues.values() if each.pull is None])
    if issue is None or into is repo or repo.private or into.private or not into.has_issues:
        return None
    return issues.transfer_issue(moment.world, repo, issue, into)


def _label(moment: Moment) -> Change:
    repo = moment.rng.choice(moment.alive)
    return issues.add_label(moment.world, repo, f"label {len(repo.labels)}-{moment.rng.randint(0, 10**6)}")


def _label_issue(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    issue, label = moment.some(list(repo.issues.values())), moment.some(list(repo.labels.values()))
    if issue is None or label is None or issue.pull is not None:
        return None
    return issues.label_issue(moment.world, repo, issue, [label])


def _milestone(moment: Moment) -> Change:
    repo = moment.rng.choice(moment.alive)
    return issues.add_milestone(moment.world, repo, by=moment.by, title=f"v{len(repo.milestones) + 1}")


def _branch(moment: Moment) -> Change:
    repo = moment.rng.choice(moment.alive)
    return pulls.create_branch(moment.world, repo, f"topic/{moment.rng.randint(0, 10**9)}")


def _delete_branch(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    used = {issue.pull.head_ref for issue in repo.pulls if issue.pull and issue.closed_at is None}
    name = moment.some([name for name in repo.branches if name != repo.default_branch and name not in used])
    return pulls.delete_branch(moment.world, repo, name) if name else None


def _edit_remark(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    comment = moment.some(list(repo.review_comments.values()))
    return pulls.edit_review_comment(moment.world, repo, comment, body="Hm?") if comment else None


def _delete_remark(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    comment = moment.some([each for each in repo.review_comments.values() if each.reply_to is None])
    if comment is None or any(each.reply_to is comment for each in repo.review_comments.values()):
        return None
    return pulls.delete_review_comment(moment.world, repo, comment)


def _delete_release(moment: Moment) -> Change | None:
    repo = moment.rng.choice(moment.alive)
    release = moment.some(list(repo.releases.values()))
    return repos.delete_release(moment.world, repo, release) if release else None


def _rename(moment: Moment) -> Change:
    repo = moment.rng.choice(moment.alive)
    return repos.rename_repo(moment.world, repo, f"{repo.name.partition('-was')[0]}-was{moment.rng.randint(0, 10**9)}")


def _transfer(moment: Moment) -> Change | None:
    repo, other = moment.spare(), moment.some(list(moment.others))
    if repo is None or other is None or moment.world.find_repo(other.login, repo.name) is not None:
        return None
    return repos.transfer_repo(moment.world, repo, other)


def _privacy(moment: Moment) -> Change:
    repo = moment.rng.choice(moment.alive)
    return repos.set_private(moment.world, repo, private=not repo.private)


def _create_repo(moment: Moment) -> Change:
    return repos.create_repo(moment.world, moment.org, f"new-{moment.rng.randint(0, 10**9)}")


def _delete_repo(moment: Moment) -> Change | None:
    repo = moment.spare()
    return repos.delete_repo(moment.world, repo) if repo else None


def _join(moment: Moment) -> Change | None:
    users = [each for each in moment.world.accounts.values() if isinstance(each, User) and each.type == "User"]
    user = moment.some([each for each in users if each.id not in moment.org.members])
    return people.add_member(moment.world, moment.org, user) if user else None


def _leave(moment: Moment) -> Change | None:
    user = moment.some([each.user for each in moment.org.members.values() if each.user.id not in moment.stays])
    return people.remove_member(moment.world, moment.org, user) if user and len(moment.org.members) > 3 else None


def _team(moment: Moment) -> Change:
    return people.add_team(moment.world, moment.org, f"team {moment.rng.randint(0, 10**9)}")


def _into_team(moment: Moment) -> Change | None:
    team = moment.some(list(moment.org.teams.values()))
    if team is None:
        return None
    user = moment.some([each.user for each in moment.org.members.values() if each.user.id not in team.members])
    return people.add_to_team(moment.world, team, user) if user else None


def _delete_team(moment: Moment) -> Change | None:
    parents = {team.parent for team in moment.org.teams.values()}
    team = moment.some([each for each in moment.org.teams.values() if each not in parents])
    return people.delete_team(moment.world, team) if team else None


EVENTS: Final[tuple[tuple[int, Callable[[Moment], Change | None]], ...]] = (
    (700, _everyday),
    (40, _delete_comment),
    (20, _label_issue),
    (20, _branch),
    (20, _delete_branch),
    (15, _edit_remark),
    (15, _delete_remark),
    (15, _delete_issue),
    (10, _transfer_issue),
    (10, _label),
    (10, _milestone),
    (10, _join),
    (8, _into_team),
    (8, _leave),
    (6, _delete_release),
    (4, _rename),
    (4, _privacy),
    (3, _team),
    (3, _delete_team),
    (3, _create_repo),
    (2, _transfer),
    (2, _delete_repo),
)
"""In thousandths, about."""


def live_change(moment: Moment) -> Change:
    """Something that happens in the organisation of `moment`."""
    weights = [weight for weight, _ in EVENTS]
    while True:
        (_, event), *_ = moment.rng.choices(EVENTS, weights=weights)
        change = event(moment)
        if change is not None:
            return change
