"""Issues and what hangs on them: comments, labels, milestones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Issue, IssueComment, Label, Milestone, Repo, ReviewComment
from ghcrawl.simulator.github.refusals import moved, refused
from ghcrawl.simulator.github.routes.ask import Ask, Key, Many, One, found, number
from ghcrawl.simulator.github.routes.finders import every, listed, numbered, single
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import issues as shapes

C = TypeVar("C", IssueComment, ReviewComment)


def find_issue(repo: Repo, text: str) -> Issue:
    """The issue of that number. Raises Refusal: 410 for one that was deleted or on a repository without issues."""
    wanted = number(text)
    if wanted in repo.deleted_issues:
        raise Refusal(refused(410, "This issue was deleted"))
    issue = found(repo.issues.get(wanted))
    if not repo.has_issues and issue.pull is None:
        raise _disabled()
    return issue


def _disabled() -> Refusal:
    return Refusal(refused(410, "Issues has been disabled in this repository."))


def order(sort: str) -> Callable[[Issue], Key]:
    """The key of a list of issues or pull requests that is sorted by `sort`."""
    if sort in ("comments", "popularity"):
        return lambda issue: (len(issue.comments), issue.number)
    field = "updated_at" if sort == "updated" else "created_at"
    return lambda issue: (getattr(issue, field), issue.number)


def since(ask: Ask, comments: Iterable[C]) -> list[C]:
    """The comments that were written or changed since the moment that is asked for."""
    moment = ask.moment("since")
    return [comment for comment in comments if comment.updated_at >= moment]


def in_order(ask: Ask, comments: list[C]) -> list[C]:
    """Comments by id unless `sort` says otherwise; `direction` alone says nothing."""
    if "sort" not in ask.params:
        return comments
    field = "updated_at" if ask.choice("sort", ("created", "updated")) == "updated" else "created_at"
    return sorted(comments, key=lambda each: (getattr(each, field), each.id), reverse=ask.descends(default=False))


def issues(ask: Ask, repo: Repo) -> Many[Issue]:
    """`/issues`: open ones unless `state` says otherwise, newest first, pull requests among them."""
    if not repo.has_issues:
        raise _disabled()
    state, moment = ask.choice("state", ("open", "closed", "all")), ask.moment("since")
    key, descending = order(ask.choice("sort", ("created", "updated", "comments"))), ask.descends(default=True)
    wanted = (issue for issue in repo.issues.values() if state in ("all", issue.state) and issue.updated_at >= moment)
    return Many(
        elements=sorted(wanted, key=key, reverse=descending),
        shape=lambda issue: shapes.listed_issue(ask.site, repo, issue),
        key=key,
        descending=descending,
    )


def issue(ask: Ask, repo: Repo, text: str) -> One:
    """`/issues/{number}`: one that was transferred is elsewhere."""
    moved_to = repo.moved_issues.get(number(text))
    if moved_to is not None:
        raise Refusal(moved("{}/repositories/{}/issues/{}".format(ask.site.base, *moved_to)))
    thing = find_issue(repo, text)
    return One(body=shapes.issue(ask.site, repo, thing), last_modified=thing.updated_at)


def issue_comments(ask: Ask, repo: Repo, text: str) -> Many[IssueComment]:
    """`/issues/{number}/comments`: by id."""
    return _comments(ask, repo, since(ask, find_issue(repo, text).comments))


def repo_comments(ask: Ask, repo: Repo) -> Many[IssueComment]:
    """`/issues/comments`: by id unless `sort` says otherwise."""
    return _comments(ask, repo, in_order(ask, since(ask, repo.issue_comments.values())))


def _comments(ask: Ask, repo: Repo, comments: list[IssueComment]) -> Many[IssueComment]:
    return Many(elements=comments, shape=lambda comment: shapes.issue_comment(ask.site, repo, comment))


def _label(repo: Repo, name: str) -> Label | None:
    """The label of that name, in any case."""
    return next((each for each in repo.labels.values() if each.name.lower() == name.lower()), None)


def milestones(ask: Ask, repo: Repo) -> Many[Milestone]:
    """`/milestones`: open ones unless `state` says otherwise, by due date; those without one come last."""
    state = ask.choice("state", ("open", "closed", "all"))
    wanted = [each for each in repo.milestones.values() if state in ("all", "closed" if each.closed_at else "open")]
    key = _due if ask.choice("sort", ("due_on", "completeness")) == "due_on" else _completeness
    return Many(
        elements=sorted(wanted, key=key, reverse=ask.descends(default=False)),
        shape=lambda each: shapes.milestone(ask.site, repo, each),
    )


def _due(milestone: Milestone) -> tuple[Any, int]:
    return milestone.due_on or "9999", milestone.number


def _completeness(milestone: Milestone) -> tuple[Any, int]:
    total = milestone.open_issues + milestone.closed_issues
    return (milestone.closed_issues / total if total else 0.0), milestone.number


ROUTES: Final[dict[str, Finder]] = {
    "issues": issues,
    "issues/{number}": issue,
    "issues/{number}/comments": issue_comments,
    "issues/{number}/labels": listed(lambda repo, text: find_issue(repo, text).labels, shapes.label),
    "issues/comments": repo_comments,
    "issues/comments/{id}": single(numbered("issue_comments"), shapes.issue_comment),
    "labels": listed(every("labels"), shapes.label),
    "labels/{name}": single(_label, shapes.label, dated="updated_at"),
    "milestones": milestones,
    "milestones/{number}": single(numbered("milestones"), shapes.milestone, dated="updated_at"),
}
