"""Issues and what hangs on them: comments, labels, milestones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Issue, IssueComment, Label, Milestone, Repo
from ghcrawl.simulator.github.refusals import moved, refused
from ghcrawl.simulator.github.routes.ask import Ask, Key, Many, One, found, number, ordered
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import issues as shapes


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


def issues(ask: Ask, repo: Repo) -> Many[Issue]:
    """`/issues`: open ones unless `state` says otherwise, newest first, pull requests among them."""
    if not repo.has_issues:
        raise _disabled()
    state, since = ask.choice("state", ("open", "closed", "all")), ask.moment("since")
    sort, descending = ask.choice("sort", ("created", "updated", "comments")), ask.descends(default=True)

    def key(issue: Issue) -> Key:
        if sort == "comments":
            return len(issue.comments), issue.number
        return issue.updated_at if sort == "updated" else issue.created_at, issue.number

    wanted = (issue for issue in repo.issues.values() if state in ("all", issue.state) and issue.updated_at >= since)
    return Many(
        elements=ordered(wanted, key, descending=descending),
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


def _comments(ask: Ask, repo: Repo, comments: Iterable[IssueComment]) -> Many[IssueComment]:
    since = ask.moment("since")
    return Many(
        elements=[comment for comment in comments if comment.updated_at >= since],
        shape=lambda comment: shapes.issue_comment(ask.site, repo, comment),
    )


def issue_comments(ask: Ask, repo: Repo, text: str) -> Many[IssueComment]:
    """`/issues/{number}/comments`: by id."""
    return _comments(ask, repo, find_issue(repo, text).comments)


def repo_comments(ask: Ask, repo: Repo) -> Many[IssueComment]:
    """`/issues/comments`: by id unless `sort` says otherwise; `direction` alone says nothing."""
    comments = list(repo.issue_comments.values())
    if "sort" in ask.params:
        by_update = ask.choice("sort", ("created", "updated")) == "updated"
        descending = ask.descends(default=False)
        comments = ordered(
            comments, lambda each: (each.updated_at if by_update else each.created_at, each.id), descending=descending
        )
    return _comments(ask, repo, comments)


def issue_comment(ask: Ask, repo: Repo, text: str) -> One:
    """`/issues/comments/{id}`."""
    return One(body=shapes.issue_comment(ask.site, repo, found(repo.issue_comments.get(number(text)))))


def labels(ask: Ask, repo: Repo) -> Many[Label]:
    """`/labels`."""
    return Many(elements=list(repo.labels.values()), shape=lambda label: shapes.label(ask.site, repo, label))


def issue_labels(ask: Ask, repo: Repo, text: str) -> Many[Label]:
    """`/issues/{number}/labels`."""
    return Many(elements=find_issue(repo, text).labels, shape=lambda label: shapes.label(ask.site, repo, label))


def label(ask: Ask, repo: Repo, name: str) -> One:
    """`/labels/{name}`, ignoring case."""
    matching = (each for each in repo.labels.values() if each.name.lower() == name.lower())
    thing = found(next(matching, None))
    return One(body=shapes.label(ask.site, repo, thing), last_modified=thing.updated_at)


def milestones(ask: Ask, repo: Repo) -> Many[Milestone]:
    """`/milestones`: open ones unless `state` says otherwise, by due date; those without one come last."""
    state = ask.choice("state", ("open", "closed", "all"))
    wanted = [each for each in repo.milestones.values() if state in ("all", "closed" if each.closed_at else "open")]
    key = _due if ask.choice("sort", ("due_on", "completeness")) == "due_on" else _completeness
    wanted = ordered(wanted, key, descending=ask.descends(default=False))
    return Many(elements=wanted, shape=lambda each: shapes.milestone(ask.site, repo, each))


def _due(milestone: Milestone) -> tuple[str | float, int]:
    return milestone.due_on or "9999", milestone.number


def _completeness(milestone: Milestone) -> tuple[str | float, int]:
    total = milestone.open_issues + milestone.closed_issues
    return (milestone.closed_issues / total if total else 0.0), milestone.number


def milestone(ask: Ask, repo: Repo, text: str) -> One:
    """`/milestones/{number}`."""
    thing = found(repo.milestones.get(number(text)))
    return One(body=shapes.milestone(ask.site, repo, thing), last_modified=thing.updated_at)


ROUTES: Final[dict[str, Finder]] = {
    "issues": issues,
    "issues/{number}": issue,
    "issues/{number}/comments": issue_comments,
    "issues/{number}/labels": issue_labels,
    "issues/comments": repo_comments,
    "issues/comments/{id}": issue_comment,
    "labels": labels,
    "labels/{name}": label,
    "milestones": milestones,
    "milestones/{number}": milestone,
}
