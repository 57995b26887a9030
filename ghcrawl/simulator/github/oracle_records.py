"""The expected result of a full crawl for a repository's records, and for an organisation's plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ghcrawl.simulator.github.behaviour import FREQUENCY_CAP
from ghcrawl.simulator.github.code import Release
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.expectation import Expected, all_of, by_id
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

_FILES: Final[Mapping[str, Callable[[Site, Repo], Body | None]]] = {
    "languages": lambda site, repo: parts.languages(site, repo) if repo.commits else None,
    "license": parts.license_file,
    "readme": parts.readme,
    "codeowners": parts.codeowners,
    "community_profile": parts.community_profile,
    "sbom": protection.sbom,
}
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
    yield Expected(type="topics", urn=f"{urn}:topics", single=partial(parts.topics, site, repo))
    for event in repo.records.issue_events.values() if repo.has_issues else ():
        parent, form = f"{urn}:issue:{event.issue.number}", partial(records.issue_event, site, repo)
        yield from all_of("issue_event", parent, {event.id: event}, form)
    for release in published:
        yield from all_of("release_asset", urn, by_id(release.assets), partial(releases.asset, site, repo, release))


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
        held = by_id(repo.records.reactions.get(thing, ()))
        yield from all_of("reaction", urn, held, partial(records.reaction, site, repo))


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
    return heads | {issue.request.commits[-1].sha for issue in repo.pulls}


def _checks(site: Site, world: World, repo: Repo) -> Iterator[Expected]:
    for sha in _heads(repo):
        urn, suites = f"urn:repo:{repo.id}:commit:{sha}", repo.records.suites_of(sha)
        statuses = by_id(repo.records.statuses.get(sha, ()))
        yield from all_of("status", urn, statuses, partial(automation.status, site, repo))
        single = partial(automation.whole_check_suite, site, world, repo)
        yield from all_of("check_suite", urn, by_id(suites), single, partial(automation.check_suite, site, world, repo))
        for suite in suites:
            yield from all_of("check_run", urn, by_id(suite.runs), partial(automation.check_run, site, repo, suite))


def _machines(site: Site, world: World, repo: Repo) -> Iterator[Expected]:
    urn, held = f"urn:repo:{repo.id}", repo.records
    yield from all_of("deployment", urn, held.deployments, partial(automation.deployment, site, repo))
    for deployment in held.deployments.values():
        parent, statuses = f"{urn}:deployment:{deployment.id}", by_id(deployment.statuses)
        form = partial(automation.deployment_status, site, repo, deployment)
        yield from all_of("deployment_status", parent, statuses, form)
    yield from all_of("workflow", urn, held.workflows, partial(automation.workflow, site, repo))
    yield from all_of("workflow_run", urn, held.workflow_runs, partial(automation.workflow_run, site, world, repo))
    for run in held.workflow_runs.values():
        jobs, parent = {left_behind.job_id(run): run}, f"{urn}:workflow_run:{run.id}"
        yield from all_of("workflow_job", parent, jobs, partial(left_behind.job, site, repo))
    artifacts = {left_behind.artifact_id(run): run for run in left_behind.artifacts_of(repo)}
    yield from all_of("artifact", urn, artifacts, partial(left_behind.artifact, site, repo))
    environments = {left_behind.environment_id(repo, name): name for name in left_behind.environments_of(repo)}
    yield from all_of("environment", urn, environments, partial(left_behind.environment, site, repo))


def _refs(site: Site, repo: Repo, *, insider: bool) -> Iterator[Expected]:
    urn = f"urn:repo:{repo.id}"
    annotated = {sha: ref for ref in repo.tags.values() if (sha := commits.tag_object_sha(repo, ref))}
    yield from all_of("tag_object", urn, annotated, partial(commits.tag_object, site, repo))
    protected = {name: ref for name, ref in repo.branches.items() if ref.protected and insider}
    yield from all_of("branch_protection", urn, protected, partial(protection.branch_protection, site, repo))


def _conversation(site: Site, repo: Repo, viewer: Viewer) -> Iterator[Expected]:
    urn, held = f"urn:repo:{repo.id}", repo.records
    yield from all_of("discussion", urn, held.discussions, partial(records.discussion, site, repo))
    advisories = {} if repo.parent else held.advisories
    yield from all_of("security_advisory", urn, advisories, partial(protection.advisory, site, repo))
    if viewer.insider(repo.owner):
        yield from all_of("dependabot_alert", urn, held.alerts, partial(protection.dependabot_alert, site, repo))
        found = partial(protection.code_scanning_alert, site, repo)
        yield from all_of("code_scanning_alert", urn, held.alerts, found)
    if viewer.administers(repo):
        found = partial(protection.secret_scanning_alert, site, repo, hidden=True)
        yield from all_of("secret_scanning_alert", urn, held.alerts, found)
    single, listed = partial(protection.ruleset, site), partial(protection.listed_ruleset, site)
    yield from all_of("ruleset", urn, {repo.id: repo}, single, listed)


def _parts(site: Site, world: World, repo: Repo, *, insider: bool) -> Iterator[Expected]:
    urn, day = f"urn:repo:{repo.id}", world.clock.now().date().isoformat()
    found: dict[str, Callable[[], Any]] = {
        type: partial(shape, site, repo) for type, shape in _FILES.items() if shape(site, repo) is not None
    }
    for type, name in _STATISTICS.items() if repo.commits else ():
        if name != "code_frequency" or len(repo.commits) < FREQUENCY_CAP:
            found[type] = partial(parts.statistics, site, repo, name)
    if insider:
        found |= {f"{kind}:{day}": partial(parts.traffic, repo, kind) for kind in _TRAFFIC}
    for name, shape in found.items():
        yield Expected(type=name.partition(":")[0], urn=f"{urn}:{name}", single=partial(_wrapped, shape))


def _wrapped(shape: Callable[[], Any]) -> Body:
    """The body as it is saved: an array stands inside an object."""
    body = shape()
    return {"elements": body} if isinstance(body, list) else body


def of_org(site: Site, org: Org) -> Iterator[Expected]:
    """Projects and what is on them."""
    urn = f"urn:org:{org.id}"
    yield from all_of("project", urn, org.projects, partial(records.project, site, org))
    for project in org.projects.values():
        parent, form = f"{urn}:project:{project.number}", partial(records.project_item, site, org, project)
        yield from all_of("project_item", parent, by_id(project.items), form)


def of_owner(site: Site, world: World, owner: Owner, viewer: Viewer) -> Iterator[Expected]:
    """What an account has beside repositories: containers, which strangers are not told of, and gists."""
    if viewer.authenticated:
        parent = f"urn:{'org' if isinstance(owner, Org) else 'user'}:{owner.id}"
        packages = {belongings.package_id(repo): repo for repo in belongings.packages_of(world, owner)}
        yield from all_of("package", parent, packages, partial(belongings.package, site, world))
    if isinstance(owner, User):
        gists = {identity: identity for identity in accounts.gists_of(owner)}
        single, listed = partial(belongings.gist, site, owner), partial(belongings.listed_gist, site, owner)
        yield from all_of("gist", "urn", gists, single, listed)


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
