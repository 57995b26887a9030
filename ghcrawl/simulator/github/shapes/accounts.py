"""Users, organisations and teams."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5
from typing import Literal

from ghcrawl.simulator.github.people import Org, Owner, Team, User
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, quoted, url_names
from ghcrawl.simulator.github.world import World

_USER_URLS = url_names(
    "/followers",
    "/following{/other_user}",
    "/gists{/gist_id}",
    "/starred{/owner}{/repo}",
    "/subscriptions",
    "/repos",
    "/events{/privacy}",
    "/received_events",
) | {"organizations_url": "/orgs"}
_ORG_URLS = url_names("/repos", "/events", "/hooks", "/issues", "/members{/member}", "/public_members{/member}")


def simple_user(site: Site, account: Owner) -> Body:
    """An account as it is embedded everywhere. An organisation is embedded as a user, with a user's URLs."""
    login = quoted(account.login).replace("[", "%5B").replace("]", "%5D")
    url = f"{site.base}/users/{login}"
    kind = account.type if isinstance(account, User) else "Organization"
    page = f"apps/{account.login.removesuffix('[bot]')}" if kind == "Bot" else login
    return {
        "login": account.login,
        **ids("O" if kind == "Organization" else "U", account.id),
        "avatar_url": f"{site.base}/avatars/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{site.base}/{page}",
        **{name: url + path for name, path in _USER_URLS.items()},
        "type": kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def maybe_user(site: Site, user: User | None) -> Body | None:
    """The same, or null for an account that is gone."""
    return simple_user(site, user) if user else None


def gists_of(account: Owner) -> Sequence[str]:
    """Ids of the gists of `account`, newest first: of every person up to three."""
    if not isinstance(account, User) or account.type == "Bot":
        return ()
    named = (f"{account.id}/{number}".encode() for number in range(account.id % 4))
    return [md5(name, usedforsecurity=False).hexdigest() for name in named]


def _profile(world: World, account: Owner) -> Body:
    """The fields that profiles of users and organisations share, with the values of an organisation."""
    return {
        "name": account.name,
        "company": None,
        "blog": "",
        "location": account.location,
        "email": None,
        "twitter_username": None,
        "public_repos": sum(not repo.private for repo in world.repos_of(account)),
        "public_gists": len(gists_of(account)),
        "followers": 0,
        "following": 0,
        **dated(account),
    }


def _private_counts(world: World, account: Owner) -> Body:
    """The fields of users and organisations that only insiders see."""
    private = sum(repo.private for repo in world.repos_of(account))
    counts = {"total_private_repos": private, "owned_private_repos": private}
    return {**counts, "private_gists": 0, "disk_usage": 0, "collaborators": 0}


def user(site: Site, world: World, account: Owner, viewer: Viewer) -> Body:
    """The whole profile of a user, a bot, or an organisation asked for as a user."""
    body = simple_user(site, account) | _profile(world, account) | {"hireable": None}
    if isinstance(account, Org):
        return body | {"bio": account.description}
    body |= {
        "company": account.company,
        "email": account.email if viewer.authenticated else None,
        "bio": account.bio,
        "followers": account.followers,
        "following": account.following,
    }
    return body | (_own_fields(world, account) if viewer.user == account.id else {})


def _own_fields(world: World, account: User) -> Body:
    """What only the user themselves is shown."""
    return {
        **_private_counts(world, account),
        "user_view_type": "private",
        "notification_email": None,
        "two_factor_authentication": True,
        "plan": {"name": "free", "space": 976562499, "collaborators": 0, "private_repos": 10000},
    }


def simple_org(site: Site, org: Org) -> Body:
    """An organisation as an element of a list."""
    url = f"{site.base}/orgs/{org.login}"
    return {
        "login": org.login,
        **ids("O", org.id),
        "url": url,
        **{name: url + path for name, path in _ORG_URLS.items()},
        "avatar_url": f"{site.base}/avatars/u/{org.id}?v=4",
        "description": org.description,
    }


def org_profile(site: Site, world: World, org: Org) -> Body:
    """What anybody is shown of an organisation; also embedded in a team."""
    return {
        **simple_org(site, org),
        **_profile(world, org),
        "is_verified": False,
        "has_organization_projects": True,
        "has_repository_projects": True,
        "html_url": f"{site.base}/{org.login}",
        "archived_at": None,
        "type": "Organization",
    }


def org(site: Site, world: World, org: Org, viewer: Viewer) -> Body:
    """An organisation at its own URL."""
    body = org_profile(site, world, org)
    if not viewer.insider(org):
        return body
    return body | {
        **_private_counts(world, org),
        "billing_email": None,
        "default_repository_permission": "read",
        "members_can_create_repositories": True,
        "two_factor_requirement_enabled": False,
        "members_allowed_repository_creation_type": "all",
        "members_can_create_public_repositories": True,
        "members_can_create_private_repositories": True,
        "members_can_create_internal_repositories": False,
        "members_can_create_pages": True,
        "members_can_fork_private_repositories": False,
        "web_commit_signoff_required": False,
        "plan": {"name": "free", "space": 976562499, "private_repos": 10000, "seats": 0},
    }


def simple_team(site: Site, team: Team) -> Body:
    """A team as it is embedded."""
    url = f"{site.base}/organizations/{team.org.id}/team/{team.id}"
    return {
        "name": team.name,
        **ids("T", team.id),
        "slug": team.slug,
        "description": team.description,
        "privacy": team.privacy,
        "notification_setting": "notifications_enabled",
        "url": url,
        "html_url": f"{site.base}/orgs/{team.org.login}/teams/{team.slug}",
        "members_url": f"{url}/members{{/member}}",
        "repositories_url": f"{url}/repos",
        "type": "organization",
        "organization_id": team.org.id,
        "permission": "pull",
    }


def listed_team(site: Site, team: Team) -> Body:
    """A team as an element of a list."""
    return {**simple_team(site, team), "parent": simple_team(site, team.parent) if team.parent else None}


def repo_team(site: Site, team: Team, repo_id: int) -> Body:
    """A team as an element of a repository's list, with what it may do there."""
    permission = team.repos.get(repo_id, "pull")
    level = ("pull", "triage", "push", "maintain", "admin").index(permission)
    flags = {name: level >= rank for rank, name in enumerate(("pull", "triage", "push", "maintain", "admin"))}
    return {**listed_team(site, team), "permission": permission, "permissions": flags, "access_source": "direct"}


def team(site: Site, world: World, team: Team) -> Body:
    """A team at its own URL."""
    return {
        **listed_team(site, team),
        **dated(team),
        "members_count": len(team.members),
        "repos_count": len(team.repos),
        "organization": org_profile(site, world, team.org),
    }


def role_in(team: Team, user: User) -> Literal["maintainer", "member"]:
    """The role of `user` in `team`: owners of the organisation and the team's first member maintain it."""
    member, first = team.org.members.get(user.id), next(iter(team.members.values()))
    return "maintainer" if user is first or (member is not None and member.role == "admin") else "member"


def contributor(site: Site, account: User, contributions: int) -> Body:
    """A contributor as an element of a list."""
    return {**simple_user(site, account), "contributions": contributions}


def collaborator(site: Site, account: User, *, admin: bool) -> Body:
    """A collaborator as an element of a list."""
    flags = {"admin": admin, "maintain": admin, "push": True, "triage": True, "pull": True}
    return {**simple_user(site, account), "permissions": flags, "role_name": "admin" if admin else "write"}


def association(user: User | None, owner: Owner) -> str:
    """How an author relates to the owner of the repository."""
    if user is None:
        return "NONE"
    if user is owner:
        return "OWNER"
    return "MEMBER" if isinstance(owner, Org) and user.id in owner.members else "CONTRIBUTOR"
