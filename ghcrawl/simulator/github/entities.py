"""The things in a repository, and repositories. They change in place, because a world lives.

Only `changes` and `generation` write to them.

Moments are GitHub's own texts (`2026-11-21T16:43:00Z`): they sort as moments do and need no formatting on the way out.
Entities refer to one another directly, so that a rename is seen wherever the renamed thing is embedded. They compare
and hash by identity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from ghcrawl.simulator.github.code import Commit, Ref, Release, reachable
from ghcrawl.simulator.github.moments import Dated
from ghcrawl.simulator.github.people import Owner, User
from ghcrawl.simulator.github.records import Records

KEPT_HISTORIES: Final = 64
"""Heads whose histories a repository remembers; a live world never stops pushing."""

Standing = Literal["fine", "dmca", "tos"]
"""Whether GitHub itself has blocked a repository, and why."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Label:
    """A label of one repository. `updated_at` is never shown, but it is what Last-Modified says."""

    id: int
    name: str
    color: str
    description: str | None
    updated_at: str
    default: bool = False


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Milestone(Dated):
    """A milestone; the two counts are kept by `Repo.recount`."""

    id: int
    number: int
    title: str
    description: str | None
    creator: User | None
    due_on: str | None = None
    closed_at: str | None = None
    open_issues: int = 0
    closed_issues: int = 0


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Comment(Dated):
    """What all comments have. `user` None is an account that is gone."""

    id: int
    user: User | None
    body: str


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class IssueComment(Comment):
    """A comment on an issue or on a pull request's conversation."""

    issue: Issue


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Issue(Dated):
    """An issue, or the issue side of a pull request: then `pull` is set. `user` None is an account that is gone."""

    id: int
    number: int
    title: str
    body: str | None
    user: User | None
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    milestone: Milestone | None = None
    closed_at: str | None = None
    closed_by: User | None = None
    state_reason: str | None = None
    locked: bool = False
    comments: list[IssueComment] = field(default_factory=list)
    pull: Pull | None = None

    @property
    def state(self) -> Literal["open", "closed"]:
        """Open until it was closed."""
        return "closed" if self.closed_at else "open"

    @property
    def request(self) -> Pull:
        """Its pull request side. It must be a pull request."""
        assert self.pull is not None
        return self.pull


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Review:
    """A review of a pull request."""

    id: int
    user: User | None
    body: str
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"]
    submitted_at: str
    commit_id: str


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ReviewComment(Comment):
    """A comment on a line of a pull request's diff; `reply_to` is the comment that opened the thread."""

    issue: Issue
    review: Review
    path: str
    line: int
    reply_to: ReviewComment | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Pull:
    """What a pull request has beyond its issue. Its id is from another number space than the issue's.

    head_repo: None where the fork it came from was deleted.
    """

    id: int
    head_ref: str
    head_repo: Repo | None
    base_ref: str
    base_sha: str
    commits: list[Commit]
    draft: bool = False
    merged_at: str | None = None
    merged_by: User | None = None
    merge_commit_sha: str | None = None
    requested_reviewers: list[User] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    comments: list[ReviewComment] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class CommitComment(Comment):
    """A comment on a commit."""

    commit: Commit
    path: str | None
    line: int | None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Repo(Dated):
    """A repository with all that is in it. Comments of all kinds are in order of id, which is order of creation."""

    id: int
    owner: Owner
    name: str
    description: str | None
    pushed_at: str
    default_branch: str = "main"
    language: str | None = None
    topics: tuple[str, ...] = ()
    private: bool = False
    archived: bool = False
    has_issues: bool = True
    standing: Standing = "fine"
    parent: Repo | None = None
    records: Records = field(default_factory=Records)
    next_number: int = 1
    issues: dict[int, Issue] = field(default_factory=dict)
    deleted_issues: set[int] = field(default_factory=set)
    moved_issues: dict[int, tuple[int, int]] = field(default_factory=dict)
    issue_comments: dict[int, IssueComment] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    commit_comments: dict[int, CommitComment] = field(default_factory=dict)
    labels: dict[int, Label] = field(default_factory=dict)
    milestones: dict[int, Milestone] = field(default_factory=dict)
    releases: dict[int, Release] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, Ref] = field(default_factory=dict)
    tags: dict[str, Ref] = field(default_factory=dict)
    collaborators: dict[int, User] = field(default_factory=dict)
    open_issues: int = 0
    _histories: dict[str, tuple[Commit, ...]] = field(default_factory=dict)

    @property
    def stars(self) -> int:
        """How many like it."""
        return len(self.records.stars)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def pulls(self) -> list[Issue]:
        """The issues that are pull requests, by number."""
        return [issue for issue in self.issues.values() if issue.pull]

    def open_pulls_from(self, branch: str) -> list[Issue]:
        """The open pull requests whose commits are those of that branch of this repository."""
        return [
            issue
            for issue in self.pulls
            if issue.closed_at is None and issue.request.head_repo is self and issue.request.head_ref == branch
        ]

    @property
    def head(self) -> Commit | None:
        """The newest commit of the default branch; None in an empty repository."""
        ref = self.branches.get(self.default_branch)
        return ref.commit if ref else None

    @property
    def tip(self) -> Commit:
        """The newest commit of the default branch. Raises ValueError in an empty repository."""
        if self.head is None:
            raise ValueError(f"{self.full_name} is empty")
        return self.head

    def take_number(self) -> int:
        """The number of the next issue, pull request or discussion: they count together."""
        self.next_number += 1
        return self.next_number - 1

    def add_comment(self, comment: IssueComment) -> None:
        """Add a comment to its issue, and bump the issue."""
        comment.issue.comments.append(comment)
        comment.issue.updated_at = max(comment.issue.updated_at, comment.updated_at)
        self.issue_comments[comment.id] = comment

    def delete_issue(self, issue: Issue) -> None:
        """Delete an issue with its comments and events. Its number is never used again."""
        del self.issues[issue.number]
        self.deleted_issues.add(issue.number)
        for comment in issue.comments:
            del self.issue_comments[comment.id]
        events = self.records.issue_events
        for each in [event.id for event in events.values() if event.issue is issue]:
            del events[each]

    def history(self, head: Commit | None) -> tuple[Commit, ...]:
        """Everything reachable from `head`, newest first. A commit never changes, so neither does its history."""
        if head is None:
            return ()
        known = self._histories.get(head.sha)
        if known is None:
            if len(self._histories) >= KEPT_HISTORIES:
                del self._histories[next(iter(self._histories))]
            known = self._histories[head.sha] = reachable(head)
        return known

    def comments_on(self, commit: Commit) -> list[CommitComment]:
        """What was said about `commit` here; its comments elsewhere are a fork's."""
        return [comment for comment in self.commit_comments.values() if comment.commit is commit]

    def contributions(self) -> list[tuple[User, int]]:
        """Accounts with their number of commits on the default branch, most first."""
        counts: dict[User, int] = {}
        for commit in self.history(self.head):
            if commit.author is not None:
                counts[commit.author] = counts.get(commit.author, 0) + 1
        return sorted(counts.items(), key=lambda item: (-item[1], item[0].id))

    def recount(self) -> None:
        """Make the counters that are kept true again."""
        for milestone in self.milestones.values():
            milestone.open_issues = milestone.closed_issues = 0
        self.open_issues = 0
        for issue in self.issues.values():
            is_open = issue.closed_at is None
            self.open_issues += is_open
            if issue.milestone is not None:
                issue.milestone.open_issues += is_open
                issue.milestone.closed_issues += not is_open
