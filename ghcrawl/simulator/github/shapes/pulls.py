"""Pull requests, reviews and the comments on their lines."""

from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.simulator.github.entities import Issue, Repo, Review, ReviewComment
from ghcrawl.simulator.github.people import Owner
from ghcrawl.simulator.github.shapes.accounts import association, maybe_user, simple_user
from ghcrawl.simulator.github.shapes.commits import diff_of
from ghcrawl.simulator.github.shapes.issues import any_comment, both_sides
from ghcrawl.simulator.github.shapes.repos import embedded_repo
from ghcrawl.simulator.github.shapes.site import Body, Site, ids
from ghcrawl.simulator.github.world import World


def listed_pull(site: Site, world: World, repo: Repo, issue: Issue) -> Body:
    """A pull request as an element of a list: its two ends embed whole repositories, so its ETag hardly ever holds."""
    pull = issue.request
    links = _links(site, repo, issue)
    page, head_owner = links["html"], pull.head_repo.owner if pull.head_repo else issue.user
    return {
        **{f"{name}_url": href for name, href in links.items() if name != "self"},
        **both_sides(site, repo, issue),
        "url": links["self"],
        **ids("PR", repo.id, pull.id),
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": pull.merged_at,
        "merge_commit_sha": pull.merge_commit_sha or pull.commits[-1].sha[::-1],
        "requested_reviewers": [simple_user(site, user) for user in pull.requested_reviewers],
        "draft": pull.draft,
        "head": _end(site, world, pull.head_repo, head_owner, pull.head_ref) | {"sha": pull.commits[-1].sha},
        "base": _end(site, world, repo, repo.owner, pull.base_ref) | {"sha": pull.base_sha},
        "_links": _hrefs(links),
        "requested_teams": [],
        "auto_merge": None,
    }


def _end(site: Site, world: World, repo: Repo | None, owner: Owner | None, ref: str) -> Body:
    """Where commits come from, or go to."""
    return {
        "label": f"{owner.login if owner else 'unknown'}:{ref}",
        "ref": ref,
        "user": simple_user(site, owner) if owner else None,
        "repo": embedded_repo(site, world, repo) if repo else None,
    }


def _links(site: Site, repo: Repo, issue: Issue) -> dict[str, str]:
    """What a pull request leads to; `_links` and its URLs say the same."""
    url, api = f"{site.repo(repo)}/pulls/{issue.number}", site.repo(repo)
    return {
        "self": url,
        "html": f"{site.page(repo)}/pull/{issue.number}",
        "issue": f"{api}/issues/{issue.number}",
        "comments": f"{api}/issues/{issue.number}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{api}/statuses/{issue.request.commits[-1].sha}",
    }


def _hrefs(links: Mapping[str, str]) -> Body:
    return {name: {"href": href} for name, href in links.items()}


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
        **ids("PRR", repo.id, review.id),
        "user": maybe_user(site, review.user),
        "body": review.body,
        "state": review.state,
        "html_url": html,
        "pull_request_url": url,
        "author_association": association(review.user, repo.owner),
        "_links": _hrefs({"html": html, "pull_request": url}),
        "submitted_at": review.submitted_at,
        "commit_id": review.commit_id,
    }


def review_comment(site: Site, repo: Repo, comment: ReviewComment) -> Body:
    """A comment on a line of a pull request's diff."""
    url = f"{site.repo(repo)}/pulls/comments/{comment.id}"
    pull_url = f"{site.repo(repo)}/pulls/{comment.issue.number}"
    html = f"{site.page(repo)}/pull/{comment.issue.number}#discussion_r{comment.id}"
    body: Body = {
        **any_comment(site, repo, comment, kind="PRRC", url=url),
        "pull_request_review_id": comment.review.id,
        "diff_hunk": f"@@ -1,3 +{comment.line},5 @@",
        "path": comment.path,
        "commit_id": comment.review.commit_id,
        "original_commit_id": comment.review.commit_id,
        "html_url": html,
        "pull_request_url": pull_url,
        "_links": _hrefs({"self": url, "html": html, "pull_request": pull_url}),
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
