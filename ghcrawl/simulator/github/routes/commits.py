"""Commits, comments on them, branches, tags and refs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.code import Commit, Ref
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found
from ghcrawl.simulator.github.routes.finders import every, listed, numbered, single
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import commits as shapes


def find_commit(repo: Repo, text: str) -> Commit:
    """The commit of that sha, of seven digits of it or more, or at the tip of that branch or tag.

    Raises Refusal: 409 in an empty repository, 422 for what names no commit.
    """
    if not repo.commits:
        raise Refusal(refused(409, "Git Repository is empty."))
    ref = repo.branches.get(text) or repo.tags.get(text)
    if ref is not None:
        return ref.commit
    if text in repo.commits:
        return repo.commits[text]
    matching = [commit for sha, commit in repo.commits.items() if len(text) >= 7 and sha.startswith(text)]
    if len(matching) != 1:
        raise Refusal(refused(422, f"No commit found for SHA: {text}"))
    return matching[0]


def commits(ask: Ask, repo: Repo) -> Many[Commit]:
    """`/commits`: newest first, of the default branch unless `sha` says otherwise."""
    head = find_commit(repo, ask.params.get("sha") or repo.default_branch)
    since, until, author = ask.moment("since"), ask.moment("until") or "9999", ask.params.get("author", "").lower()
    wanted = [
        commit
        for commit in repo.history(head)
        if since <= commit.committed_at <= until
        and (not author or author in ((commit.author.login.lower() if commit.author else ""), commit.author_email))
    ]
    return Many(
        elements=wanted,
        shape=lambda commit: shapes.listed_commit(ask.site, repo, commit),
        last_modified=wanted[0].committed_at if wanted else None,
    )


def compare(ask: Ask, repo: Repo, ends: str) -> Many[Commit]:
    """`/compare/{base}...{head}`: what `head` reaches and `base` does not, oldest first.

    Raises Refusal: 404 where either end names nothing (any more).
    """
    base, dots, head = ends.partition("...")
    try:
        old, new = find_commit(repo, base), find_commit(repo, head)
    except Refusal:
        raise not_found() from None
    if not dots:
        raise not_found()
    known = set(repo.history(old))
    ahead = [commit for commit in repo.history(new) if commit not in known][::-1]
    behind = len(known - set(repo.history(new)))
    state = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
    status = state.get((bool(ahead), bool(behind)), "diverged")
    counts = {"status": status, "ahead_by": len(ahead), "behind_by": behind, "total_commits": len(ahead)}
    url = f"{ask.site.repo(repo)}/compare/{base}...{head}"
    return Many(
        elements=ahead,
        shape=lambda commit: shapes.listed_commit(ask.site, repo, commit),
        wrap=lambda bodies, _: {"url": url, **counts, "commits": bodies, "files": []},
    )


def branches(ask: Ask, repo: Repo) -> Many[Ref]:
    """`/branches`: by name; `protected` admits only those that are, or are not."""
    wanted = ask.params.get("protected", "")
    refs = [ref for ref in repo.branches.values() if wanted in ("", str(ref.protected).lower())]
    return Many(
        elements=sorted(refs, key=lambda ref: ref.name),
        shape=lambda ref: shapes.listed_branch(ask.site, repo, ref),
    )


def branch(ask: Ask, repo: Repo, name: str) -> One:
    """`/branches/{name}`, its slashes encoded or not."""
    ref = repo.branches.get(name)
    if ref is None:
        raise Refusal(refused(404, "Branch not found"))
    return One(body=shapes.branch(ask.site, repo, ref))


def tags(ask: Ask, repo: Repo) -> Many[Ref]:
    """`/tags`: by name, the last one first."""
    return Many(
        elements=sorted(repo.tags.values(), key=lambda ref: ref.name, reverse=True),
        shape=lambda ref: shapes.tag(ask.site, repo, ref),
        last_modified=repo.pushed_at if repo.tags else None,
    )


def _refs(repo: Repo) -> Mapping[str, tuple[str, Ref]]:
    heads = {f"heads/{name}": ("heads", ref) for name, ref in sorted(repo.branches.items())}
    return heads | {f"tags/{name}": ("tags", ref) for name, ref in sorted(repo.tags.items())}


def matching_refs(ask: Ask, repo: Repo, prefix: str) -> Many[tuple[str, Ref]]:
    """`/git/matching-refs/{prefix}`."""
    return Many(
        elements=[entry for name, entry in _refs(repo).items() if name.startswith(prefix)],
        shape=lambda entry: shapes.git_ref(ask.site, repo, entry[1], kind=entry[0]),
        last_modified=repo.pushed_at,
    )


def git_ref(ask: Ask, repo: Repo, name: str) -> One:
    """`/git/ref/{name}`."""
    kind, ref = found(_refs(repo).get(name))
    return One(body=shapes.git_ref(ask.site, repo, ref, kind=kind), last_modified=repo.pushed_at)


def _annotated(repo: Repo, sha: str) -> Ref | None:
    """The tag whose object has that sha."""
    return next((each for each in repo.tags.values() if shapes.tag_object_sha(repo, each) == sha), None)


ROUTES: Final[dict[str, Finder]] = {
    "commits": commits,
    "commits/{sha}/comments": listed(
        lambda repo, text: repo.comments_on(find_commit(repo, text)), shapes.commit_comment
    ),
    "commits/{ref*}": single(find_commit, shapes.commit, dated="committed_at"),
    "compare/{ends*}": compare,
    "comments": listed(every("commit_comments"), shapes.commit_comment),
    "comments/{id}": single(numbered("commit_comments"), shapes.commit_comment),
    "branches": branches,
    "tags": tags,
    "git/matching-refs/{prefix*}": matching_refs,
    "git/ref/{name*}": git_ref,
    "git/tags/{sha}": single(_annotated, shapes.tag_object, dated="commit.committed_at"),
}
