"""From what happened to the webhooks that GitHub sends about it, as JSON of that very moment.

One change may send several: a merge is a closed pull request and a push, a review is told with each of its remarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.code import Commit, Ref, Release
from ghcrawl.simulator.github.entities import (
    CommitComment,
    Issue,
    IssueComment,
    Label,
    Milestone,
    Repo,
    Review,
    ReviewComment,
)
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.moments import seconds
from ghcrawl.simulator.github.people import Member, Org, Team, User
from ghcrawl.simulator.github.shapes import accounts, commits, issues, pulls, releases, repos
from ghcrawl.simulator.github.shapes.site import Body, Site
from ghcrawl.simulator.github.world import World

T = TypeVar("T")
NULL_SHA: Final = "0" * 40
"""What a push says for a branch that was not there before, or is not there after it."""


class Telling(Struct, frozen=True):
    """A change about to be told."""

    world: World
    site: Site
    change: Change
    sender: User

    @property
    def repo(self) -> Repo:
        """The repository it happened in."""
        assert self.change.repo is not None
        return self.change.repo

    def subject(self, kind: type[T]) -> T:
        """The subject of the change. It must be of that kind."""
        assert isinstance(self.change.subject, kind)
        return self.change.subject

    def hook(self, event: str, action: str = "", **payload: Any) -> Hook:
        """A webhook with what all of them carry."""
        change = self.change
        body: Body = {"action": action, **payload} if action else dict(payload)
        if change.repo is not None:
            body["repository"] = hook_repo(self.site, self.world, change.repo)
        if isinstance(change.owner, Org):
            body["organization"] = accounts.simple_org(self.site, change.owner)
        body["sender"] = accounts.simple_user(self.site, self.sender)
        return Hook(event=event, payload=body, sender=self.sender, repo=change.repo)

    def itself(self, **payload: Any) -> Hook:
        """The webhook that the change is named after; of an edit it says what was there before."""
        if self.change.action == "edited":
            now = self.change.subject
            payload["changes"] = {
                name: {"from": was or ""} for name, was in self.change.before.items() if was != getattr(now, name)
            }
        return self.hook(self.change.event, self.change.action, **payload)


def hook_repo(site: Site, world: World, repo: Repo) -> Body:
    """A repository in a payload: what its own URL says of subscribers, network, parent and settings is missing."""
    return {**repos.embedded_repo(site, world, repo), "custom_properties": {}}


def hook_issue(site: Site, repo: Repo, issue: Issue) -> Body:
    """An issue in a payload: no webhook says who closed it."""
    return {name: value for name, value in issues.listed_issue(site, repo, issue).items() if name != "closed_by"}


def hook_pull(site: Site, world: World, repo: Repo, issue: Issue) -> Body:
    """A pull request in a payload: GitHub has not found out yet whether it can be merged."""
    unknown = {"mergeable": None, "rebaseable": None, "mergeable_state": "unknown"}
    return {**pulls.pull(site, world, repo, issue), **unknown}


def _issue(telling: Telling) -> Iterator[Hook]:
    told = {"issue": hook_issue(telling.site, telling.repo, telling.subject(Issue))}
    if telling.change.action == "transferred":
        site, moved, into = telling.site, telling.change.before["issue"], telling.change.before["repo"]
        told["changes"] = {
            "new_issue": hook_issue(site, into, moved),
            "new_repository": hook_repo(site, telling.world, into),
        }
    yield telling.itself(**told)


def _comment(telling: Telling) -> Iterator[Hook]:
    comment = telling.subject(IssueComment)
    yield telling.itself(
        issue=hook_issue(telling.site, telling.repo, comment.issue),
        comment=issues.issue_comment(telling.site, telling.repo, comment),
    )


def _pull(telling: Telling) -> Iterator[Hook]:
    site, world, repo, issue = telling.site, telling.world, telling.repo, telling.subject(Issue)
    pull = issue.request
    if telling.change.action == "opened":
        yield _created(telling, "branch", pull.head_ref)
        yield _push_hook(telling, pull.head_ref, pull.commits, before=NULL_SHA)
    if pull.merged_at is not None and telling.change.action == "closed" and repo.head is not None:
        yield _push_hook(telling, repo.default_branch, [repo.head], before=repo.head.parents[0].sha)
    yield telling.itself(number=issue.number, pull_request=hook_pull(site, world, repo, issue))


def _review(telling: Telling) -> Iterator[Hook]:
    """The pull request is told as lists show it: without counters and without who merged it."""
    site, world, repo, review = telling.site, telling.world, telling.repo, telling.subject(Review)
    issue = next(each for each in repo.pulls if review in each.request.reviews)
    pull, body = pulls.listed_pull(site, world, repo, issue), pulls.review(site, repo, issue, review)
    yield telling.itself(review={**body, "state": review.state.lower()}, pull_request=pull)  # REST: in capitals
    for comment in issue.request.comments:
        if comment.review is review:
            body = pulls.review_comment(site, repo, comment)
            yield telling.hook("pull_request_review_comment", "created", comment=body, pull_request=pull)


def _review_comment(telling: Telling) -> Iterator[Hook]:
    comment = telling.subject(ReviewComment)
    body = pulls.review_comment(telling.site, telling.repo, comment)
    pull = pulls.listed_pull(telling.site, telling.world, telling.repo, comment.issue)
    yield telling.itself(comment=body, pull_request=pull)


def _push(telling: Telling) -> Iterator[Hook]:
    repo, tip, before = telling.repo, telling.subject(Commit), telling.change.before
    branch = str(before["ref"]).removeprefix("refs/heads/")
    if not before["sha"]:
        yield _created(telling, "branch", branch)
    yield _push_hook(telling, branch, [tip], before=str(before["sha"]) or NULL_SHA, forced=bool(before["forced"]))
    for issue in repo.open_pulls_from(branch):
        body = hook_pull(telling.site, telling.world, repo, issue)
        yield telling.hook("pull_request", "synchronize", number=issue.number, pull_request=body)


def _push_hook(
    telling: Telling, branch: str, added: list[Commit], *, before: str, forced: bool = False, gone: bool = False
) -> Hook:
    after = NULL_SHA if gone else added[-1].sha
    stubs = [_stub(telling, each) for each in added]
    hook = telling.hook(
        "push",
        ref=f"refs/heads/{branch}",
        before=before,
        after=after,
        created=before == NULL_SHA,
        deleted=gone,
        forced=forced,
        base_ref=None,
        compare=f"{telling.site.page(telling.repo)}/compare/{before[:12]}...{after[:12]}",
        pusher={"name": telling.sender.login, "email": None},
        commits=[] if gone else stubs,
        head_commit=None if gone else stubs[-1],
    )
    repository = hook.payload["repository"]
    repository["url"] = repository["html_url"]
    repository["created_at"] = seconds(repository["created_at"])
    repository["pushed_at"] = seconds(repository["pushed_at"])
    return hook


def _stub(telling: Telling, commit: Commit) -> Body:
    """A commit in a push."""
    url = f"{telling.site.page(telling.repo)}/commit/{commit.sha}"
    told = {"distinct": True, "url": url, "added": [], "removed": [], "modified": ["README.md"]}
    return {**commits.simple_commit(commit), **told}


def _created(telling: Telling, kind: str, name: str) -> Hook:
    repo = telling.repo
    about: Body = {"master_branch": repo.default_branch, "description": repo.description}
    return telling.hook("create", ref=name, ref_type=kind, pusher_type="user", **about)


def _ref(telling: Telling) -> Iterator[Hook]:
    ref = telling.subject(Ref)
    if telling.change.event == "create":
        yield _created(telling, "branch", ref.name)
        return
    yield telling.hook("delete", ref=ref.name, ref_type="branch", pusher_type="user")
    yield _push_hook(telling, ref.name, [ref.commit], before=ref.commit.sha, gone=True)


def _release(telling: Telling) -> Iterator[Hook]:
    release = telling.subject(Release)
    if telling.change.action == "published":
        yield _created(telling, "tag", release.tag_name)
    yield telling.itself(release=releases.release(telling.site, telling.repo, release))


def _repository(telling: Telling) -> Iterator[Hook]:
    change = telling.change
    if change.action == "renamed":
        yield telling.itself(changes={"repository": {"name": {"from": change.before["name"]}}})
    elif change.action == "transferred":
        before = telling.world.account(str(change.before["owner"]))
        assert before is not None
        if isinstance(before, Org):
            former = {"organization": accounts.simple_org(telling.site, before)}
        else:
            former = {"user": accounts.simple_user(telling.site, before)}
        yield telling.itself(changes={"owner": {"from": former}})
    else:
        yield telling.itself()


def _only(name: str, kind: type[Any], shape: Callable[[Site, Repo, Any], Body]) -> Callable[[Telling], Iterator[Hook]]:
    """Tells of a change by one webhook, which shows the subject under `name`."""

    def tell(telling: Telling) -> Iterator[Hook]:
        yield telling.itself(**{name: shape(telling.site, telling.repo, telling.subject(kind))})

    return tell


def _star(telling: Telling) -> Iterator[Hook]:
    if telling.change.action == "deleted":
        yield telling.itself(starred_at=None)
        return
    yield telling.itself(starred_at=telling.change.at)
    yield telling.hook("watch", "started")


def _member(telling: Telling) -> Iterator[Hook]:
    member, base = telling.subject(Member), f"{telling.site.base}/orgs/{telling.change.owner.login}"
    user = accounts.simple_user(telling.site, member.user)
    membership = {"url": f"{base}/memberships/{member.user.login}", "organization_url": base}
    yield telling.itself(membership={**membership, "role": member.role, "state": "active", "user": user})


def _team(telling: Telling) -> Iterator[Hook]:
    team = telling.subject(Team)
    body = accounts.simple_team(telling.site, team)
    if telling.change.event == "membership":
        user = list(team.members.values())[-1]
        yield telling.itself(scope="team", member=accounts.simple_user(telling.site, user), team=body)
    else:
        yield telling.itself(team=body)


_TOLD: Final[Mapping[str, Callable[[Telling], Iterator[Hook]]]] = {
    "commit_comment": _only("comment", CommitComment, commits.commit_comment),
    "create": _ref,
    "delete": _ref,
    "issue_comment": _comment,
    "issues": _issue,
    "label": _only("label", Label, issues.label),
    "membership": _team,
    "milestone": _only("milestone", Milestone, issues.milestone),
    "organization": _member,
    "pull_request": _pull,
    "pull_request_review": _review,
    "pull_request_review_comment": _review_comment,
    "push": _push,
    "release": _release,
    "repository": _repository,
    "star": _star,
    "team": _team,
}


def hooks(site: Site, world: World, change: Change) -> tuple[Hook, ...]:
    """The webhooks of `change`, in the order in which they are sent. A change of a user has none."""
    tell = _TOLD.get(change.event)
    if tell is None:
        return ()
    return tuple(tell(Telling(world, site, change, change.actor or _somebody(world, change))))


def _somebody(world: World, change: Change) -> User:
    """The actor of a change that names none: the owner, or the organisation's first member."""
    owner = change.owner
    if isinstance(owner, User):
        return owner
    member = next(iter(owner.members.values()), None)
    return member.user if member else next(each for each in world.accounts.values() if isinstance(each, User))
