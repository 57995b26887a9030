"""What machines say of commits, what their runs leave behind, and what a repository has one of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.records import CheckRun, CheckSuite, Deployment, DeploymentStatus, WorkflowRun
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found
from ghcrawl.simulator.github.routes.commits import find_commit
from ghcrawl.simulator.github.routes.finders import every, listed, newest, numbered, of_id, part, single
from ghcrawl.simulator.github.routes.table import Finder, Found
from ghcrawl.simulator.github.shapes import automation as shapes
from ghcrawl.simulator.github.shapes import left_behind, parts, protection
from ghcrawl.simulator.github.shapes.site import Body

_suite: Final = numbered("records.check_suites")
_deployment: Final = numbered("records.deployments")
_workflow: Final = numbered("records.workflows")
_run: Final = numbered("records.workflow_runs")


def _suites(repo: Repo, text: str) -> list[CheckSuite]:
    return repo.records.suites_of(find_commit(repo, text).sha)


def _checks(suites: Iterable[CheckSuite]) -> list[tuple[CheckSuite, CheckRun]]:
    return [(suite, run) for suite in suites for run in suite.runs]


_check: Final = of_id(lambda repo: _checks(repo.records.check_suites.values()))


def _deployment_statuses(repo: Repo, text: str) -> list[tuple[Deployment, DeploymentStatus]]:
    held = found(_deployment(repo, text))
    return [(held, each) for each in held.statuses[::-1]]


def _runs_of(repo: Repo, text: str) -> list[WorkflowRun]:
    wanted = found(_workflow(repo, text))
    return [each for each in reversed(repo.records.workflow_runs.values()) if each.workflow is wanted]


def _artifacts_of(repo: Repo, text: str) -> list[WorkflowRun]:
    run = found(_run(repo, text))
    return [each for each in left_behind.artifacts_of(repo) if each is run]


def annotations_of(ask: Ask, repo: Repo, text: str) -> Many[Body]:
    """`/check-runs/{id}/annotations`."""
    suite, run = found(_check(repo, text))
    return Many(elements=left_behind.annotations_of(ask.site, repo, run, suite.sha), shape=lambda each: each)


def contents(ask: Ask, repo: Repo, path: str) -> One:
    """`/contents/{path}`: of the only file that is looked for."""
    file = found(parts.codeowners(ask.site, repo))
    if file["path"] != path:
        raise not_found()
    return One(body=file)


def _traffic(kind: str) -> Finder:
    def answer(ask: Ask, repo: Repo) -> Found:
        if not ask.viewer.insider(repo.owner):
            raise Refusal(refused(403, "Must have push access to repository"))
        return One(body=parts.traffic(repo, kind))

    return answer


def statistics(ask: Ask, repo: Repo, name: str) -> Answer | One:
    """`/stats/{name}`: 202 with nothing in it when asked for the first time since the last push."""
    if name not in parts.STATISTICS:
        raise not_found()
    if not repo.commits:
        return Answer(status=204, body=None)
    if name == "code_frequency" and len(repo.commits) >= ask.manners.frequency_cap:
        raise Refusal(refused(422, "Repository contains too many commits to compute code frequency"))
    key = (repo.id, name, repo.pushed_at)
    if key not in ask.computed:
        ask.computed.add(key)
        return Answer(status=202, body={})
    return One(body=parts.statistics(ask.site, repo, name))


_STATUSES: Final = listed(
    lambda repo, text: reversed(repo.records.statuses.get(find_commit(repo, text).sha, [])), shapes.status
)
ROUTES: Final[dict[str, Finder]] = {
    "commits/{sha}/statuses": _STATUSES,
    "statuses/{sha}": _STATUSES,
    "commits/{sha}/check-suites": listed(_suites, shapes.check_suite, name="check_suites", in_world=True),
    "commits/{sha}/check-runs": listed(
        lambda repo, text: _checks(_suites(repo, text)), shapes.check_run, name="check_runs"
    ),
    "check-suites/{id}": single(_suite, shapes.whole_check_suite, in_world=True),
    "check-suites/{id}/check-runs": listed(
        lambda repo, text: _checks([found(_suite(repo, text))]), shapes.check_run, name="check_runs"
    ),
    "check-runs/{id}": single(_check, shapes.check_run),
    "check-runs/{id}/annotations": annotations_of,
    "deployments": listed(newest("records.deployments"), shapes.deployment),
    "deployments/{id}": single(_deployment, shapes.deployment),
    "deployments/{id}/statuses": listed(_deployment_statuses, shapes.deployment_status),
    "deployments/{id}/statuses/{status}": single(of_id(_deployment_statuses), shapes.deployment_status),
    "actions/workflows": listed(every("records.workflows"), shapes.workflow, name="workflows"),
    "actions/workflows/{id}": single(_workflow, shapes.workflow),
    "actions/workflows/{id}/runs": listed(_runs_of, shapes.workflow_run, name="workflow_runs", in_world=True),
    "actions/runs": listed(newest("records.workflow_runs"), shapes.workflow_run, name="workflow_runs", in_world=True),
    "actions/runs/{id}": single(_run, shapes.workflow_run, in_world=True),
    "actions/runs/{id}/jobs": listed(lambda repo, text: [found(_run(repo, text))], left_behind.job, name="jobs"),
    "actions/jobs/{id}": single(of_id(every("records.workflow_runs"), by=left_behind.job_id), left_behind.job),
    "actions/artifacts": listed(left_behind.artifacts_of, left_behind.artifact, name="artifacts"),
    "actions/runs/{id}/artifacts": listed(_artifacts_of, left_behind.artifact, name="artifacts"),
    "actions/artifacts/{id}": single(of_id(left_behind.artifacts_of, by=left_behind.artifact_id), left_behind.artifact),
    "environments": listed(left_behind.environments_of, left_behind.environment, name="environments"),
    "environments/{name}": single(
        lambda repo, name: name if name in left_behind.environments_of(repo) else None, left_behind.environment
    ),
    "languages": part(parts.languages),
    "topics": part(parts.topics),
    "license": part(parts.license_file),
    "readme": part(parts.readme),
    "contents/{path*}": contents,
    "dependency-graph/sbom": part(protection.sbom),
    "community/profile": part(parts.community_profile),
    "traffic/views": _traffic("views"),
    "traffic/clones": _traffic("clones"),
    "traffic/popular/paths": _traffic("paths"),
    "traffic/popular/referrers": _traffic("referrers"),
    "stats/{name}": statistics,
}
