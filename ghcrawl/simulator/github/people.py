"""Users, organisations and teams. As all entities, they change in place and compare by identity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ghcrawl.simulator.github.moments import Dated

if TYPE_CHECKING:
    from ghcrawl.simulator.github.records import Project


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Account(Dated):
    """What users and organisations have. They share one number space, as on GitHub."""

    id: int
    login: str
    name: str | None
    location: str | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class User(Account):
    """A person or a bot."""

    type: Literal["User", "Bot"] = "User"
    company: str | None = None
    bio: str | None = None
    email: str | None = None
    followers: int = 0
    following: int = 0


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Member:
    """A user's membership of an organisation; a concealed one is shown to members only."""

    user: User
    role: Literal["admin", "member"] = "member"
    public: bool = True


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Org(Account):
    """An organisation, with its members in order of id, teams by id, projects by number.

    outsiders: those who work in its repositories without being members.
    """

    description: str | None
    members: dict[int, Member] = field(default_factory=dict)
    teams: dict[int, Team] = field(default_factory=dict)
    projects: dict[int, Project] = field(default_factory=dict)
    outsiders: dict[int, User] = field(default_factory=dict)

    def team(self, slug: str) -> Team | None:
        """The team of that slug, in any case."""
        return next((each for each in self.teams.values() if each.slug == slug.lower()), None)


Owner: TypeAlias = Org | User


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Team(Dated):
    """A team: who is in it, and what it may do where (repository id → permission)."""

    id: int
    org: Org
    name: str
    slug: str
    description: str | None
    privacy: Literal["closed", "secret"] = "closed"
    parent: Team | None = None
    members: dict[int, User] = field(default_factory=dict)
    repos: dict[int, str] = field(default_factory=dict)
