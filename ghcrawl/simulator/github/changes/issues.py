"""Changes to issues, their comments, labels and milestones."""

from __future__ import annotations

from collections.abc import Sequence

from ghcrawl.simulator.github.changes.change import Change, happened, note
from ghcrawl.simulator.github.entities import Issue, IssueComment, Label, Milestone, Repo
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace


def open_issue(world: World, repo: Repo, *, by: User, title: str = "It broke", labels: Sequence[Label] = ()) -> Change:
    """A new issue; the subject of the change."""
    issue = Issue(
        id=world.ids.take("issue"),
        number=repo.take_number(),
        title=title,
        body="Again.",
        user=by,
        created_at=world.now(),
        labels=list(labels),
    )
    repo.issues[issue.number] = issue
    return happened(world, "issues.opened", issue, repo=repo, actor=by)


def edit_issue(world: World, repo: Repo, issue: Issue, *, title: str | None = None, body: str | None = None) -> Change:
    """Another title or body, or both; of a pull request too."""
    before = {"title": issue.title, "body": issue.body}
    issue.title = issue.title if title is None else title
    issue.body = issue.body if body is None else body
    issue.updated_at = world.now()
    what = "pull_request.edited" if issue.pull else "issues.edited"
    return happened(world, what, issue, repo=repo, before=before)


def close(world: World, repo: Repo, issue: Issue, *, by: User) -> Change:
    """The issue, or the pull request unmerged, is closed."""
    issue.closed_at = issue.updated_at = world.now()
    issue.closed_by = by
    if issue.pull is None:
        issue.state_reason = "completed"
    note(world, repo, issue, "closed", by)
    _touch_milestone(world, issue)
    return happened(world, "pull_request.closed" if issue.pull else "issues.closed", issue, repo=repo, actor=by)


def reopen(world: World, repo: Repo, issue: Issue, *, by: User) -> Change:
    """It is open again, without `closed_by`."""
    issue.closed_at = issue.closed_by = None
    issue.state_reason = None if issue.pull else "reopened"
    note(world, repo, issue, "reopened", by)
    issue.updated_at = world.now()
    _touch_milestone(world, issue)
    return happened(world, "pull_request.reopened" if issue.pull else "issues.reopened", issue, repo=repo, actor=by)


def _touch_milestone(world: World, issue: Issue) -> None:
    if issue.milestone is not None:
        issue.milestone.updated_at = world.now()


def delete_issue(world: World, repo: Repo, issue: Issue) -> Change:
    """The issue and its comments are gone: 410 from now on, and absent from every list."""
    repo.delete_issue(issue)
    return happened(world, "issues.deleted", issue, repo=repo)


def transfer_issue(world: World, repo: Repo, issue: Issue, into: Repo) -> Change:
    """It lies in another repository, under another number, with what was said on it; its old URL leads there."""
    now = world.now()
    moved = replace(
        issue,
        id=world.ids.take("issue"),
        number=into.take_number(),
        updated_at=now,
        labels=[],
        milestone=None,
        comments=[],
    )
    into.updated_at = now
    for each in issue.comments:
        into.add_comment(replace(each, id=world.ids.take("issue_comment"), issue=moved))
    delete_issue(world, repo, issue)
    repo.deleted_issues.remove(issue.number)
    repo.moved_issues[issue.number] = (into.id, moved.number)
    into.issues[moved.number] = moved
    into.recount()
    return happened(world, "issues.transferred", issue, repo=repo, before={"issue": moved, "repo": into})


def assign(world: World, repo: Repo, issue: Issue, users: Sequence[User]) -> Change:
    """These are the assignees from now on."""
    for user in users:
        if user not in issue.assignees:
            note(world, repo, issue, "assigned", issue.user, assignee=user)
    issue.assignees = list(users)
    issue.updated_at = world.now()
    return happened(world, "issues.assigned", issue, repo=repo)


def label_issue(world: World, repo: Repo, issue: Issue, labels: Sequence[Label]) -> Change:
    """These are the labels from now on."""
    for label in [*issue.labels, *labels]:
        if (label in issue.labels) != (label in labels):
            note(world, repo, issue, "labeled" if label in labels else "unlabeled", issue.user, label=label)
    issue.labels = list(labels)
    issue.updated_at = world.now()
    return happened(world, "issues.labeled", issue, repo=repo)


def comment(world: World, repo: Repo, issue: Issue, *, by: User, body: str = "Me too.") -> Change:
    """A comment; it bumps the issue."""
    made = IssueComment(id=world.ids.take("issue_comment"), issue=issue, user=by, body=body, created_at=world.now())
    repo.add_comment(made)
    return happened(world, "issue_comment.created", made, repo=repo, actor=by)


def edit_comment(world: World, repo: Repo, comment: IssueComment, *, body: str) -> Change:
    """The comment says something else; it bumps the issue."""
    before, comment.body = comment.body, body
    comment.updated_at = comment.issue.updated_at = world.now()
    return happened(world, "issue_comment.edited", comment, repo=repo, before={"body": before})


def delete_comment(world: World, repo: Repo, comment: IssueComment) -> Change:
    """The comment is gone. The issue counts one less and is not bumped: only a full look finds out."""
    comment.issue.comments.remove(comment)
    del repo.issue_comments[comment.id]
    return happened(world, "issue_comment.deleted", comment, repo=repo)


def add_label(world: World, repo: Repo, name: str) -> Change:
    """A new label."""
    label = Label(id=world.ids.take("label"), name=name, color="ededed", description=None, updated_at=world.now())
    repo.labels[label.id] = label
    return happened(world, "label.created", label, repo=repo)


def edit_label(world: World, repo: Repo, label: Label, *, name: str) -> Change:
    """The label is called something else on every issue, and no issue is bumped."""
    before, label.name = label.name, name
    label.updated_at = world.now()
    return happened(world, "label.edited", label, repo=repo, before={"name": before})


def delete_label(world: World, repo: Repo, label: Label) -> Change:
    """The label is gone, from every issue too."""
    del repo.labels[label.id]
    for issue in repo.issues.values():
        if label in issue.labels:
            issue.labels.remove(label)
    return happened(world, "label.deleted", label, repo=repo)


def add_milestone(world: World, repo: Repo, *, by: User, title: str) -> Change:
    """A new milestone."""
    milestone = Milestone(
        id=world.ids.take("milestone"),
        number=max(repo.milestones, default=0) + 1,
        title=title,
        description=None,
        creator=by,
        created_at=world.now(),
    )
    repo.milestones[milestone.number] = milestone
    return happened(world, "milestone.created", milestone, repo=repo, actor=by)
