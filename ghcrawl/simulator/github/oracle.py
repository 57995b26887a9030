"""The expected result of a full crawl of an owner, read straight from the world: the judge of crawlers.

A thing is expected if its type is one of `TYPES`, it is the owner's, and the viewer may see it. Commits are those of
default branches, and on demand those that only a pull request leads to. Users are those whom any expected thing
names: members and team members, authors of commits (linked to an account), issues, pull requests, comments, reviews
and releases, committers, assignees, those who closed or merged, and creators of milestones; collaborators and those
whom events name; and on demand those whom anything of `MORE_TYPES` names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from msgspec import Struct

from ghcrawl.simulator.github.entities import Commit, Issue, Release, Repo
from ghcrawl.simulator.github.expectation import Expected
from ghcrawl.simulator.github.oracle_records import PARTS, named_in, of_everybody, of_org, of_owner, of_repo
from ghcrawl.simulator.github.people import Org, Owner, User
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.records import Project
from ghcrawl.simulator.github.shapes import accounts, commits, issues, pulls, releases, repos
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World

TYPES: Final = (
    "org",
    "user",
    "repo",
    "team",
    "issue",
    "issue_comment",
    "pull_request",
    "review",
    "review_comment",
    "commit",
    "commit_comment",
    "label",
    "milestone",
    "release",
    "branch",
    "tag",
    "release_asset",
    "issue_event",
    "topics",
)
"""What everybody gets who asks for nothing in particular."""
MORE_TYPES: Final = (
    "reaction",
    "discussion",
    "status",
    "check_suite",
    "check_run",
    "deployment",
    "deployment_status",
    "workflow",
    "workflow_run",
    "artifact",
    "environment",
    "ruleset",
    "code_scanning_alert",
    "project",
    "project_item",
    "security_advisory",
    "dependabot_alert",
    "secret_scanning_alert",
    "workflow_job",
    "branch_protection",
    "tag_object",
    "package",
    "gist",
    *PARTS,
)
"""What only those get who ask for everything."""


def expected(
    world: World,
    login: str,
    *,
    base: str,
    viewer: Viewer,
    pull_request_commits: bool = False,
    everything: bool = False,
) -> dict[tuple[str, str], Expected]:
    """(type, URN) → what should be there after a full crawl of `login` by `viewer`, of a simulator at `base`.

    pull_request_commits: also the commits that only a pull request leads to. everything: also those, and `MORE_TYPES`.
    Raises KeyError for an unknown login.
    """
    owner = world.account(login)
    if owner is None:
        raise KeyError(login)
    judge = _Judge(world, Site(base), viewer, pull_request_commits or everything, everything)
    return {(thing.type, thing.urn): thing for thing in judge.owner(owner)}


class _Judge(Struct, frozen=True):
    world: World
    site: Site
    viewer: Viewer
    pull_request_commits: bool
    everything: bool

    def owner(self, owner: Owner) -> Iterator[Expected]:
        """Everything of `owner`, and everybody named in it."""
        visible = [each for each in self.world.repos_of(owner) if self.viewer.sees(each) and each.standing == "fine"]
        if isinstance(owner, Org):
            yield self._org(owner)
            yield from self._teams(owner)
            if self.everything and self.viewer.insider(owner):
                yield from of_org(self.site, owner)
        if self.everything:
            yield from of_owner(self.site, self.world, owner, self.viewer)
        for repo in visible:
            yield from self._repo(repo)
            yield from of_everybody(self.site, repo, self._releases(repo))
            if self.everything:
                yield from of_repo(self.site, self.world, repo, self.viewer)
        people = {} if isinstance(owner, Org) else {owner.id: owner}
        people |= {user.id: user for repo in visible for user in self._named_in(repo)}
        if isinstance(owner, Org):
            people |= {user.id: user for user in self._people_of(owner)}
        for user in people.values():
            shape = partial(accounts.user, self.site, self.world, user, self.viewer)
            yield Expected(type="user", urn=f"urn:user:{user.id}", single=shape)

    def _org(self, org: Org) -> Expected:
        shape = partial(accounts.org, self.site, self.world, org, self.viewer)
        return Expected(type="org", urn=f"urn:org:{org.id}", single=shape)

    def _teams(self, org: Org) -> Iterator[Expected]:
        for team in org.teams.values() if self.viewer.insider(org) else ():
            shape = partial(accounts.team, self.site, self.world, team)
            yield Expected(type="team", urn=f"urn:team:{team.id}", single=shape)

    def _people_of(self, org: Org) -> Iterator[User]:
        insider = self.viewer.insider(org)
        for member in org.members.values():
            if insider or member.public:
                yield member.user
        for team in org.teams.values() if insider else ():
            yield from team.members.values()
        if self.everything and insider:
            yield from org.outsiders.values()
            yield from (user for project in org.projects.values() for user in (project.creator, *_makers(project)))

    def _repo(self, repo: Repo) -> Iterator[Expected]:
        urn, site = f"urn:repo:{repo.id}", self.site
        shape = partial(repos.repo, site, self.world, repo, self.viewer)
        yield Expected(type="repo", urn=urn, single=shape)
        for label in repo.labels.values():
            form = partial(issues.label, site, repo, label)
            yield Expected(type="label", urn=f"{urn}:label:{label.id}", single=form)
        for milestone in repo.milestones.values():
            form = partial(issues.milestone, site, repo, milestone)
            yield Expected(type="milestone", urn=f"{urn}:milestone:{milestone.number}", single=form)
        for release in self._releases(repo):
            form = partial(releases.release, site, repo, release)
            yield Expected(type="release", urn=f"{urn}:release:{release.id}", single=form)
        for issue in repo.issues.values():
            yield from self._issue(repo, issue)
        yield from self._code(repo)

    def _issue(self, repo: Repo, issue: Issue) -> Iterator[Expected]:
        site, urn = self.site, f"urn:repo:{repo.id}:issue:{issue.number}"
        single, listed = partial(issues.issue, site, repo, issue), partial(issues.listed_issue, site, repo, issue)
        yield Expected(type="issue", urn=urn, single=single, listed=listed)
        for comment in issue.comments:
            form = partial(issues.issue_comment, site, repo, comment)
            yield Expected(type="issue_comment", urn=f"{urn}:issue_comment:{comment.id}", single=form)
        if issue.pull is None:
            return
        urn = f"urn:repo:{repo.id}:pull_request:{issue.number}"
        whole, part = pulls.pull, pulls.listed_pull
        yield Expected(
            type="pull_request",
            urn=urn,
            single=partial(whole, site, self.world, repo, issue),
            listed=partial(part, site, self.world, repo, issue),
        )
        for review in issue.pull.reviews:
            form = partial(pulls.review, site, repo, issue, review)
            yield Expected(type="review", urn=f"{urn}:review:{review.id}", single=form)
        for remark in issue.pull.comments:
            form = partial(pulls.review_comment, site, repo, remark)
            yield Expected(type="review_comment", urn=f"{urn}:review_comment:{remark.id}", single=form)

    def _code(self, repo: Repo) -> Iterator[Expected]:
        urn, site = f"urn:repo:{repo.id}", self.site
        for commit in self._commits(repo):
            single, listed = (
                partial(commits.commit, site, repo, commit),
                partial(commits.listed_commit, site, repo, commit),
            )
            yield Expected(type="commit", urn=f"{urn}:commit:{commit.sha}", single=single, listed=listed)
        for comment in repo.commit_comments.values():
            form = partial(commits.commit_comment, site, repo, comment)
            name = f"{urn}:commit:{comment.commit.sha}:commit_comment:{comment.id}"
            yield Expected(type="commit_comment", urn=name, single=form)
        for ref in repo.branches.values():
            single, listed = partial(commits.branch, site, repo, ref), partial(commits.listed_branch, site, repo, ref)
            yield Expected(type="branch", urn=f"{urn}:branch:{ref.name}", single=single, listed=listed)
        for ref in repo.tags.values():
            form = partial(commits.tag, site, repo, ref)
            yield Expected(type="tag", urn=f"{urn}:tag:{ref.name}", listed=form)

    def _commits(self, repo: Repo) -> Iterable[Commit]:
        found = {commit.sha: commit for commit in repo.history(repo.head)}
        for issue in repo.pulls if self.pull_request_commits else ():
            if issue.pull is not None:
                found |= {commit.sha: commit for commit in issue.pull.commits}
        return found.values()

    def _releases(self, repo: Repo) -> Iterable[Release]:
        drafts = self.viewer.insider(repo.owner)
        return [release for release in repo.releases.values() if release.published_at or drafts]

    def _named_in(self, repo: Repo) -> Iterator[User]:
        """Everybody whom an expected thing of `repo` names, as often as it does."""
        names: list[User | None] = [milestone.creator for milestone in repo.milestones.values()]
        names += [release.author for release in self._releases(repo)]
        names += [comment.user for comment in repo.issue_comments.values()]
        names += [comment.user for comment in repo.review_comments.values()]
        names += [comment.user for comment in repo.commit_comments.values()]
        for commit in self._commits(repo):
            names += [commit.author, commit.committer]
        for issue in repo.issues.values():
            names += [issue.user, issue.closed_by, *issue.assignees]
            if issue.pull is not None:
                names += [issue.pull.merged_by, *(review.user for review in issue.pull.reviews)]
        if self.viewer.insider(repo.owner):
            names += repo.collaborators.values()
        names += named_in(repo, self.viewer, everything=self.everything)
        return (user for user in names if user is not None)


def _makers(project: Project) -> list[User]:
    return [item.creator for item in project.items]
