"""Writes issues, and what is said about them and about pull requests and commits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from ghcrawl.simulator.github.entities import CommitComment, Issue, IssueComment, Label, Milestone
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.chronicle import Chronicle
from ghcrawl.simulator.github.moments import at, seconds

T = TypeVar("T")
LABELS: Final = (
    ("bug", "d73a4a", "Something isn't working", True),
    ("enhancement", "a2eeef", "New feature or request", True),
    ("good first issue", "7057ff", "Good for newcomers", True),
    ("type: bug/ui", "b60205", None, False),
    ("🚀 performance", "0e8a16", "Faster, please", False),
    ("area:api", "c5def5", None, False),
    ("100%", "ededed", "A per cent sign", False),
    ("won't fix?", "ffffff", None, True),
    ("prüfen", "fbca04", "später ansehen", False),
)
MILESTONES: Final = ("v1.0", "v1.1 — hardening", "Someday", "2.0", "Q3/Q4")
_DAY_S: Final = 86_400


def write_labels(chronicle: Chronicle, born: int) -> None:
    """Labels, odd ones among them."""
    for number in range(chronicle.size.labels):
        name, color, description, default = LABELS[number % len(LABELS)]
        label = Label(
            id=chronicle.world.ids.take("label"),
            name=name if number < len(LABELS) else f"{name} {number // len(LABELS) + 1}",
            color=color,
            description=description,
            updated_at=at(born),
            default=default,
        )
        chronicle.repo.labels[label.id] = label


def write_milestones(chronicle: Chronicle, born: int) -> None:
    """Milestones: every third without a due date, every third closed."""
    for number in range(1, chronicle.size.milestones + 1):
        opened = chronicle.between(born, chronicle.until - 30 * _DAY_S)
        closed = chronicle.between(opened, chronicle.until) if number % 3 == 1 else None
        milestone = Milestone(
            id=chronicle.world.ids.take("milestone"),
            number=number,
            title=MILESTONES[(number - 1) % len(MILESTONES)],
            description=texts.body(chronicle.rng) if number % 2 else None,
            creator=chronicle.rng.choice(chronicle.staff),
            created_at=at(opened),
            updated_at=at(closed or opened),
            due_on=None if number % 3 == 0 else at(opened + 60 * _DAY_S),
            closed_at=at(closed) if closed else None,
        )
        chronicle.repo.milestones[number] = milestone


def open_issue(chronicle: Chronicle, when: int) -> Issue:
    """An issue opened at `when`; half of them are closed by now."""
    rng = chronicle.rng
    issue = Issue(
        id=chronicle.world.ids.take("issue"),
        number=chronicle.repo.take_number(),
        title=texts.title(rng),
        body=texts.body(rng) if rng.random() > 0.03 else None,
        user=chronicle.somebody(),
        created_at=at(when),
        locked=rng.random() < 0.02,
    )
    chronicle.tag_issue(issue)
    if rng.random() < 0.5:
        issue.closed_at = issue.updated_at = at(chronicle.between(when, chronicle.until))
        issue.closed_by = rng.choice(chronicle.staff)
        issue.state_reason = rng.choice(("completed", "completed", "not_planned"))
    chronicle.repo.issues[issue.number] = issue
    return issue


def _moments(chronicle: Chronicle, began: Iterable[tuple[int, T]], mean: float) -> list[tuple[int, T]]:
    """Times at which things are commented on, in order: on average `mean` for each thing, all after it began."""
    said: list[tuple[int, T]] = []
    for since, thing in began:
        said += [(chronicle.between(since, chronicle.until), thing) for _ in range(chronicle.number_of(mean))]
    return sorted(said, key=lambda each: each[0])


def discuss_issues(chronicle: Chronicle) -> None:
    """Comments on issues and pull requests, in the order in which they were made; each bumps its issue."""
    began = ((seconds(issue.created_at), issue) for issue in chronicle.repo.issues.values())
    for when, issue in _moments(chronicle, began, chronicle.size.comments):
        edited = chronicle.between(when, min(when + _DAY_S, chronicle.until)) if chronicle.rng.random() < 0.1 else when
        comment = IssueComment(
            id=chronicle.world.ids.take("issue_comment"),
            issue=issue,
            user=chronicle.somebody(),
            body=texts.body(chronicle.rng),
            created_at=at(when),
            updated_at=at(edited),
        )
        chronicle.repo.add_comment(comment)


def discuss_commits(chronicle: Chronicle) -> None:
    """Comments on commits of the default branch, in the order in which they were made."""
    began = ((seconds(commit.committed_at), commit) for commit in chronicle.repo.history(chronicle.head))
    for when, commit in _moments(chronicle, began, chronicle.size.commit_comments):
        on_line = chronicle.rng.random() < 0.5
        comment = CommitComment(
            id=chronicle.world.ids.take("commit_comment"),
            commit=commit,
            user=chronicle.somebody(),
            body=texts.body(chronicle.rng),
            path=chronicle.rng.choice(texts.PATHS) if on_line else None,
            line=chronicle.rng.randint(1, 90) if on_line else None,
            created_at=at(when),
        )
        chronicle.repo.commit_comments[comment.id] = comment
