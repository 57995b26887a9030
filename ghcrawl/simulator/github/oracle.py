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

from ghcrawl.simulator.github.code import Commit, Release
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.expectation import Expected, all_of, by_id
from ghcrawl.simulator.github.oracle_records import PARTS, named_in, of_everybody, of_org, of_owner, of_repo
from ghcrawl.simulator.github.people import Org, Owner, User
from ghcrawl.simulator.github.principals import Viewer
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
            yield from self._org(owner)
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
        yield from all_of("user", "urn", people, lambda user: accounts.user(self.site, self.world, user, self.viewer))

    def _org(self, org: Org) -> Iterator[Expected]:
        shape = partial(accounts.org, self.site, self.world, org, self.viewer)
        yield Expected(type="org", urn=f"urn:org:{org.id}", single=shape)
        if self.viewer.insider(org):
            yield from all_of("team", "urn", org.teams, partial(accounts.team, self.site, self.world))
            yield from of_org(self.site, org) if self.everything else ()

    def _people_of(self, org: Org) -> Iterator[User]:
        insider = self.viewer.insider(org)
        for member in org.members.values():
            if insider or member.public:
                yield member.user
        for team in org.teams.values() if insider else ():
            yield from team.members.values()
        if self.everything and insider:
            yield from org.outsiders.values()
            for project in org.projects.values():
                yield from (project.creator, *(item.creator for item in project.items))

    def _repo(self, repo: Repo) -> Iterator[Expected]:
        urn, site = f"urn:repo:{repo.id}", self.site
        yield Expected(type="repo", urn=urn, single=partial(repos.repo, site, self.world, repo, self.viewer))
        yield from all_of("label", urn, repo.labels, partial(issues.label, site, repo))
        yield from all_of("milestone", urn, repo.milestones, partial(issues.milestone, site, repo))
        yield from all_of("release", urn, by_id(self._releases(repo)), partial(releases.release, site, repo))
        single, listed = partial(issues.issue, site, repo), partial(issues.listed_issue, site, repo)
        yield from all_of("issue", urn, repo.issues, single, listed)
        for issue in repo.issues.values():
            parent = f"{urn}:issue:{issue.number}"
            yield from all_of("issue_comment", parent, by_id(issue.comments), partial(issues.issue_comment, site, repo))
        yield from self._pulls(repo)
        yield from self._code(repo)

    def _pulls(self, repo: Repo) -> Iterator[Expected]:
        urn, site, found = f"urn:repo:{repo.id}", self.site, {issue.number: issue for issue in repo.pulls}
        single, listed = partial(pulls.pull, site, self.world, repo), partial(pulls.listed_pull, site, self.world, repo)
        yield from all_of("pull_request", urn, found, single, listed)
        for number, issue in found.items():
            parent, remarks = f"{urn}:pull_request:{number}", by_id(issue.request.comments)
            yield from all_of("review", parent, by_id(issue.request.reviews), partial(pulls.review, site, repo, issue))
            yield from all_of("review_comment", parent, remarks, partial(pulls.review_comment, site, repo))

    def _code(self, repo: Repo) -> Iterator[Expected]:
        urn, site = f"urn:repo:{repo.id}", self.site
        single, listed = partial(commits.commit, site, repo), partial(commits.listed_commit, site, repo)
        yield from all_of("commit", urn, self._commits(repo), single, listed)
        for comment in repo.commit_comments.values():
            parent, form = f"{urn}:commit:{comment.commit.sha}", partial(commits.commit_comment, site, repo)
            yield from all_of("commit_comment", parent, {comment.id: comment}, form)
        single, listed = partial(commits.branch, site, repo), partial(commits.listed_branch, site, repo)
        yield from all_of("branch", urn, repo.branches, single, listed)
        yield from all_of("tag", urn, repo.tags, None, partial(commits.tag, site, repo))

    def _commits(self, repo: Repo) -> dict[str, Commit]:
        found = {commit.sha: commit for commit in repo.history(repo.head)}
        for issue in repo.pulls if self.pull_request_commits else ():
            found |= {commit.sha: commit for commit in issue.request.commits}
        return found

    def _releases(self, repo: Repo) -> Iterable[Release]:
        drafts = self.viewer.insider(repo.owner)
        return [release for release in repo.releases.values() if release.published_at or drafts]

    def _named_in(self, repo: Repo) -> Iterator[User]:
        """Everybody whom an expected thing of `repo` names, as often as it does."""
        names: list[User | None] = [milestone.creator for milestone in repo.milestones.values()]
        names += [release.author for release in self._releases(repo)]
        for comments in (repo.issue_comments, repo.review_comments, repo.commit_comments):
            names += [comment.user for comment in comments.values()]
        for commit in self._commits(repo).values():
            names += [commit.author, commit.committer]
        for issue in repo.issues.values():
            names += [issue.user, issue.closed_by, *issue.assignees]
            if issue.pull is not None:
                names += [issue.pull.merged_by, *(review.user for review in issue.pull.reviews)]
        if self.viewer.insider(repo.owner):
            names += repo.collaborators.values()
        names += named_in(repo, self.viewer, everything=self.everything)
        return (user for user in names if user is not None)
