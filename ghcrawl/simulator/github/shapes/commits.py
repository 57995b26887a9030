"""Commits, comments on them, branches and tags."""

from __future__ import annotations

from hashlib import sha1
from typing import Final

from ghcrawl.simulator.github.code import Commit, Ref
from ghcrawl.simulator.github.entities import CommitComment, Repo
from ghcrawl.simulator.github.shapes.accounts import maybe_user
from ghcrawl.simulator.github.shapes.issues import any_comment
from ghcrawl.simulator.github.shapes.site import Body, Site, quoted_ref

_UNSIGNED: Final = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def listed_commit(site: Site, repo: Repo, commit: Commit) -> Body:
    """A commit as an element of a list: without what it changed."""
    url, page, git = f"{site.repo(repo)}/commits", f"{site.page(repo)}/commit", f"{site.repo(repo)}/git"
    author = {"name": commit.author_name, "email": commit.author_email, "date": commit.authored_at}
    committer = {"name": commit.committer_name, "email": commit.committer_email, "date": commit.committed_at}
    tree = commit.sha[::-1]
    return {
        "sha": commit.sha,
        "node_id": f"C_kwDO{repo.id:x}{commit.sha[:20]}",
        "commit": {
            "author": author,
            "committer": committer,
            "message": commit.message,
            "tree": {"sha": tree, "url": f"{git}/trees/{tree}"},
            "url": f"{git}/commits/{commit.sha}",
            "comment_count": len(repo.comments_on(commit)),
            "verification": _UNSIGNED,
        },
        "url": f"{url}/{commit.sha}",
        "html_url": f"{page}/{commit.sha}",
        "comments_url": f"{url}/{commit.sha}/comments",
        "author": maybe_user(site, commit.author),
        "committer": maybe_user(site, commit.committer),
        "parents": [
            {"sha": parent.sha, "url": f"{url}/{parent.sha}", "html_url": f"{page}/{parent.sha}"}
            for parent in commit.parents
        ],
    }


def simple_commit(commit: Commit) -> Body:
    """A commit inside a push, a run or a suite: without accounts, parents and statistics."""
    return {
        "id": commit.sha,
        "tree_id": commit.sha[::-1],
        "message": commit.message,
        "timestamp": commit.committed_at,
        "author": {"name": commit.author_name, "email": commit.author_email},
        "committer": {"name": commit.committer_name, "email": commit.committer_email},
    }


def diff_of(commit: Commit) -> list[tuple[str, int, int]]:
    """What a commit changed: (path, additions, deletions), as fixed by its sha as everything else."""
    sha = commit.sha
    return [
        (f"src/{sha[index : index + 2]}/file{index}.py", int(sha[index + 2], 16), int(sha[-1 - index], 16))
        for index in range(1 + int(sha[0], 16) % 3)
    ]


def commit(site: Site, repo: Repo, commit: Commit) -> Body:
    """A commit at its own URL."""
    changes = diff_of(commit)
    additions, deletions = sum(added for _, added, _ in changes), sum(removed for *_, removed in changes)
    return {
        **listed_commit(site, repo, commit),
        "stats": {"total": additions + deletions, "additions": additions, "deletions": deletions},
        "files": [_file(site, repo, commit, *change) for change in changes],
    }


def _file(site: Site, repo: Repo, commit: Commit, path: str, additions: int, deletions: int) -> Body:
    return {
        "sha": commit.sha[::-1],
        "filename": path,
        "status": "modified",
        "additions": additions,
        "deletions": deletions,
        "changes": additions + deletions,
        "blob_url": f"{site.page(repo)}/blob/{commit.sha}/{path}",
        "raw_url": f"{site.page(repo)}/raw/{commit.sha}/{path}",
        "contents_url": f"{site.repo(repo)}/contents/{path}?ref={commit.sha}",
        "patch": f"@@ -1,{deletions} +1,{additions} @@",
    }


