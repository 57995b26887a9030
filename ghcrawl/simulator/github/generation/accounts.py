"""Makes users, organisations and teams."""

from __future__ import annotations

import unicodedata
from random import Random
from typing import Final, Literal

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.moments import at
from ghcrawl.simulator.github.people import Member, Org, Team, User
from ghcrawl.simulator.github.world import World

ORG_LOGINS: Final = ("acme", "globex", "initech", "umbrella", "hooli", "stark-industries")
TEAM_NAMES: Final = ("Core", "Docs & Design", "Release Crew", "Sécurité", "Infra", "Triage")
BOT: Final = "dependabot[bot]"
WEB_FLOW: Final = "web-flow"
"""The account that commits what is merged by a button."""

_HELPERS: Final[tuple[tuple[str, Literal["User", "Bot"]], ...]] = ((BOT, "Bot"), (WEB_FLOW, "User"))
_YEAR_S: Final = 31_536_000


def add_users(world: World, rng: Random, count: int, until: int) -> list[User]:
    """`count` people, a bot, and the account behind the merge button. Returns the people."""
    people = [_user(world, rng, number, until) for number in range(count)]
    for user in people:
        world.add_account(user)
    born = at(until - 6 * _YEAR_S)
    for login, kind in _HELPERS:
        account = User(id=world.ids.take("account"), login=login, name=None, created_at=born, type=kind)
        world.add_account(account)
    return people


def _user(world: World, rng: Random, number: int, until: int) -> User:
    first, last = rng.choice(texts.FIRST_NAMES), rng.choice(texts.LAST_NAMES)
    born = until - rng.randint(3 * _YEAR_S, 6 * _YEAR_S)
    login = f"{first}-{last}{number}"
    return User(
        id=world.ids.take("account"),
        login=login.capitalize() if number % 7 == 3 else login,
        name=f"{first.capitalize()} {last.capitalize()}" if number % 5 else None,
        created_at=at(born),
        updated_at=at(rng.randint(born, until)),
        company=rng.choice(("@acme", "ACME, Inc.", None)),
        location=rng.choice(texts.PLACES),
        bio=texts.body(rng) if number % 3 == 0 else None,
        email=f"{first}.{last}@example.org" if number % 4 == 0 else None,
        followers=rng.randint(0, 500),
        following=rng.randint(0, 50),
    )


def add_org(world: World, rng: Random, number: int, people: list[User], until: int) -> Org:
    """An organisation, with two thirds of `people` as members, some of them concealed."""
    login = ORG_LOGINS[number] if number < len(ORG_LOGINS) else f"org-{number}"
    born = until - rng.randint(3 * _YEAR_S, 4 * _YEAR_S)
    org = Org(
        id=world.ids.take("account"),
        login=login,
        name=login.replace("-", " ").title(),
        description=f"Everything that {login} builds in the open — and some that it does not.",
        created_at=at(born),
        updated_at=at(rng.randint(born, until)),
        location=rng.choice(texts.PLACES),
    )
    for user in sorted(rng.sample(people, k=max(1, len(people) * 2 // 3)), key=lambda each: each.id):
        first = not org.members
        org.members[user.id] = Member(
            user=user, role="admin" if first else "member", public=first or rng.random() < 0.7
        )
    world.add_account(org)
    return org


def add_teams(world: World, rng: Random, org: Org, size: WorldSize, until: int) -> None:
    """Teams of `org` over its members; every third is the child of the first, the second is secret."""
    for number in range(size.teams):
        base = TEAM_NAMES[number % len(TEAM_NAMES)]
        name = base if number < len(TEAM_NAMES) else f"{base} {number // len(TEAM_NAMES) + 1}"
        born = until - rng.randint(_YEAR_S, 2 * _YEAR_S)
        team = Team(
            id=world.ids.take("team"),
            org=org,
            name=name,
            slug=slug(name),
            description=f"{name} of {org.login}" if number % 2 else None,
            created_at=at(born),
            updated_at=at(rng.randint(born, until)),
            privacy="secret" if number == 1 else "closed",
            parent=next(iter(org.teams.values())) if number % 3 == 2 else None,
        )
        members = [member.user for member in org.members.values()]
        chosen = rng.sample(members, k=min(len(members), rng.randint(1, 8)))
        team.members = {user.id: user for user in sorted(chosen, key=lambda each: each.id)}
        org.teams[team.id] = team


def staff(rng: Random, org: Org, repos: list[Repo]) -> None:
    """Give the teams of `org` something to do: every repository has one team at least, where there are any."""
    teams = list(org.teams.values())
    for number, repo in enumerate(repos if teams else []):
        for team in (teams[number % len(teams)], rng.choice(teams)):
            team.repos[repo.id] = rng.choice(("pull", "push", "admin"))
        for team in teams:
            if repo.id in team.repos and team.repos[repo.id] != "pull":
                repo.collaborators.update(team.members)
    for team in teams:
        team.repos = dict(sorted(team.repos.items()))


def slug(name: str) -> str:
    """The name as GitHub writes it in a URL."""
    plain = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    text = "".join(letter if letter.isalnum() else "-" for letter in plain)
    return "-".join(part for part in text.split("-") if part)
