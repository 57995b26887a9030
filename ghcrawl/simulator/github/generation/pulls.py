"""Writes pull requests: their commits, their reviews, and what became of them."""

from __future__ import annotations

from typing import Final, Literal

from ghcrawl.simulator.github.code import Commit, Ref
from ghcrawl.simulator.github.entities import Issue, Pull, Review, ReviewComment
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.chronicle import Chronicle
from ghcrawl.simulator.github.moments import at
from ghcrawl.simulator.github.people import User

VERDICTS: Final[tuple[Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED"], ...]] = (
    "APPROVED",
    "CHANGES_REQUESTED",
    "COMMENTED",
)


def open_pull(chronicle: Chronicle, opened: int, latest: int) -> Issue:
    """A pull request whose life until review and verdict lies between `opened` and `latest`."""
    author = chronicle.bot if chronicle.rng.random() < 0.05 else chronicle.rng.choice(chronicle.people)
    base = chronicle.head
    assert base is not None
    pull = Pull(
        id=chronicle.world.ids.take("pull"),
        head_ref="",
        head_repo=chronicle.repo if chronicle.rng.random() > 0.1 else None,
        base_ref=chronicle.repo.default_branch,
        base_sha=base.sha,
        commits=_branch_off(chronicle, base, author, opened, latest),
        draft=chronicle.rng.random() < 0.05,
    )
    issue = Issue(
        id=chronicle.world.ids.take("issue"),
        number=chronicle.repo.take_number(),
        title=texts.title(chronicle.rng),
        body=texts.body(chronicle.rng) if chronicle.rng.random() > 0.1 else None,
        user=author,
        created_at=at(opened),
        updated_at=pull.commits[-1].committed_at,
        pull=pull,
    )
    pull.head_ref = f"{author.login.lower().replace('[bot]', '')}/{issue.number}-{chronicle.rng.choice(texts.NOUNS)}"
    chronicle.tag_issue(issue)
    chronicle.repo.issues[issue.number] = issue
    _review(chronicle, issue, pull, opened, latest)
    _conclude(chronicle, issue, pull, latest)
    return issue


def _branch_off(chronicle: Chronicle, base: Commit, author: User, opened: int, latest: int) -> list[Commit]:
    """One commit or more on top of `base`, in the first third of the time there is."""
    count = 1 + chronicle.number_of(chronicle.size.pull_commits - 1)
    commits: list[Commit] = []
    tip = base
    for number in range(min(count, 250)):
        when = opened + (latest - opened) * number // (3 * count)
        tip = chronicle.write_commit(when, author, parents=(tip,))
        commits.append(tip)
    return commits


def _review(chronicle: Chronicle, issue: Issue, pull: Pull, opened: int, latest: int) -> None:
    """Reviews in the second third; comments on lines belong to a review, some answer others."""
    reviews = chronicle.number_of(chronicle.size.reviews)
    comments = chronicle.number_of(chronicle.size.review_comments)
    third = (latest - opened) // 3
    moments = sorted(chronicle.between(opened + third, opened + 2 * third) for _ in range(max(reviews, comments > 0)))
    for number, when in enumerate(moments):
        review = Review(
            id=chronicle.world.ids.take("review"),
            user=chronicle.somebody(),
            body=texts.body(chronicle.rng) if chronicle.rng.random() < 0.5 else "",
            state=chronicle.rng.choice(VERDICTS),
            submitted_at=at(when),
            commit_id=pull.commits[-1].sha,
        )
        pull.reviews.append(review)
        share = comments // len(moments) + (number < comments % len(moments))
        for _ in range(share):
            _comment_line(chronicle, issue, review, when)
        issue.updated_at = max(issue.updated_at, review.submitted_at)


def _comment_line(chronicle: Chronicle, issue: Issue, review: Review, when: int) -> None:
    pull = issue.request
    threads = [comment for comment in pull.comments if comment.reply_to is None]
    answers = chronicle.rng.choice(threads) if threads and chronicle.rng.random() < 0.4 else None
    comment = ReviewComment(
        id=chronicle.world.ids.take("review_comment"),
        issue=issue,
        review=review,
        user=chronicle.somebody(),
        path=answers.path if answers else chronicle.rng.choice(texts.PATHS),
        line=answers.line if answers else chronicle.rng.randint(1, 300),
        body=texts.body(chronicle.rng),
        created_at=at(when),
        reply_to=answers,
    )
    pull.comments.append(comment)
    chronicle.repo.review_comments[comment.id] = comment


def _conclude(chronicle: Chronicle, issue: Issue, pull: Pull, latest: int) -> None:
    """Six in ten are merged, half of those squashed; two are closed; two stay open, on a branch of their own."""
    fate = chronicle.rng.random()
    if fate >= 0.8:
        if pull.head_repo is chronicle.repo:
            chronicle.repo.branches[pull.head_ref] = Ref(name=pull.head_ref, commit=pull.commits[-1])
        others = [user for user in chronicle.authors if user is not issue.user]
        pull.requested_reviewers = chronicle.rng.sample(others, k=min(len(others), chronicle.rng.choice((0, 1, 2))))
        return
    closer = chronicle.rng.choice(chronicle.staff)
    issue.closed_at = issue.updated_at = at(latest)
    issue.closed_by = closer
    pull.draft = False
    if fate < 0.6:
        merge(chronicle, issue, closer, latest, squash=fate < 0.3)


def merge(chronicle: Chronicle, issue: Issue, closer: User, when: int, *, squash: bool) -> None:
    """`issue` is merged into the default branch by the button, as one commit or with all of its own."""
    pull = issue.request
    assert chronicle.head is not None
    parents = (chronicle.head,) if squash else (chronicle.head, pull.commits[-1])
    message = f"{issue.title} (#{issue.number})" if squash else f"Merge pull request #{issue.number}\n\n{issue.title}"
    commit = chronicle.write_commit(when, issue.user if squash else closer, parents=parents, message=message)
    commit.committer = chronicle.button
    commit.committer_name, commit.committer_email = "GitHub", "noreply@github.com"
    pull.merged_at, pull.merged_by, pull.merge_commit_sha = at(when), closer, commit.sha
    chronicle.head = commit
