"""Pull requests, reviews and the comments on their lines."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.github.entities import Issue, Pull, Repo, Review, ReviewComment
from ghcrawl.simulator.github.shapes.accounts import association, maybe_user, simple_user
from ghcrawl.simulator.github.shapes.commits import diff_of
from ghcrawl.simulator.github.shapes.issues import label, milestone
from ghcrawl.simulator.github.shapes.repos import embedded_repo
from ghcrawl.simulator.github.shapes.site import Body, Site, node_id, reactions
from ghcrawl.simulator.github.world import World

_NEVER_SET: Final[Body] = {"requested_teams": [], "auto_merge": None, "active_lock_reason": None}


def listed_pull(site: Site, world: World, repo: Repo, issue: Issue) -> Body:
    """A pull request as an element of a list: its two ends embed whole repositories, so its ETag hardly ever holds."""
    pull = issue.request
    url, page = f"{site.repo(repo)}/pulls/{issue.number}", f"{site.page(repo)}/pull/{issue.number}"
    assignees = [simple_user(site, user) for user in issue.assignees]
    return {
        "url": url,
        "id": pull.id,
        "node_id": node_id("PR", repo.id, pull.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": f"{site.repo(repo)}/issues/{issue.number}",
        "number": issue.number,
        "state": issue.state,
        "locked": issue.locked,
        "title": issue.title,
        "user": maybe_user(site, issue.user),
        "body": issue.body,
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": issue.closed_at,
        "merged_at": pull.merged_at,
        "merge_commit_sha": pull.merge_commit_sha or pull.commits[-1].sha[::-1],
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "requested_reviewers": [simple_user(site, user) for user in pull.requested_reviewers],
        "labels": [label(site, repo, each) for each in issue.labels],
        "milestone": milestone(site, repo, issue.milestone) if issue.milestone else None,
        "draft": pull.draft,
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{site.repo(repo)}/pulls/comments{{/number}}",
        "comments_url": f"{site.repo(repo)}/issues/{issue.number}/comments",
        "statuses_url": f"{site.repo(repo)}/statuses/{pull.commits[-1].sha}",
        "head": _head(site, world, issue, pull),
        "base": _base(site, world, repo, pull),
        "_links": _links(site, repo, issue, pull),
        "author_association": association(issue.user, repo.owner),
        **_NEVER_SET,
    }


def _head(site: Site, world: World, issue: Issue, pull: Pull) -> Body:
    owner = pull.head_repo.owner if pull.head_repo else issue.user
    return {
        "label": f"{owner.login if owner else 'unknown'}:{pull.head_ref}",
        "ref": pull.head_ref,
        "sha": pull.commits[-1].sha,
        "user": simple_user(site, owner) if owner else None,
        "repo": embedded_repo(site, world, pull.head_repo) if pull.head_repo else None,
    }


def _base(site: Site, world: World, repo: Repo, pull: Pull) -> Body:
    return {
        "label": f"{repo.owner.login}:{pull.base_ref}",
        "ref": pull.base_ref,
        "sha": pull.base_sha,
        "user": simple_user(site, repo.owner),
        "repo": embedded_repo(site, world, repo),
    }


def _links(site: Site, repo: Repo, issue: Issue, pull: Pull) -> Body:
    url = f"{site.repo(repo)}/pulls/{issue.number}"
    hrefs = {
        "self": url,
        "html": f"{site.page(repo)}/pull/{issue.number}",
        "issue": f"{site.repo(repo)}/issues/{issue.number}",
        "comments": f"{site.repo(repo)}/issues/{issue.number}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{site.repo(repo)}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{site.repo(repo)}/statuses/{pull.commits[-1].sha}",
    }
    return {name: {"href": href} for name, href in hrefs.items()}


def pull(site: Site, world: World, repo: Repo, issue: Issue) -> Body:
    """A pull request at its own URL."""
    pull = issue.request
    changes = [change for commit in pull.commits for change in diff_of(commit)]
    is_open = issue.closed_at is None
    return {
        **listed_pull(site, world, repo, issue),
        "merged": pull.merged_at is not None,
        "mergeable": True if is_open else None,
        "rebaseable": True if is_open else None,
        "mergeable_state": "clean" if is_open else "unknown",
        "merged_by": maybe_user(site, pull.merged_by),
        "comments": len(issue.comments),
        "review_comments": len(pull.comments),
        "maintainer_can_modify": False,
        "commits": len(pull.commits),
        "additions": sum(added for _, added, _ in changes),
        "deletions": sum(removed for *_, removed in changes),
        "changed_files": len({path for path, *_ in changes}),
    }


def review(site: Site, repo: Repo, issue: Issue, review: Review) -> Body:
    """A review."""
    url, page = f"{site.repo(repo)}/pulls/{issue.number}", f"{site.page(repo)}/pull/{issue.number}"
    html = f"{page}#pullrequestreview-{review.id}"
    return {
        "id": review.id,
        "node_id": node_id("PRR", repo.id, review.id),
        "user": maybe_user(site, review.user),
        "body": review.body,
        "state": review.state,
        "html_url": html,
        "pull_request_url": url,
        "author_association": association(review.user, repo.owner),
        "_links": {"html": {"href": html}, "pull_request": {"href": url}},
        "submitted_at": review.submitted_at,
        "commit_id": review.commit_id,
    }


def review_comment(site: Site, repo: Repo, comment: ReviewComment) -> Body:
    """A comment on a line of a pull request's diff."""
    url = f"{site.repo(repo)}/pulls/comments/{comment.id}"
    pull_url = f"{site.repo(repo)}/pulls/{comment.issue.number}"
    html = f"{site.page(repo)}/pull/{comment.issue.number}#discussion_r{comment.id}"
    body: Body = {
        "url": url,
        "pull_request_review_id": comment.review.id,
        "id": comment.id,
        "node_id": node_id("PRRC", repo.id, comment.id),
        "diff_hunk": f"@@ -1,3 +{comment.line},5 @@",
        "path": comment.path,
        "commit_id": comment.review.commit_id,
        "original_commit_id": comment.review.commit_id,
        "user": maybe_user(site, comment.user),
        "body": comment.body,
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "html_url": html,
        "pull_request_url": pull_url,
        "author_association": association(comment.user, repo.owner),
        "_links": {"self": {"href": url}, "html": {"href": html}, "pull_request": {"href": pull_url}},
        "reactions": reactions(url, repo, comment),
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": comment.line,
        "original_line": comment.line,
        "side": "RIGHT",
        "original_position": 1,
        "position": 1,
        "subject_type": "line",
    }
    return body | {"in_reply_to_id": comment.reply_to.id} if comment.reply_to else body
