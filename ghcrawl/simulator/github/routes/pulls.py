"""Pull requests, their reviews, comments, commits and files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ghcrawl.simulator.github.code import Commit
from ghcrawl.simulator.github.entities import Issue, Pull, Repo, Review, ReviewComment
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number
from ghcrawl.simulator.github.routes.commits import find_commit
from ghcrawl.simulator.github.routes.finders import listed, numbered, of_id, single
from ghcrawl.simulator.github.routes.issues import in_order, order, since
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import commits
from ghcrawl.simulator.github.shapes import pulls as shapes
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.site import Body

MAX_COMMITS: Final = 250
"""More commits of a pull request than that are never listed."""


def find_pull(repo: Repo, text: str) -> tuple[Issue, Pull]:
    """The pull request of that number, both sides of it. Raises Refusal (404), for plain issues too."""
    issue = found(repo.issues.get(number(text)))
    return issue, found(issue.pull)


def pulls(ask: Ask, repo: Repo) -> Many[Issue]:
    """`/pulls`: open ones unless `state` says otherwise; only the default sort puts the newest first."""
    state = ask.choice("state", ("open", "closed", "all"))
    sort = ask.choice("sort", ("created", "updated", "popularity", "long-running"))
    wanted = [issue for issue in repo.pulls if state in ("all", issue.state)]
    return Many(
        elements=sorted(wanted, key=order(sort), reverse=ask.descends(default=sort == "created")),
        shape=lambda issue: shapes.listed_pull(ask.site, ask.world, repo, issue),
    )


def requested_reviewers(ask: Ask, repo: Repo, text: str) -> One:
    """`/pulls/{number}/requested_reviewers`: those who have not reviewed it yet. No teams are asked here."""
    _, thing = find_pull(repo, text)
    return One(body={"users": [simple_user(ask.site, user) for user in thing.requested_reviewers], "teams": []})


def _reviews(repo: Repo, text: str) -> list[tuple[Issue, Review]]:
    """In the order in which they were made."""
    issue, thing = find_pull(repo, text)
    return [(issue, review) for review in thing.reviews]


def review_comments_of(ask: Ask, repo: Repo, text: str, review_id: str) -> Many[ReviewComment]:
    """`/pulls/{number}/reviews/{id}/comments`."""
    _, thing = find_pull(repo, text)
    wanted = number(review_id)
    return _comments(ask, repo, [each for each in thing.comments if each.review.id == wanted])


def _comments(ask: Ask, repo: Repo, comments: Iterable[ReviewComment]) -> Many[ReviewComment]:
    return Many(
        elements=in_order(ask, since(ask, comments)),
        shape=lambda comment: shapes.review_comment(ask.site, repo, comment),
    )


def pull_comments(ask: Ask, repo: Repo, text: str) -> Many[ReviewComment]:
    """`/pulls/{number}/comments`: by id unless `sort` says otherwise."""
    return _comments(ask, repo, find_pull(repo, text)[1].comments)


def repo_comments(ask: Ask, repo: Repo) -> Many[ReviewComment]:
    """`/pulls/comments`: by id unless `sort` says otherwise."""
    return _comments(ask, repo, repo.review_comments.values())


def pull_commits(ask: Ask, repo: Repo, text: str) -> Many[Commit]:
    """`/pulls/{number}/commits`, oldest first, never more than 250."""
    _, thing = find_pull(repo, text)
    return Many(
        elements=thing.commits[:MAX_COMMITS],
        shape=lambda commit: commits.listed_commit(ask.site, repo, commit),
        last_modified=thing.commits[-1].committed_at,
    )


def files_of_pull(ask: Ask, repo: Repo, text: str) -> Many[Body]:
    """`/pulls/{number}/files`: of each file the last change."""
    _, thing = find_pull(repo, text)
    files = (file for commit in thing.commits for file in commits.commit(ask.site, repo, commit)["files"])
    return Many(elements=list({file["filename"]: file for file in files}.values()), shape=lambda each: each)


def _pulls_of_commit(repo: Repo, text: str) -> list[Issue]:
    """Those that brought the commit."""
    commit = find_commit(repo, text)
    pairs = ((issue, issue.request) for issue in repo.pulls)
    return [issue for issue, pull in pairs if commit in pull.commits or pull.merge_commit_sha == commit.sha]


ROUTES: Final[dict[str, Finder]] = {
    "pulls": pulls,
    "pulls/{number}": single(
        lambda repo, text: find_pull(repo, text)[0], shapes.pull, dated="updated_at", in_world=True
    ),
    "pulls/{number}/requested_reviewers": requested_reviewers,
    "pulls/{number}/reviews": listed(_reviews, shapes.review),
    "pulls/{number}/reviews/{id}": single(of_id(_reviews), shapes.review),
    "pulls/{number}/reviews/{id}/comments": review_comments_of,
    "pulls/{number}/comments": pull_comments,
    "pulls/{number}/commits": pull_commits,
    "pulls/{number}/files": files_of_pull,
    "pulls/comments": repo_comments,
    "pulls/comments/{id}": single(numbered("review_comments"), shapes.review_comment, dated="updated_at"),
    "commits/{sha}/pulls": listed(_pulls_of_commit, shapes.listed_pull, in_world=True),
}
