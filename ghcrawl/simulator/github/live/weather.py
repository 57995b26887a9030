"""Everyday life and what breaks it: deletions, renames, transfers, people who come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from ghcrawl.simulator.github.changes import issues, people, pulls, repos
from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.changes.weather import drawn, random_change, written_to
from ghcrawl.simulator.github.entities import Issue, Repo
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
        return written_to(self.world, self.org)

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


Event: TypeAlias = Callable[[Moment], Change | None]
"""Makes a change; None: it cannot happen now."""


def _in_repo(happen: Callable[[Moment, Repo], Change | None]) -> Event:
    """An event in some repository that is written to."""
    return lambda moment: happen(moment, moment.rng.choice(moment.alive))


def _to_some(things: Callable[[Repo], Iterable[T]], change: Callable[[World, Repo, T], Change]) -> Event:
    """An event: `change` of one of `things` in some repository that is written to."""

    def happen(moment: Moment, repo: Repo) -> Change | None:
        thing = moment.some([*things(repo)])
        return change(moment.world, repo, thing) if thing else None

    return _in_repo(happen)


def _plain(repo: Repo) -> list[Issue]:
    """The issues that are no pull requests."""
    return [issue for issue in repo.issues.values() if issue.pull is None]


def _transfer_issue(moment: Moment, repo: Repo) -> Change | None:
    into, issue = moment.rng.choice(moment.alive), moment.some(_plain(repo))
    if issue is None or into is repo or repo.private or into.private or not into.has_issues:
        return None
    return issues.transfer_issue(moment.world, repo, issue, into)


def _label(moment: Moment, repo: Repo) -> Change:
    return issues.add_label(moment.world, repo, f"label {len(repo.labels)}-{moment.rng.randint(0, 10**6)}")


def _label_issue(moment: Moment, repo: Repo) -> Change | None:
    issue, label = moment.some(list(repo.issues.values())), moment.some(list(repo.labels.values()))
    if issue is None or label is None or issue.pull is not None:
        return None
    return issues.label_issue(moment.world, repo, issue, [label])


def _milestone(moment: Moment, repo: Repo) -> Change:
    return issues.add_milestone(moment.world, repo, by=moment.by, title=f"v{len(repo.milestones) + 1}")


def _branch(moment: Moment, repo: Repo) -> Change:
    return pulls.create_branch(moment.world, repo, f"topic/{moment.rng.randint(0, 10**9)}")


def _unused_branches(repo: Repo) -> list[str]:
    used = {issue.request.head_ref for issue in repo.pulls if issue.closed_at is None}
    return [name for name in repo.branches if name != repo.default_branch and name not in used]


def _delete_remark(moment: Moment, repo: Repo) -> Change | None:
    comment = moment.some([each for each in repo.review_comments.values() if each.reply_to is None])
    if comment is None or any(each.reply_to is comment for each in repo.review_comments.values()):
        return None
    return pulls.delete_review_comment(moment.world, repo, comment)


def _rename(moment: Moment, repo: Repo) -> Change:
    return repos.rename_repo(moment.world, repo, f"{repo.name.partition('-was')[0]}-was{moment.rng.randint(0, 10**9)}")


def _transfer(moment: Moment) -> Change | None:
    repo, other = moment.spare(), moment.some(list(moment.others))
    if repo is None or other is None or moment.world.find_repo(other.login, repo.name) is not None:
        return None
    return repos.transfer_repo(moment.world, repo, other)


def _privacy(moment: Moment, repo: Repo) -> Change:
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


EVENTS: Final[Sequence[tuple[int, Event]]] = (
    (700, lambda moment: random_change(moment.world, moment.org, moment.rng)),
    (40, _to_some(lambda repo: repo.issue_comments.values(), issues.delete_comment)),
    (20, _in_repo(_label_issue)),
    (20, _in_repo(_branch)),
    (20, _to_some(_unused_branches, pulls.delete_branch)),
    (15, _to_some(lambda repo: repo.review_comments.values(), partial(pulls.edit_review_comment, body="Hm?"))),
    (15, _in_repo(_delete_remark)),
    (15, _to_some(_plain, issues.delete_issue)),
    (10, _in_repo(_transfer_issue)),
    (10, _in_repo(_label)),
    (10, _in_repo(_milestone)),
    (10, _join),
    (8, _into_team),
    (8, _leave),
    (6, _to_some(lambda repo: repo.releases.values(), repos.delete_release)),
    (4, _in_repo(_rename)),
    (4, _in_repo(_privacy)),
    (3, _team),
    (3, _delete_team),
    (3, _create_repo),
    (2, _transfer),
    (2, _delete_repo),
)
"""In thousandths, about."""


def live_change(moment: Moment) -> Change:
    """Something that happens in the organisation of `moment`."""
    return drawn(moment.rng, EVENTS, moment)
