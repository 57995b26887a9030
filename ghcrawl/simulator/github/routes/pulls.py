"""Pull requests, their reviews, comments and commits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ghcrawl.simulator.github.entities import Commit, Issue, Pull, Repo, Review, ReviewComment
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number, ordered
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import pulls as shapes
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.commits import listed_commit

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

    def key(issue: Issue) -> tuple[str | int, int]:
        if sort == "popularity":
            return len(issue.comments), issue.number
        return issue.updated_at if sort == "updated" else issue.created_at, issue.number

    return Many(
        elements=ordered(wanted, key, descending=ask.descends(default=sort == "created")),
        shape=lambda issue: shapes.listed_pull(ask.site, ask.world, repo, issue),
    )


def pull(ask: Ask, repo: Repo, text: str) -> One:
    """`/pulls/{number}`."""
    issue, _ = find_pull(repo, text)
    return One(body=shapes.pull(ask.site, ask.world, repo, issue), last_modified=issue.updated_at)


def requested_reviewers(ask: Ask, repo: Repo, text: str) -> One:
    """`/pulls/{number}/requested_reviewers`: those who have not reviewed it yet. No teams are asked here."""
    _, thing = find_pull(repo, text)
    return One(body={"users": [simple_user(ask.site, user) for user in thing.requested_reviewers], "teams": []})


def reviews(ask: Ask, repo: Repo, text: str) -> Many[Review]:
    """`/pulls/{number}/reviews`, in the order in which they were made."""
    issue, thing = find_pull(repo, text)
    return Many(elements=thing.reviews, shape=lambda review: shapes.review(ask.site, repo, issue, review))


def review(ask: Ask, repo: Repo, text: str, review_id: str) -> One:
    """`/pulls/{number}/reviews/{id}`."""
    issue, thing = find_pull(repo, text)
    wanted = number(review_id)
    hit = found(next((each for each in thing.reviews if each.id == wanted), None))
    return One(body=shapes.review(ask.site, repo, issue, hit))


def review_comments_of(ask: Ask, repo: Repo, text: str, review_id: str) -> Many[ReviewComment]:
    """`/pulls/{number}/reviews/{id}/comments`."""
    _, thing = find_pull(repo, text)
    wanted = number(review_id)
    return _comments(ask, repo, [each for each in thing.comments if each.review.id == wanted])


def _comments(ask: Ask, repo: Repo, comments: Iterable[ReviewComment]) -> Many[ReviewComment]:
    since = ask.moment("since")
    wanted = [comment for comment in comments if comment.updated_at >= since]
    if "sort" in ask.params:
        by_update = ask.choice("sort", ("created", "created_at", "updated")) == "updated"
        descending = ask.descends(default=False)
        wanted = ordered(
            wanted, lambda each: (each.updated_at if by_update else each.created_at, each.id), descending=descending
        )
    return Many(elements=wanted, shape=lambda comment: shapes.review_comment(ask.site, repo, comment))


def pull_comments(ask: Ask, repo: Repo, text: str) -> Many[ReviewComment]:
    """`/pulls/{number}/comments`: by id unless `sort` says otherwise."""
    return _comments(ask, repo, find_pull(repo, text)[1].comments)


def repo_comments(ask: Ask, repo: Repo) -> Many[ReviewComment]:
    """`/pulls/comments`: by id unless `sort` says otherwise."""
    return _comments(ask, repo, repo.review_comments.values())


def review_comment(ask: Ask, repo: Repo, text: str) -> One:
    """`/pulls/comments/{id}`."""
    thing = found(repo.review_comments.get(number(text)))
    return One(body=shapes.review_comment(ask.site, repo, thing), last_modified=thing.updated_at)


def pull_commits(ask: Ask, repo: Repo, text: str) -> Many[Commit]:
    """`/pulls/{number}/commits`, oldest first, never more than 250."""
    _, thing = find_pull(repo, text)
    return Many(
        elements=thing.commits[:MAX_COMMITS],
        shape=lambda commit: listed_commit(ask.site, repo, commit),
        last_modified=thing.commits[-1].committed_at,
    )


ROUTES: Final[dict[str, Finder]] = {
    "pulls": pulls,
    "pulls/{number}": pull,
    "pulls/{number}/requested_reviewers": requested_reviewers,
    "pulls/{number}/reviews": reviews,
    "pulls/{number}/reviews/{id}": review,
    "pulls/{number}/reviews/{id}/comments": review_comments_of,
    "pulls/{number}/comments": pull_comments,
    "pulls/{number}/commits": pull_commits,
    "pulls/comments": repo_comments,
    "pulls/comments/{id}": review_comment,
}
