"""A world: its tables, what is found under which name, and what was renamed.

Names are found in any case, as on GitHub. A repository's old name leads to it until another takes that name;
an owner's old login leads to nothing, but the repositories behind it are still found.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.live.feed import FeedLog
from ghcrawl.simulator.github.moments import stamp
from ghcrawl.simulator.github.people import Org, Owner, Team, User
from ghcrawl.simulator.github.principals import Principal, Viewer

A = TypeVar("A", Org, User)
FIRST_IDS = {
    "account": 1_001,
    "repo": 240_001,
    "team": 3_101,
    "label": 710_000_001,
    "milestone": 4_400_001,
    "issue": 2_150_000_001,
    "pull": 1_310_000_001,
    "issue_comment": 3_020_000_001,
    "review": 1_540_000_001,
    "review_comment": 1_220_000_001,
    "commit_comment": 98_000_001,
    "release": 130_000_001,
    "asset": 145_000_001,
    "issue_event": 15_000_000_001,
    "reaction": 260_000_001,
    "status": 33_000_000_001,
    "check_suite": 21_000_000_001,
    "check_run": 23_000_000_001,
    "deployment": 1_700_000_001,
    "deployment_status": 3_300_000_001,
    "workflow": 71_000_001,
    "workflow_run": 9_100_000_001,
    "discussion": 6_600_001,
    "project": 8_800_001,
    "project_item": 77_000_001,
}
"""Every kind counts for itself, from where GitHub's own numbers are apart, so that a mix-up finds nothing."""


class Ids:
    """The next id of every kind."""

    def __init__(self) -> None:
        self._counters = {kind: count(first) for kind, first in FIRST_IDS.items()}

    def take(self, kind: str) -> int:
        """A new id of `kind`."""
        return next(self._counters[kind])


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class World:
    """Everything there is. `revision` rises with every change: bodies made under an older one are out of date.

    happenings: what event feeds show; empty in a world that does not live.
    """

    clock: Clock = field(default_factory=SystemClock)
    ids: Ids = field(default_factory=Ids)
    accounts: dict[int, Owner] = field(default_factory=dict)
    repos: dict[int, Repo] = field(default_factory=dict)
    revision: int = 0
    happenings: FeedLog = field(default_factory=FeedLog)
    _logins: dict[str, Owner] = field(default_factory=dict)
    _names: dict[tuple[str, str], Repo] = field(default_factory=dict)
    _former: dict[tuple[str, str], int] = field(default_factory=dict)
    _owned: dict[int, list[Repo]] = field(default_factory=lambda: defaultdict(list))
    _forks: dict[int, list[Repo]] = field(default_factory=lambda: defaultdict(list))

    def now(self) -> str:
        """The present, as bodies write it."""
        return stamp(self.clock.now())

    # What is found under which name -------------------------------------------------------------------------

    def account(self, login: str) -> Owner | None:
        """The user, bot or organisation of that login."""
        return self._logins.get(login.lower())

    def org(self, login: str) -> Org:
        """The organisation of that login. Raises KeyError."""
        return self._of_kind(Org, login)

    def user(self, login: str) -> User:
        """The user or bot of that login. Raises KeyError."""
        return self._of_kind(User, login)

    def _of_kind(self, kind: type[A], login: str) -> A:
        found = self._logins[login.lower()]
        if not isinstance(found, kind):
            raise KeyError(login)
        return found

    def repo(self, full_name: str) -> Repo:
        """The repository that is called `owner/name` today. Raises KeyError."""
        owner, _, name = full_name.lower().partition("/")
        return self._names[owner, name]

    def find_repo(self, owner: str, name: str) -> Repo | None:
        """The same, or None."""
        return self._names.get((owner.lower(), name.lower()))

    def moved_repo(self, owner: str, name: str) -> Repo | None:
        """The repository that was once called that."""
        former = self._former.get((owner.lower(), name.lower()))
        return self.repos.get(former) if former is not None else None

    def repos_of(self, owner: Owner) -> list[Repo]:
        """What `owner` owns, in order of id."""
        return self._owned[owner.id]

    def forks_of(self, repo: Repo) -> list[Repo]:
        """The direct forks of `repo`."""
        return self._forks[repo.id]

    def orgs(self) -> list[Org]:
        """All organisations, in order of id."""
        return [account for account in self.accounts.values() if isinstance(account, Org)]

    def orgs_of(self, user: User) -> list[Org]:
        """The organisations that `user` is a member of."""
        return [org for org in self.orgs() if user.id in org.members]

    def teams_with(self, repo: Repo) -> list[Team]:
        """The teams that may do anything with `repo`, by slug."""
        if not isinstance(repo.owner, Org):
            return []
        teams = (team for team in repo.owner.teams.values() if repo.id in team.repos)
        return sorted(teams, key=lambda team: team.slug)

    def principal(self, login: str, *, limit: int = 5000) -> Principal:
        """The budget of the user `login`, an insider of their own and of every organisation they belong to now."""
        user = self.user(login)
        owners = frozenset({user.id, *(org.id for org in self.orgs_of(user))})
        return Principal(name=login, viewer=Viewer(user=user.id, kind="user", insider_of=owners), limit=limit)

    # Bookkeeping --------------------------------------------------------------------------------------------

    def add_account(self, account: Owner) -> None:
        """`account` exists from now on."""
        self.accounts[account.id] = account
        self._logins[account.login.lower()] = account

    def add_repo(self, repo: Repo) -> None:
        """`repo` exists from now on; what had its name before no longer answers to it."""
        self.repos[repo.id] = repo
        self._name(repo)
        self._owned[repo.owner.id].append(repo)
        if repo.parent is not None:
            self._forks[repo.parent.id].append(repo)

    def drop_repo(self, repo: Repo) -> None:
        """`repo` is gone, and its names with it. Forks of it have lost their parent."""
        del self.repos[repo.id]
        del self._names[_key(repo)]
        self._owned[repo.owner.id].remove(repo)
        if repo.parent is not None:
            self._forks[repo.parent.id].remove(repo)
        for fork in self._forks.pop(repo.id, []):
            fork.parent = None

    def call_repo(self, repo: Repo, *, owner: Owner, name: str) -> None:
        """`repo` has this owner and name from now on, and its old full name leads to it."""
        former = _key(repo)
        self._owned[repo.owner.id].remove(repo)
        repo.owner, repo.name = owner, name
        self._name(repo, former)
        self._owned[owner.id].append(repo)
        self._owned[owner.id].sort(key=lambda each: each.id)

    def call_account(self, account: Owner, login: str) -> None:
        """`account` has this login from now on; its repositories are still found under the old one."""
        del self._logins[account.login.lower()]
        formers = [(repo, _key(repo)) for repo in self.repos_of(account)]
        account.login = login
        self._logins[login.lower()] = account
        for repo, former in formers:
            self._name(repo, former)

    def _name(self, repo: Repo, former: tuple[str, str] | None = None) -> None:
        """`repo` is found under its name, and its former one leads to it."""
        if former is not None:
            del self._names[former]
            self._former[former] = repo.id
        self._former.pop(_key(repo), None)
        self._names[_key(repo)] = repo

    def changed(self) -> None:
        """Everything derived from this world before is out of date."""
        self.revision += 1


def _key(repo: Repo) -> tuple[str, str]:
    """What `repo` is found under."""
    return repo.owner.login.lower(), repo.name.lower()
