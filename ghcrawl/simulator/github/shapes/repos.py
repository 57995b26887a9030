"""Repositories: whole, and as elements of lists and inside other things."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Org
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, url_names
from ghcrawl.simulator.github.world import World

_URLS: Final = url_names(
    *("/forks", "/teams", "/hooks", "/events", "/tags", "/languages", "/stargazers", "/contributors", "/subscribers"),
    *("/subscription", "/merges", "/downloads", "/deployments", "/keys{/key_id}", "/collaborators{/collaborator}"),
    *("/assignees{/user}", "/branches{/branch}", "/statuses/{sha}", "/commits{/sha}", "/comments{/number}"),
    *("/contents/{+path}", "/compare/{base}...{head}", "/issues{/number}", "/pulls{/number}", "/milestones{/number}"),
    *("/notifications{?since,all,participating}", "/labels{/name}", "/releases{/id}"),
) | {
    "issue_events_url": "/issues/events{/number}",
    "issue_comment_url": "/issues/comments{/number}",
    "blobs_url": "/git/blobs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_commits_url": "/git/commits{/sha}",
    "trees_url": "/git/trees{/sha}",
    "archive_url": "/{archive_format}{/ref}",
}
_SAME_FOR_ALL: Final[Body] = {
    "homepage": None,
    "has_projects": True,
    "has_downloads": True,
    "has_wiki": True,
    "has_pages": False,
    "mirror_url": None,
    "allow_forking": True,
    "is_template": False,
    "web_commit_signoff_required": False,
}


_SCANNED: Final = {name: {"status": "enabled"} for name in ("secret_scanning", "secret_scanning_push_protection")}
"""What administrators are told of what is scanned."""


def embedded_repo(site: Site, world: World, repo: Repo) -> Body:
    """A repository inside a pull request, or as another's parent."""
    url, page = site.repo(repo), site.page(repo)
    forks = len(world.forks_of(repo))
    return {
        **ids("R", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
        "owner": simple_user(site, repo.owner),
        "html_url": page,
        "description": repo.description,
        "fork": repo.parent is not None,
        "url": url,
        **_SAME_FOR_ALL,
        **{name: url + path for name, path in _URLS.items()},
        **dated(repo),
        "pushed_at": repo.pushed_at,
        "git_url": f"git:{page.partition(':')[2]}.git",
        "ssh_url": f"git@{page.partition('//')[2].replace('/', ':', 1)}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "size": len(repo.commits) * 7,
        "stargazers_count": repo.stars,
        "watchers_count": repo.stars,
        "language": repo.language,
        "has_issues": repo.has_issues,
        "has_discussions": bool(repo.records.discussions),
        "forks_count": forks,
        "archived": repo.archived,
        "disabled": repo.standing != "fine",
        "open_issues_count": repo.open_issues,
        "license": license_of(site, repo),
        "topics": list(repo.topics),
        "visibility": "private" if repo.private else "public",
        "forks": forks,
        "open_issues": repo.open_issues,
        "watchers": repo.stars,
        "default_branch": repo.default_branch,
    }


def listed_repo(site: Site, world: World, repo: Repo, viewer: Viewer) -> Body:
    """A repository as an element of a list."""
    permissions = viewer.permissions(repo)
    body = embedded_repo(site, world, repo) | ({"permissions": permissions} if permissions else {})
    return body | {"security_and_analysis": _SCANNED} if permissions and permissions["admin"] else body


def org_repo(site: Site, world: World, repo: Repo, viewer: Viewer) -> Body:
    """A repository as an element of its owner's list."""
    body = listed_repo(site, world, repo, viewer) | {"custom_properties": {}}
    return body | {"delete_branch_on_merge": False} if viewer.insider(repo.owner) else body


def team_repo(site: Site, world: World, repo: Repo, viewer: Viewer) -> Body:
    """A repository as an element of a team's list."""
    return {**listed_repo(site, world, repo, viewer), "role_name": "write"}


def repo(site: Site, world: World, repo: Repo, viewer: Viewer) -> Body:
    """A repository at its own URL."""
    body = listed_repo(site, world, repo, viewer)
    body |= {
        "temp_clone_token": None,
        "custom_properties": {},
        "network_count": len(world.forks_of(repo)),
        "subscribers_count": len(repo.records.subscribers),
    }
    if isinstance(repo.owner, Org):
        body["organization"] = simple_user(site, repo.owner)
    if repo.parent is not None:
        body["parent"] = embedded_repo(site, world, repo.parent)
        body["source"] = embedded_repo(site, world, _source(repo.parent))
    return body | _MERGE_SETTINGS if viewer.insider(repo.owner) else body


_MERGE_SETTINGS = {
    "allow_squash_merge": True,
    "allow_merge_commit": True,
    "allow_rebase_merge": True,
    "allow_auto_merge": False,
    "delete_branch_on_merge": False,
    "allow_update_branch": False,
    "use_squash_pr_title_as_default": False,
    "squash_merge_commit_message": "COMMIT_MESSAGES",
    "squash_merge_commit_title": "COMMIT_OR_PR_TITLE",
    "merge_commit_message": "PR_TITLE",
    "merge_commit_title": "MERGE_MESSAGE",
}


def _source(repo: Repo) -> Repo:
    """The root of the fork network."""
    while repo.parent is not None:
        repo = repo.parent
    return repo


def license_of(site: Site, repo: Repo) -> Body | None:
    """The licence, as it is embedded; one repository in three has none."""
    if repo.id % 3 == 0:
        return None
    return {
        "key": "mit",
        "name": "MIT License",
        "spdx_id": "MIT",
        "url": f"{site.base}/licenses/mit",
        "node_id": "MDc6TGljZW5zZTEz",
    }
