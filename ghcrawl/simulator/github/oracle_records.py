"""The expected result of a full crawl for a repository's records, and for an organisation's plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from ghcrawl.simulator.github.entities import Release, Repo
from ghcrawl.simulator.github.expectation import Expected
from ghcrawl.simulator.github.manners import FREQUENCY_CAP
from ghcrawl.simulator.github.people import Org, Owner, User
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.shapes import (
    accounts,
    automation,
    belongings,
    commits,
    left_behind,
    parts,
    protection,
    records,
    releases,
)
from ghcrawl.simulator.github.shapes.site import Body, Site
from ghcrawl.simulator.github.world import World

_FILES: Final = ("languages", "license", "readme", "codeowners", "community_profile", "sbom")
_TRAFFIC: Final = ("views", "clones", "paths", "referrers")
_STATISTICS: Final = {
    "contributor_statistics": "contributors",
    **{name: name for name in parts.STATISTICS if name != "contributors"},
}
PARTS: Final = (*_FILES, *_TRAFFIC, *_STATISTICS)
"""The types of what a repository has one of, but for the topics that it carries itself."""


def of_everybody(site: Site, repo: Repo, published: Iterable[Release]) -> Iterator[Expected]:
    """What costs so little that everybody gets it: events of issues, files of releases, topics."""
    urn = f"urn:repo:{repo.id}"
    yield Expected(type="topics", urn=f"{urn}:topics", single=lambda: {"names": list(repo.topics)})
    for event in repo.records.issue_events.values() if repo.has_issues else ():
        name = f"{urn}:issue:{event.issue.number}:issue_event:{event.id}"
        yield Expected(type="issue_event", urn=name, single=partial(records.issue_event, site, repo, event))
    for release in published:
        for asset in release.assets:
            name, shape = f"{urn}:release_asset:{asset.id}", partial(releases.asset, site, repo, release, asset)
            yield Expected(type="release_asset", urn=name, single=shape)


def of_repo(site: Site, world: World, repo: Repo, viewer: Viewer) -> Iterator[Expected]:
    """What only those get who ask for everything."""
    yield from _reactions(site, repo)
    yield from _checks(site, world, repo)
    yield from _machines(site, world, repo)
    yield from _conversation(site, repo, viewer)
    yield from _refs(site, repo, insider=viewer.insider(repo.owner))
    yield from _parts(site, world, repo, insider=viewer.insider(repo.owner))


def _reactions(site: Site, repo: Repo) -> Iterator[Expected]:
    for urn, thing in _said(repo):
        for reaction in repo.records.reactions.get(thing, ()):
            shape = partial(records.reaction, site, repo, reaction)
            yield Expected(type="reaction", urn=f"{urn}:reaction:{reaction.id}", single=shape)


def _said(repo: Repo) -> Iterator[tuple[str, object]]:
    """Everything that one can react to, under its name."""
    urn = f"urn:repo:{repo.id}"
    for issue in repo.issues.values():
        yield f"{urn}:issue:{issue.number}", issue
        yield from ((f"{urn}:issue:{issue.number}:issue_comment:{each.id}", each) for each in issue.comments)
        if issue.pull is not None:
            pull = f"{urn}:pull_request:{issue.number}"
            yield from ((f"{pull}:review_comment:{each.id}", each) for each in issue.pull.comments)
    for remark in repo.commit_comments.values():
        yield f"{urn}:commit:{remark.commit.sha}:commit_comment:{remark.id}", remark
    yield from ((f"{urn}:release:{each.id}", each) for each in repo.releases.values())


def _heads(repo: Repo) -> set[str]:
    """The commits whose checks are looked at."""
    heads = {ref.commit.sha for ref in repo.branches.values()}
    return heads | {issue.pull.commits[-1].sha for issue in repo.pulls if issue.pull is not None}


def _checks(site: Site, world: World, repo: Repo) -> Iterator[Expected]:
    for sha in _heads(repo):
        urn = f"urn:repo:{repo.id}:commit:{sha}"
        for status in repo.records.statuses.get(sha, ()):
            shape: Callable[[], Body] = partial(automation.status, site, repo, status)
            yield Expected(type="status", urn=f"{urn}:status:{status.id}", single=shape)
        for suite in repo.records.suites_of(sha):
            yield Expected(
                type="check_suite",
                urn=f"{urn}:check_suite:{suite.id}",
                single=partial(automation.whole_check_suite, site, world, repo, suite),
                listed=partial(automation.check_suite, site, world, repo, suite),
            )
            for run in suite.runs:
                shape = partial(automation.check_run, site, repo, suite, run)
                yield Expected(type="check_run", urn=f"{urn}:check_run:{run.id}", single=shape)


def _machines(site: Site, world: World, repo: Repo) -> Iterator[Expected]:
    urn, held = f"urn:repo:{repo.id}", repo.records
    for deployment in held.deployments.values():
        name, shape = f"{urn}:deployment:{deployment.id}", partial(automation.deployment, site, repo, deployment)
        yield Expected(type="deployment", urn=name, single=shape)
        for status in deployment.statuses:
            form = partial(automation.deployment_status, site, repo, deployment, status)
            yield Expected(type="deployment_status", urn=f"{name}:deployment_status:{status.id}", single=form)
    for flow in held.workflows.values():
        form = partial(automation.workflow, site, repo, flow)
        yield Expected(type="workflow", urn=f"{urn}:workflow:{flow.id}", single=form)
    for run in held.workflow_runs.values():
        form = partial(automation.workflow_run, site, world, repo, run)
        yield Expected(type="workflow_run", urn=f"{urn}:workflow_run:{run.id}", single=form)
    for run in left_behind.artifacts_of(repo):
        form = partial(left_behind.artifact, site, repo, run)
        yield Expected(type="artifact", urn=f"{urn}:artifact:{left_behind.artifact_id(run)}", single=form)
    for run in held.workflow_runs.values():
        form, number = partial(left_behind.job, site, repo, run), left_behind.job_id(run)
        name = f"{urn}:workflow_run:{run.id}:workflow_job:{number}"
        yield Expected(type="workflow_job", urn=name, single=form)
    for place in left_behind.environments_of(repo):
        form = partial(left_behind.environment, site, repo, place)
        yield Expected(type="environment", urn=f"{urn}:environment:{form()['id']}", single=form)


def _refs(site: Site, repo: Repo, *, insider: bool) -> Iterator[Expected]:
    urn = f"urn:repo:{repo.id}"
    for ref in repo.tags.values():
        if sha := commits.tag_object_sha(repo, ref):
            form = partial(commits.tag_object, site, repo, ref)
            yield Expected(type="tag_object", urn=f"{urn}:tag_object:{sha}", single=form)
    for ref in repo.branches.values() if insider else ():
        if ref.protected:
            form = partial(protection.branch_protection, site, repo, ref)
            yield Expected(type="branch_protection", urn=f"{urn}:branch_protection:{ref.name}", single=form)


def _conversation(site: Site, repo: Repo, viewer: Viewer) -> Iterator[Expected]:
    urn, held, insider = f"urn:repo:{repo.id}", repo.records, viewer.insider(repo.owner)
    for talk in held.discussions.values():
        form = partial(records.discussion, site, repo, talk)
        yield Expected(type="discussion", urn=f"{urn}:discussion:{talk.number}", single=form)
    for advisory in held.advisories.values() if repo.parent is None else ():
        form = partial(records.advisory, site, repo, advisory)
        yield Expected(type="security_advisory", urn=f"{urn}:security_advisory:{advisory.ghsa_id}", single=form)
    for alert in held.alerts.values() if insider else ():
        form = partial(records.alert, site, repo, alert)
        yield Expected(type="dependabot_alert", urn=f"{urn}:dependabot_alert:{alert.number}", single=form)
        form = partial(protection.code_scanning_alert, site, repo, alert)
        yield Expected(type="code_scanning_alert", urn=f"{urn}:code_scanning_alert:{alert.number}", single=form)
    for alert in held.alerts.values() if viewer.administers(repo) else ():
        name = f"{urn}:secret_scanning_alert:{alert.number}"
        form = partial(protection.secret_scanning_alert, site, repo, alert, hidden=True)
        yield Expected(type="secret_scanning_alert", urn=name, single=form)
    yield Expected(
        type="ruleset",
        urn=f"{urn}:ruleset:{repo.id}",
        single=partial(protection.ruleset, site, repo),
        listed=partial(protection.listed_ruleset, site, repo),
    )


def _parts(site: Site, world: World, repo: Repo, *, insider: bool) -> Iterator[Expected]:
    urn, held = f"urn:repo:{repo.id}", repo.records
    found: dict[str, Callable[[], Any]] = {}
    if repo.commits:
        found["languages"] = partial(parts.languages, repo)
        found |= {type: partial(parts.statistics, site, repo, name) for type, name in _statistics_of(repo)}
        if repo.id % 3:
            found["license"] = partial(parts.license_file, site, repo)
        found["sbom"] = partial(protection.sbom, repo)
        if held.readme is not None:
            found["readme"] = partial(parts.file, site, repo, "README.md", held.readme)
        if held.codeowners is not None:
            found["codeowners"] = partial(parts.file, site, repo, *held.codeowners)
    if not repo.private and repo.parent is None:
        found["community_profile"] = partial(parts.community_profile, site, repo)
    for type, shape in found.items():
        yield Expected(type=type, urn=f"{urn}:{type}", single=partial(_wrapped, shape))
    day = world.clock.now().date().isoformat()
    for kind in _TRAFFIC if insider else ():
        name, shape = f"{urn}:{kind}:{day}", partial(parts.traffic, repo, kind)
        yield Expected(type=kind, urn=name, single=partial(_wrapped, shape))


def _statistics_of(repo: Repo) -> Iterator[tuple[str, str]]:
    many = len(repo.commits) >= FREQUENCY_CAP
    return ((type, name) for type, name in _STATISTICS.items() if type != "code_frequency" or not many)


def _wrapped(shape: Callable[[], Any]) -> Body:
    """The body as it is saved: an array stands inside an object."""
    body = shape()
    return {"elements": body} if isinstance(body, list) else body


def of_org(site: Site, org: Org) -> Iterator[Expected]:
    """Projects and what is on them."""
    for project in org.projects.values():
        urn = f"urn:org:{org.id}:project:{project.number}"
        yield Expected(type="project", urn=urn, single=partial(records.project, site, org, project))
        for item in project.items:
            shape = partial(records.project_item, site, org, project, item)
            yield Expected(type="project_item", urn=f"{urn}:project_item:{item.id}", single=shape)


def of_owner(site: Site, world: World, owner: Owner, viewer: Viewer) -> Iterator[Expected]:
    """What an account has beside repositories: containers, which strangers are not told of, and gists."""
    kind = "org" if isinstance(owner, Org) else "user"
    for repo in belongings.packages_of(world, owner) if viewer.authenticated else ():
        shape = partial(belongings.package, site, world, repo)
        yield Expected(type="package", urn=f"urn:{kind}:{owner.id}:package:{belongings.package_id(repo)}", single=shape)
    if isinstance(owner, User):
        for identity in accounts.gists_of(owner):
            single = partial(belongings.gist, site, owner, identity)
            listed = partial(belongings.listed_gist, site, owner, identity)
            yield Expected(type="gist", urn=f"urn:gist:{identity}", single=single, listed=listed)


def named_in(repo: Repo, viewer: Viewer, *, everything: bool) -> list[User | None]:
    """Everybody whom an expected record of `repo` names."""
    held = repo.records
    names: list[User | None] = []
    for event in held.issue_events.values() if repo.has_issues else ():
        names += [event.actor, event.assignee]
    if not everything:
        return names
    for _, thing in _said(repo):
        names += [reaction.user for reaction in held.reactions.get(thing, ())]
    for sha in _heads(repo):
        names += [status.creator for status in held.statuses.get(sha, ())]
    for deployment in held.deployments.values():
        names += [deployment.creator, *(status.creator for status in deployment.statuses)]
    names += [run.actor for run in held.workflow_runs.values()]
    names += [talk.user for talk in held.discussions.values()]
    if viewer.insider(repo.owner):
        names += [alert.dismissed_by for alert in held.alerts.values()]
    return names
