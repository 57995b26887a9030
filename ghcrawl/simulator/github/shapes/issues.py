"""Issues, their comments, labels and milestones."""

from __future__ import annotations

from ghcrawl.simulator.github.entities import Comment, Issue, IssueComment, Label, Milestone, Repo
from ghcrawl.simulator.github.shapes.accounts import association, maybe_user, simple_user
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, quoted, reactions


def label(site: Site, repo: Repo, label: Label) -> Body:
    """A label: the same alone, in lists and on issues."""
    return {
        **ids("LA", repo.id, label.id),
        "url": f"{site.repo(repo)}/labels/{quoted(label.name)}",
        "name": label.name,
        "color": label.color,
        "default": label.default,
        "description": label.description,
        "archived_at": None,
        "archived_by": None,
    }


def milestone(site: Site, repo: Repo, milestone: Milestone) -> Body:
    """A milestone: the same alone, in lists and on issues."""
    url = f"{site.repo(repo)}/milestones/{milestone.number}"
    return {
        "url": url,
        "html_url": f"{site.page(repo)}/milestone/{milestone.number}",
        "labels_url": f"{url}/labels",
        **ids("MI", repo.id, milestone.id),
        "number": milestone.number,
        "title": milestone.title,
        "description": milestone.description,
        "creator": maybe_user(site, milestone.creator),
        "open_issues": milestone.open_issues,
        "closed_issues": milestone.closed_issues,
        "state": "closed" if milestone.closed_at else "open",
        **dated(milestone),
        "due_on": milestone.due_on,
        "closed_at": milestone.closed_at,
    }


def issue_page(site: Site, repo: Repo, issue: Issue) -> str:
    """Where people read it."""
    return f"{site.page(repo)}/{'pull' if issue.pull else 'issues'}/{issue.number}"


def both_sides(site: Site, repo: Repo, issue: Issue) -> Body:
    """The fields that issues and pull requests share."""
    assignees = [simple_user(site, user) for user in issue.assignees]
    return {
        "html_url": issue_page(site, repo, issue),
        "number": issue.number,
        "title": issue.title,
        "user": maybe_user(site, issue.user),
        "labels": [label(site, repo, each) for each in issue.labels],
        "state": issue.state,
        "locked": issue.locked,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": milestone(site, repo, issue.milestone) if issue.milestone else None,
        **dated(issue),
        "closed_at": issue.closed_at,
        "author_association": association(issue.user, repo.owner),
        "active_lock_reason": None,
        "body": issue.body,
    }


def listed_issue(site: Site, repo: Repo, issue: Issue) -> Body:
    """An issue, or the issue side of a pull request, as an element of a list."""
    url = f"{site.repo(repo)}/issues/{issue.number}"
    body: Body = {
        "url": url,
        "repository_url": site.repo(repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        **ids("PR" if issue.pull else "I", repo.id, issue.id),
        **both_sides(site, repo, issue),
        "comments": len(issue.comments),
        "closed_by": maybe_user(site, issue.closed_by),
        "reactions": reactions(url, repo, issue),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": issue.state_reason,
    }
    return body | (_pull_side(site, repo, issue) if issue.pull else _issue_side())


def _pull_side(site: Site, repo: Repo, issue: Issue) -> Body:
    page = issue_page(site, repo, issue)
    links = {
        "url": f"{site.repo(repo)}/pulls/{issue.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": issue.request.merged_at,
    }
    return {"draft": issue.request.draft, "pull_request": links}


def _issue_side() -> Body:
    return {
        "type": None,
        "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
        "issue_dependencies_summary": {"blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0},
    }


def issue(site: Site, repo: Repo, issue: Issue) -> Body:
    """An issue at its own URL: since 2026 it says which comment is pinned, which no list does."""
    return {**listed_issue(site, repo, issue), "pinned_comment": None}


def any_comment(site: Site, repo: Repo, comment: Comment, *, kind: str, url: str) -> Body:
    """The fields that comments of all kinds share."""
    return {
        "url": url,
        **ids(kind, repo.id, comment.id),
        "user": maybe_user(site, comment.user),
        **dated(comment),
        "author_association": association(comment.user, repo.owner),
        "body": comment.body,
        "reactions": reactions(url, repo, comment),
    }


def issue_comment(site: Site, repo: Repo, comment: IssueComment) -> Body:
    """A comment on an issue: it names the issue's number, and never its id."""
    return {
        **any_comment(site, repo, comment, kind="IC", url=f"{site.repo(repo)}/issues/comments/{comment.id}"),
        "html_url": f"{issue_page(site, repo, comment.issue)}#issuecomment-{comment.id}",
        "issue_url": f"{site.repo(repo)}/issues/{comment.issue.number}",
        "performed_via_github_app": None,
    }