def commit_comment(site: Site, repo: Repo, comment: CommitComment) -> Body:
    """A comment on a commit."""
    sha = comment.commit.sha
    return {
        **any_comment(site, repo, comment, kind="CC", url=f"{site.repo(repo)}/comments/{comment.id}"),
        "html_url": f"{site.page(repo)}/commit/{sha}#commitcomment-{comment.id}",
        "position": comment.line,
        "line": comment.line,
        "path": comment.path,
        "commit_id": sha,
    }


def listed_branch(site: Site, repo: Repo, ref: Ref) -> Body:
    """A branch as an element of a list: it names its commit."""
    return {
        "name": ref.name,
        "commit": {"sha": ref.commit.sha, "url": f"{site.repo(repo)}/commits/{ref.commit.sha}"},
        "protected": ref.protected,
        "protection": {
            "enabled": ref.protected,
            "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []},
        },
        "protection_url": f"{site.repo(repo)}/branches/{quoted_ref(ref.name)}/protection",
    }


def branch(site: Site, repo: Repo, ref: Ref) -> Body:
    """A branch at its own URL: it holds its commit."""
    links = {
        "self": f"{site.repo(repo)}/branches/{quoted_ref(ref.name)}",
        "html": f"{site.page(repo)}/tree/{quoted_ref(ref.name)}",
    }
    return {**listed_branch(site, repo, ref), "commit": commit(site, repo, ref.commit), "_links": links}


def tag(site: Site, repo: Repo, ref: Ref) -> Body:
    """A tag; it has no form of its own beside that of a list's element."""
    return {
        "name": ref.name,
        "zipball_url": f"{site.repo(repo)}/zipball/refs/tags/{quoted_ref(ref.name)}",
        "tarball_url": f"{site.repo(repo)}/tarball/refs/tags/{quoted_ref(ref.name)}",
        "commit": {"sha": ref.commit.sha, "url": f"{site.repo(repo)}/commits/{ref.commit.sha}"},
        "node_id": f"REF_kwDO{repo.id:x}{ref.commit.sha[:12]}",
    }


def tag_object_sha(repo: Repo, ref: Ref) -> str:
    """The object that an annotated tag names; empty for a lightweight one. Versions are annotated."""
    told = f"tag {repo.id} {ref.name} {ref.commit.sha}"
    return sha1(told.encode(), usedforsecurity=False).hexdigest() if ref.name.startswith("v") else ""


def tag_object(site: Site, repo: Repo, ref: Ref) -> Body:
    """The object of an annotated tag: who tagged what, and why."""
    commit, sha, git = ref.commit, tag_object_sha(repo, ref), f"{site.repo(repo)}/git"
    return {
        "node_id": f"TA_kwDO{repo.id:x}{sha[:20]}",
        "tag": ref.name,
        "sha": sha,
        "url": f"{git}/tags/{sha}",
        "message": f"Version {ref.name}\n",
        "tagger": {"name": commit.committer_name, "email": commit.committer_email, "date": commit.committed_at},
        "object": {"sha": commit.sha, "type": "commit", "url": f"{git}/commits/{commit.sha}"},
        "verification": _UNSIGNED,
    }


def git_ref(site: Site, repo: Repo, ref: Ref, *, kind: str) -> Body:
    """A ref of that kind (`heads` or `tags`): it names a commit, or the object of an annotated tag."""
    name, git = f"refs/{kind}/{ref.name}", f"{site.repo(repo)}/git"
    sha = tag_object_sha(repo, ref) if kind == "tags" else ""
    named = {"sha": sha, "type": "tag", "url": f"{git}/tags/{sha}"}
    commit = {"sha": ref.commit.sha, "type": "commit", "url": f"{git}/commits/{ref.commit.sha}"}
    return {
        "ref": name,
        "node_id": f"REF_kwDO{repo.id:x}{kind[0]}{ref.commit.sha[:12]}",
        "url": f"{site.repo(repo)}/git/{quoted_ref(name)}",
        "object": named if sha else commit,
    }
