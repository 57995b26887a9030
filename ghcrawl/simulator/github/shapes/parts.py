"""What a repository has one of: files that describe it, languages, traffic, statistics. None where it has none."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha1
from typing import Any, Final

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.repos import license_of
from ghcrawl.simulator.github.shapes.site import Body, Site

STATISTICS: Final = ("contributors", "commit_activity", "code_frequency", "participation", "punch_card")
"""What is not there when it is first asked for."""


def file(site: Site, repo: Repo, path: str, text: str) -> Body:
    """A file with its content."""
    sha = sha1(text.encode(), usedforsecurity=False).hexdigest()
    url, page = f"{site.repo(repo)}/contents/{path}?ref={repo.default_branch}", f"{site.page(repo)}/blob/main/{path}"
    git = f"{site.repo(repo)}/git/blobs/{sha}"
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": len(text.encode()),
        "url": url,
        "html_url": page,
        "git_url": git,
        "download_url": f"{site.page(repo)}/raw/{repo.default_branch}/{path}",
        "type": "file",
        "content": b64encode(text.encode()).decode() + "\n",
        "encoding": "base64",
        "_links": {"self": url, "git": git, "html": page},
    }


def license_file(site: Site, repo: Repo) -> Body | None:
    """The file of the licence, and which licence that is."""
    kind = license_of(site, repo) if repo.commits else None
    return {**file(site, repo, "LICENSE", "MIT License\n"), "license": kind} if kind else None


def readme(site: Site, repo: Repo) -> Body | None:
    """The README."""
    text = repo.records.readme
    return None if text is None else file(site, repo, "README.md", text)


def codeowners(site: Site, repo: Repo) -> Body | None:
    """The file that says who owns the code, in one of the places where that may be."""
    return file(site, repo, *repo.records.codeowners) if repo.records.codeowners else None


def topics(_site: Site, repo: Repo) -> Body:
    """The topics, which the repository carries itself."""
    return {"names": list(repo.topics)}


def languages(_site: Site, repo: Repo) -> Body:
    """Bytes by language."""
    return {repo.language: len(repo.commits) * 700} if repo.language and repo.commits else {}


def community_profile(site: Site, repo: Repo) -> Body | None:
    """How well a public repository that is no fork describes itself."""
    if repo.private or repo.parent is not None:
        return None
    readme = {"url": f"{site.repo(repo)}/contents/README.md", "html_url": f"{site.page(repo)}/blob/main/README.md"}
    absent = ("code_of_conduct", "code_of_conduct_file", "contributing", "issue_template", "pull_request_template")
    return {
        "health_percentage": 42,
        "description": repo.description,
        "documentation": None,
        "files": {
            **dict.fromkeys(absent),
            "license": license_of(site, repo),
            "readme": readme if repo.records.readme else None,
        },
        "updated_at": repo.updated_at,
        "content_reports_enabled": False,
    }


def traffic(repo: Repo, kind: str) -> Any:
    """Two weeks of it."""
    count = repo.id % 100
    if kind in ("views", "clones"):
        day = {"timestamp": repo.updated_at, "count": count, "uniques": count // 2}
        return {"count": count, "uniques": count // 2, kind: [day]}
    if kind == "paths":
        return [{"path": f"/{repo.full_name}", "title": repo.full_name, "count": count, "uniques": count // 2}]
    return [{"referrer": "example.org", "count": count, "uniques": count // 2}]


def statistics(site: Site, repo: Repo, name: str) -> Any:
    """What was worked out of the commits."""
    counts = repo.contributions()
    if name == "contributors":
        weeks = [{"w": 0, "a": 0, "d": 0, "c": count} for _, count in counts[:1]]
        return [{"author": simple_user(site, user), "total": count, "weeks": weeks} for user, count in counts]
    if name == "participation":
        return {"all": [0] * 52, "owner": [0] * 52}
    if name == "commit_activity":
        return [{"days": [0] * 7, "total": 0, "week": 1_700_000_000}]
    return [[1_700_000_000, 3, -1]]
