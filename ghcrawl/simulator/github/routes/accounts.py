"""Organisations, teams, users, and the asker's own things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Member, Org, Owner, Team, User
from ghcrawl.simulator.github.refusals import denied, not_found, refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, found
from ghcrawl.simulator.github.routes.finders import guarded, itself, listed, single
from ghcrawl.simulator.github.routes.table import Finder, Found
from ghcrawl.simulator.github.shapes import accounts, repos
from ghcrawl.simulator.github.shapes.site import Body

_DATES: Final = ("created", "updated", "pushed")
_NEWEST_FIRST: Final = (*_DATES, "full_name")
_BY_NAME: Final = ("full_name", *_DATES)


user: Final = itself(accounts.user)


def _repos(
    ask: Ask, wanted: list[Repo], *, sorts: tuple[str, ...], shape: Callable[..., Body], partial: tuple[int, ...] = ()
) -> Many[Repo]:
    """`wanted`, sorted as is asked for, by the first of `sorts` where nothing is."""
    sort = ask.choice("sort", sorts)

    def key(repo: Repo) -> tuple[str, int]:
        return repo.full_name.lower() if sort == "full_name" else getattr(repo, f"{sort}_at"), repo.id

    return Many(
        elements=sorted(wanted, key=key, reverse=ask.descends(default=sort != "full_name")),
        shape=lambda repo: shape(ask.site, ask.world, repo, ask.viewer),
        partial=partial,
    )


def org_repos(ask: Ask, thing: Org) -> Many[Repo]:
    """`/orgs/{org}/repos`: newest first; silently without what the asker may not see."""
    kind = ask.choice("type", ("all", "public", "private", "forks", "sources", "member"))
    hidden = ask.viewer.denial(thing) == "sso" and thing.id in ask.viewer.insider_of
    wanted = [each for each in ask.world.repos_of(thing) if ask.viewer.sees(each) and _is_kind(each, kind)]
    return _repos(ask, wanted, sorts=_NEWEST_FIRST, shape=repos.org_repo, partial=(thing.id,) if hidden else ())


def _is_kind(repo: Repo, kind: str) -> bool:
    fork = repo.parent is not None
    kinds = {"public": not repo.private, "private": repo.private, "forks": fork, "sources": not fork}
    return kinds.get(kind, True)


def user_repos(ask: Ask, thing: Owner) -> Many[Repo]:
    """`/users/{login}/repos`: public ones, by name unless `sort` says otherwise."""
    wanted = [each for each in ask.world.repos_of(thing) if not each.private]
    return _repos(ask, wanted, sorts=_BY_NAME, shape=repos.org_repo)


def members(ask: Ask, thing: Org) -> Many[Member]:
    """`/orgs/{org}/members`: all of them for a member, the public ones for anybody else."""
    _admit(ask, thing)
    role = ask.choice("role", ("all", "admin", "member"))
    insider = ask.viewer.insider(thing)
    wanted = [each for each in thing.members.values() if (insider or each.public) and role in ("all", each.role)]
    return _members(ask, wanted)


def public_members(ask: Ask, thing: Org) -> Many[Member]:
    """`/orgs/{org}/public_members`."""
    return _members(ask, [each for each in thing.members.values() if each.public])


def _members(ask: Ask, wanted: list[Member]) -> Many[Member]:
    return Many(
        elements=sorted(wanted, key=lambda each: each.user.id),
        shape=lambda each: accounts.simple_user(ask.site, each.user),
    )


def _admit(ask: Ask, thing: Org) -> None:
    why = ask.viewer.denial(thing)
    if why is not None:
        raise denied(why, thing.login, ask.site.base)


def admit_to_teams(ask: Ask, thing: Org) -> None:
    """Teams are for members. Raises Refusal for everybody else."""
    _admit(ask, thing)
    if not ask.viewer.authenticated:
        raise Refusal(refused(401, "Requires authentication"))
    if not ask.viewer.insider(thing):
        status = ask.manners.teams_denied_status
        raise not_found() if status == 404 else Refusal(refused(status, "Must have read:org permission."))


def team_members(ask: Ask, thing: Org, slug: str) -> Many[User]:
    """`/orgs/{org}/teams/{slug}/members`: all of them, or those of one role."""
    hit, role = found(thing.team(slug)), ask.choice("role", ("all", "member", "maintainer"))
    wanted = (each for each in hit.members.values() if role in ("all", accounts.role_in(hit, each)))
    people = sorted(wanted, key=lambda user: user.id)
    return Many(elements=people, shape=lambda user: accounts.simple_user(ask.site, user))


def team_repos(ask: Ask, thing: Org, slug: str) -> Many[Repo]:
    """`/orgs/{org}/teams/{slug}/repos`."""
    ids = found(thing.team(slug)).repos
    held = [ask.world.repos[each] for each in ids if each in ask.world.repos]
    return Many(elements=held, shape=lambda repo: repos.team_repo(ask.site, ask.world, repo, ask.viewer))


def _by_slug(org: Org) -> list[Team]:
    return sorted(org.teams.values(), key=lambda each: each.slug)


def _children(org: Org, slug: str) -> list[Team]:
    parent = found(org.team(slug))
    return [each for each in org.teams.values() if each.parent is parent]


def user_orgs(ask: Ask, thing: Owner) -> Many[Org]:
    """`/users/{login}/orgs`: where the membership is public, or the asker is a member too."""
    orgs = ask.world.orgs_of(thing) if isinstance(thing, User) else []
    wanted = [each for each in orgs if each.members[thing.id].public or ask.viewer.insider(each)]
    return Many(elements=wanted, shape=lambda each: accounts.simple_org(ask.site, each))


def myself(ask: Ask) -> User:
    """The user whose token it is. Raises Refusal without one."""
    if not ask.viewer.authenticated:
        raise Refusal(refused(401, "Requires authentication"))
    account = ask.world.accounts.get(ask.viewer.user)
    if not isinstance(account, User):
        raise Refusal(refused(403, "Resource not accessible by integration"))
    return account


def my_profile(ask: Ask) -> Found:
    """`/user`."""
    return user(ask, myself(ask))


def my_orgs(ask: Ask) -> Many[Org]:
    """`/user/orgs`."""
    return user_orgs(ask, myself(ask))


def my_repos(ask: Ask) -> Many[Repo]:
    """`/user/repos`: by name; `affiliation` says whose."""
    me = myself(ask)
    wanted = set(ask.params.get("affiliation", "owner,collaborator,organization_member").split(","))
    owners = ([me] if "owner" in wanted else []) + (
        list[Owner](ask.world.orgs_of(me)) if "organization_member" in wanted else []
    )
    owned = [each for owner in owners for each in ask.world.repos_of(owner) if ask.viewer.sees(each)]
    partial = tuple(owner.id for owner in owners if ask.viewer.denial(owner) == "sso")
    return _repos(ask, owned, sorts=_BY_NAME, shape=repos.listed_repo, partial=partial)


def installed_repos(ask: Ask) -> Many[Repo]:
    """`/installation/repositories`: a list inside an object."""
    if ask.viewer.kind != "installation":
        raise Refusal(refused(403, "You must authenticate with an installation access token in order to list them."))
    held = [each for each in ask.world.repos.values() if ask.viewer.insider(each.owner)]
    return Many(
        elements=held,
        shape=lambda repo: repos.listed_repo(ask.site, ask.world, repo, ask.viewer),
        wrap=lambda bodies, total: {"total_count": total, "repository_selection": "all", "repositories": bodies},
    )


def found_repos(ask: Ask) -> Many[Repo]:
    """`/search/repositories`: by a part of the name, `user:` and `org:` qualifiers; never more than 1,000."""
    words = ask.params.get("q", "").lower().split()
    if not words:
        raise Refusal(refused(422, "Validation Failed"))
    owners = {word.partition(":")[2] for word in words if word.startswith(("org:", "user:"))}
    parts = [word for word in words if ":" not in word]
    hits = [
        each
        for each in ask.world.repos.values()
        if ask.viewer.sees(each)
        and (not owners or each.owner.login.lower() in owners)
        and all(part in each.full_name.lower() for part in parts)
    ]
    return Many(
        elements=sorted(hits, key=lambda each: (each.stars, each.id), reverse=True)[:1000],
        shape=lambda repo: {**repos.listed_repo(ask.site, ask.world, repo, ask.viewer), "score": 1.0},
        wrap=lambda bodies, total: {"total_count": total, "incomplete_results": False, "items": bodies},
    )


ORG_ROUTES: Final[dict[str, Finder]] = {
    "": itself(accounts.org),
    "repos": org_repos,
    "members": members,
    "public_members": public_members,
    **guarded(
        admit_to_teams,
        {
            "teams": listed(_by_slug, accounts.listed_team, alone=True),
            "teams/{slug}": single(Org.team, accounts.team, dated="updated_at", in_world=True, alone=True),
            "teams/{slug}/members": team_members,
            "teams/{slug}/repos": team_repos,
            "teams/{slug}/teams": listed(_children, accounts.listed_team, alone=True),
        },
    ),
}
USER_ROUTES: Final[dict[str, Finder]] = {"": user, "repos": user_repos, "orgs": user_orgs}
ROOT_ROUTES: Final[dict[str, Finder]] = {
    "user": my_profile,
    "user/repos": my_repos,
    "user/orgs": my_orgs,
    "installation/repositories": installed_repos,
    "search/repositories": found_repos,
}
