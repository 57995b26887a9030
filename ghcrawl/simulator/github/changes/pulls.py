"""Changes to pull requests and to the code."""

from __future__ import annotations

from ghcrawl.simulator.github.changes.change import Change, happened, note
from ghcrawl.simulator.github.code import Commit, Ref
from ghcrawl.simulator.github.entities import CommitComment, Issue, Pull, Repo, Review, ReviewComment
from ghcrawl.simulator.github.generation.accounts import WEB_FLOW
from ghcrawl.simulator.github.generation.chronicle import make_commit
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.world import World


def _write(world: World, repo: Repo, by: User, parents: tuple[Commit, ...], message: str) -> Commit:
    return make_commit(repo, by, parents=parents, when=world.now(), message=message)


def _pushed(world: World, repo: Repo) -> None:
    repo.pushed_at = repo.updated_at = world.now()


def push(world: World, repo: Repo, *, by: User, branch: str = "", count: int = 1, drop: int = 0) -> Change:
    """`count` commits on `branch` (the default branch where empty), which is made if it is not there.

    drop: a force push, which first takes that many commits off its tip. Open pull requests from it follow.
    """
    name = branch or repo.default_branch
    ref = repo.branches.get(name)
    base = ref.commit if ref else repo.head
    before = ref.commit.sha if ref else ""
    tip = base
    for _ in range(drop):
        tip = tip.parents[0] if tip and tip.parents else tip
    added: list[Commit] = []
    for number in range(count):
        tip = _write(world, repo, by, (tip,) if tip else (), f"Push {number + 1} of {count}")
        added.append(tip)
    assert tip is not None
    repo.branches[name] = Ref(name=name, commit=tip, protected=ref.protected if ref else False)
    _pushed(world, repo)
    _follow(world, repo, name, added, drop=drop)
    told = {"sha": before, "ref": f"refs/heads/{name}", "forced": drop > 0}
    return happened(world, "push", tip, repo=repo, actor=by, before=told)


def _follow(world: World, repo: Repo, branch: str, added: list[Commit], *, drop: int) -> None:
    for issue in repo.open_pulls_from(branch):
        commits = issue.request.commits
        issue.request.commits = commits[: max(0, len(commits) - drop)] + added
        issue.updated_at = world.now()


def create_branch(world: World, repo: Repo, name: str) -> Change:
    """A branch at the tip of the default branch. Raises ValueError in an empty repository."""
    repo.branches[name] = Ref(name=name, commit=repo.tip)
    _pushed(world, repo)
    return happened(world, "create", repo.branches[name], repo=repo)


def delete_branch(world: World, repo: Repo, name: str) -> Change:
    """The branch is gone; commits that only it led to are in no list any more."""
    ref = repo.branches.pop(name)
    _pushed(world, repo)
    return happened(world, "delete", ref, repo=repo)


def open_pull(world: World, repo: Repo, *, by: User, commits: int = 1) -> Change:
    """A pull request from a new branch with that many commits. Raises ValueError in an empty repository."""
    base = repo.tip
    number = repo.take_number()
    tip, added = base, []
    for each in range(commits):
        tip = _write(world, repo, by, (tip,), f"Mend it, part {each + 1}")
        added.append(tip)
    pull = Pull(
        id=world.ids.take("pull"),
        head_ref=f"{by.login.lower()}/{number}",
        head_repo=repo,
        base_ref=repo.default_branch,
        base_sha=base.sha,
        commits=added,
    )
    issue = Issue(
        id=world.ids.take("issue"),
        number=number,
        title="Mend it",
        body=None,
        user=by,
        created_at=world.now(),
        pull=pull,
    )
    repo.issues[number] = issue
    repo.branches[pull.head_ref] = Ref(name=pull.head_ref, commit=tip)
    _pushed(world, repo)
    return happened(world, "pull_request.opened", issue, repo=repo, actor=by)


def merge(world: World, repo: Repo, issue: Issue, *, by: User) -> Change:
    """The pull request is merged by a merge commit, and closed."""
    pull = issue.request
    commit = _write(
        world, repo, by, (repo.tip, pull.commits[-1]), f"Merge pull request #{issue.number}\n\n{issue.title}"
    )
    commit.committer = world.user(WEB_FLOW)
    commit.committer_name, commit.committer_email = "GitHub", "noreply@github.com"
    repo.branches[repo.default_branch].commit = commit
    pull.merged_at = issue.closed_at = issue.updated_at = world.now()
    pull.merged_by = issue.closed_by = by
    pull.merge_commit_sha = commit.sha
    note(world, repo, issue, "merged", by, commit_id=commit.sha)
    note(world, repo, issue, "closed", by)
    _pushed(world, repo)
    return happened(world, "pull_request.closed", issue, repo=repo, actor=by)


def review(world: World, repo: Repo, issue: Issue, *, by: User, remarks: tuple[str, ...] = ()) -> Change:
    """A review that approves, with a comment on a line for each of `remarks`; it bumps the pull request."""
    pull, now = issue.request, world.now()
    made = Review(
        id=world.ids.take("review"),
        user=by,
        body="",
        state="APPROVED",
        submitted_at=now,
        commit_id=pull.commits[-1].sha,
    )
    pull.reviews.append(made)
    for line, remark in enumerate(remarks, start=1):
        comment = ReviewComment(
            id=world.ids.take("review_comment"),
            issue=issue,
            review=made,
            user=by,
            path="README.md",
            line=line,
            body=remark,
            created_at=now,
        )
        pull.comments.append(comment)
        repo.review_comments[comment.id] = comment
    issue.updated_at = now
    return happened(world, "pull_request_review.submitted", made, repo=repo, actor=by)


def edit_review_comment(world: World, repo: Repo, comment: ReviewComment, *, body: str) -> Change:
    """The comment says something else; it bumps the pull request."""
    before, comment.body = comment.body, body
    comment.updated_at = comment.issue.updated_at = world.now()
    return happened(world, "pull_request_review_comment.edited", comment, repo=repo, before={"body": before})


def delete_review_comment(world: World, repo: Repo, comment: ReviewComment) -> Change:
    """The comment is gone; nothing is bumped."""
    comment.issue.request.comments.remove(comment)
    del repo.review_comments[comment.id]
    return happened(world, "pull_request_review_comment.deleted", comment, repo=repo)


def comment_commit(world: World, repo: Repo, commit: Commit, *, by: User) -> Change:
    """A comment on a commit; nothing is bumped."""
    made = CommitComment(
        id=world.ids.take("commit_comment"),
        commit=commit,
        user=by,
        body="Why?",
        path=None,
        line=None,
        created_at=world.now(),
    )
    repo.commit_comments[made.id] = made
    return happened(world, "commit_comment.created", made, repo=repo, actor=by)
