"""What accounts have beside repositories: gists, packages, roles in organisations, groups of an identity provider.

All follow from the accounts and their repositories.
"""

from __future__ import annotations

from collections.abc import Sequence

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Member, Org, Owner, Team, User
from ghcrawl.simulator.github.shapes.accounts import role_in, simple_org, simple_user
from ghcrawl.simulator.github.shapes.repos import embedded_repo
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, quoted
from ghcrawl.simulator.github.world import World

_TEXT = "print('hello')\n"


def listed_gist(site: Site, owner: User, identity: str) -> Body:
    """A gist as an element of a list: without its history and what is in its files."""
    url = f"{site.base}/gists/{identity}"
    page = f"{site.base}/gist/{owner.login}/{identity}"
    file = {"filename": "hello.py", "type": "application/x-python", "language": "Python", "size": len(_TEXT)}
    return {
        "url": url,
        "forks_url": f"{url}/forks",
        "commits_url": f"{url}/commits",
        "id": identity,
        "node_id": f"G_kwDO{identity}",
        "git_pull_url": f"{page}.git",
        "git_push_url": f"{page}.git",
        "html_url": page,
        "files": {"hello.py": {**file, "raw_url": f"{page}/raw/hello.py"}},
        "public": True,
        **dated(owner),
        "description": None,
        "comments": 0,
        "comments_enabled": True,
        "user": None,
        "comments_url": f"{url}/comments",
        "owner": simple_user(site, owner),
        "truncated": False,
    }


def gist(site: Site, owner: User, identity: str) -> Body:
    """A gist at its own URL."""
    body = listed_gist(site, owner, identity)
    whole = {"truncated": False, "content": _TEXT, "encoding": "utf-8"}
    version = {
        "user": simple_user(site, owner),
        "version": identity.ljust(40, "0"),
        "committed_at": owner.created_at,
        "change_status": {"total": 1, "additions": 1, "deletions": 0},
        "url": f"{body['url']}/{identity.ljust(40, '0')}",
    }
    files = {name: {**file, **whole} for name, file in body["files"].items()}
    return {**body, "files": files, "forks": [], "history": [version]}


def packages_of(world: World, owner: Owner) -> Sequence[Repo]:
    """The repositories that a container is published from, one each: public ones with code, every second of them."""
    return [repo for repo in world.repos_of(owner) if repo.commits and not repo.private][::2]


def package_id(repo: Repo) -> int:
    """The id of the container of a repository."""
    return repo.id * 10 + 5


def package(site: Site, world: World, repo: Repo) -> Body:
    """The container of a repository: the same alone and in lists."""
    owner = repo.owner
    root = "orgs" if isinstance(owner, Org) else "users"
    return {
        "id": package_id(repo),
        "name": repo.name,
        "package_type": "container",
        "owner": simple_user(site, owner),
        "version_count": 1 + repo.id % 5,
        "visibility": "public",
        "url": f"{site.base}/{root}/{quoted(owner.login)}/packages/container/{quoted(repo.name)}",
        "created_at": repo.created_at,
        "updated_at": repo.pushed_at,
        "repository": embedded_repo(site, world, repo),
        "html_url": f"{site.base}/{root}/{quoted(owner.login)}/packages/container/package/{quoted(repo.name)}",
    }


def membership(site: Site, org: Org, member: Member) -> Body:
    """A user's role in an organisation."""
    return {
        "url": f"{site.base}/orgs/{org.login}/memberships/{quoted(member.user.login)}",
        "state": "active",
        "role": member.role,
        "direct_membership": True,
        "enterprise_teams_providing_indirect_membership": [],
        "organization_url": f"{site.base}/orgs/{org.login}",
        "organization": simple_org(site, org),
        "user": simple_user(site, member.user),
        "permissions": {"can_create_repository": True},
    }


def team_membership(site: Site, team: Team, user: User) -> Body:
    """A user's role in a team."""
    url = f"{site.base}/organizations/{team.org.id}/team/{team.id}/memberships/{quoted(user.login)}"
    return {"url": url, "role": role_in(team, user), "state": "active"}


def external_group(team: Team) -> Body:
    """The group of an identity provider that fills a team."""
    moment = team.updated_at.replace("T", " ").replace("Z", ":000 -000")
    return {"group_id": team.id, "group_name": f"group-{team.slug}", "updated_at": moment}
