"""What accounts have beside repositories."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Org, Owner, Team, User
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes.accounts import admit_to_teams
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import accounts, belongings

_UNMANAGED: Final = "This organization is not part of externally managed enterprise."
_MEMBERS_ONLY: Final = "You must be a member of {} to see membership information for {}."


def gists(ask: Ask, owner: Owner) -> Many[str]:
    """`/users/{login}/gists`: newest first, and since a moment."""
    wanted = accounts.gists_of(owner) if owner.updated_at >= ask.moment("since") else ()
    people = owner if isinstance(owner, User) else None
    return Many(elements=wanted, shape=lambda each: belongings.listed_gist(ask.site, found(people), each))


def gist(ask: Ask, identity: str) -> One:
    """`/gists/{id}`."""
    owners = (each for each in ask.world.accounts.values() if isinstance(each, User))
    owner = found(next((each for each in owners if identity in accounts.gists_of(each)), None))
    return One(body=belongings.gist(ask.site, owner, identity), last_modified=owner.updated_at)


def _admit_to_packages(ask: Ask) -> None:
    if not ask.viewer.authenticated:
        raise Refusal(refused(401, "Requires authentication"))
    if not ask.params.get("package_type"):
        raise Refusal(refused(400, "Invalid argument."))


def packages(ask: Ask, owner: Owner) -> Many[Repo]:
    """`/orgs/{org}/packages` and `/users/{login}/packages`, of one type."""
    _admit_to_packages(ask)
    wanted = belongings.packages_of(ask.world, owner) if ask.params["package_type"] == "container" else ()
    return Many(elements=wanted, shape=lambda repo: belongings.package(ask.site, ask.world, repo))


def package(ask: Ask, owner: Owner, kind: str, name: str) -> One:
    """`/orgs/{org}/packages/{type}/{name}`."""
    if not ask.viewer.authenticated or kind != "container":
        raise not_found()
    published = belongings.packages_of(ask.world, owner)
    repo = found(next((each for each in published if each.name.lower() == name.lower()), None))
    return One(body=belongings.package(ask.site, ask.world, repo))


def membership(ask: Ask, org: Org, login: str) -> One:
    """`/orgs/{org}/memberships/{login}`, for members."""
    if not ask.viewer.insider(org):
        raise Refusal(refused(403, _MEMBERS_ONLY.format(org.login, login)))
    member = found(org.members.get(found(ask.world.account(login)).id))
    return One(body=belongings.membership(ask.site, org, member))


def team_membership(ask: Ask, org: Org, slug: str, login: str) -> One:
    """`/orgs/{org}/teams/{slug}/memberships/{login}`."""
    admit_to_teams(ask, org)
    team = found(org.team(slug))
    user = found(team.members.get(found(ask.world.account(login)).id))
    return One(body=belongings.team_membership(ask.site, team, user))


def external_groups(ask: Ask, org: Org) -> Many[Team]:
    """`/orgs/{org}/external-groups`, for members of an organisation whose accounts an enterprise manages."""
    if not ask.viewer.insider(org):
        raise Refusal(refused(403, "You must be an organization owner to view IdP managed groups."))
    if org is not ask.world.orgs()[0]:
        raise Refusal(refused(400, _UNMANAGED))
    return Many(
        elements=list(org.teams.values()),
        shape=belongings.external_group,
        wrap=lambda bodies, _: {"groups": bodies},
    )


_PACKAGES: Final[dict[str, Finder]] = {"packages": packages, "packages/{type}/{name}": package}
ORG_ROUTES: Final[dict[str, Finder]] = {
    **_PACKAGES,
    "memberships/{login}": membership,
    "teams/{slug}/memberships/{login}": team_membership,
    "external-groups": external_groups,
}
USER_ROUTES: Final[dict[str, Finder]] = {**_PACKAGES, "gists": gists}
ROOT_ROUTES: Final[dict[str, Finder]] = {"gists/{id}": gist}
