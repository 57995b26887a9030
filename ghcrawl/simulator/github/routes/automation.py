"""What machines say of commits, and what a repository has one of."""

from __future__ import annotations

from typing import Any, Final

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.records import (
    CheckRun,
    CheckSuite,
    Deployment,
    DeploymentStatus,
    Status,
    Workflow,
    WorkflowRun,
)
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number
from ghcrawl.simulator.github.routes.commits import find_commit
from ghcrawl.simulator.github.routes.table import Finder, Found
from ghcrawl.simulator.github.shapes import automation as shapes
from ghcrawl.simulator.github.shapes import parts


def counted(name: str) -> Any:
    """For `Many.wrap`: the elements stand under that name, beside their number."""
    return lambda bodies, total: {"total_count": total, name: bodies}


def statuses(ask: Ask, repo: Repo, text: str) -> Many[Status]:
    """`/commits/{ref}/statuses`: newest first."""
    held = repo.records.statuses.get(find_commit(repo, text).sha, [])
    return Many(elements=held[::-1], shape=lambda each: shapes.status(ask.site, repo, each))


def check_suites(ask: Ask, repo: Repo, text: str) -> Many[CheckSuite]:
    """`/commits/{ref}/check-suites`."""
    return Many(
        elements=repo.records.suites_of(find_commit(repo, text).sha),
        shape=lambda each: shapes.check_suite(ask.site, ask.world, repo, each),
        wrap=counted("check_suites"),
    )


def check_suite(ask: Ask, repo: Repo, text: str) -> One:
    """`/check-suites/{id}`."""
    suite = found(repo.records.check_suites.get(number(text)))
    return One(body=shapes.whole_check_suite(ask.site, ask.world, repo, suite))


def _runs(ask: Ask, repo: Repo, suites: list[CheckSuite]) -> Many[tuple[CheckSuite, CheckRun]]:
    return Many(
        elements=[(suite, run) for suite in suites for run in suite.runs],
        shape=lambda each: shapes.check_run(ask.site, repo, *each),
        wrap=counted("check_runs"),
    )


def check_runs(ask: Ask, repo: Repo, text: str) -> Many[tuple[CheckSuite, CheckRun]]:
    """`/commits/{ref}/check-runs`."""
    return _runs(ask, repo, repo.records.suites_of(find_commit(repo, text).sha))


def suite_runs(ask: Ask, repo: Repo, text: str) -> Many[tuple[CheckSuite, CheckRun]]:
    """`/check-suites/{id}/check-runs`."""
    return _runs(ask, repo, [found(repo.records.check_suites.get(number(text)))])


def check_run(ask: Ask, repo: Repo, text: str) -> One:
    """`/check-runs/{id}`."""
    wanted = number(text)
    pairs = ((suite, run) for suite in repo.records.check_suites.values() for run in suite.runs if run.id == wanted)
    return One(body=shapes.check_run(ask.site, repo, *found(next(pairs, None))))


def deployments(ask: Ask, repo: Repo) -> Many[Deployment]:
    """`/deployments`: newest first."""
    held = list(repo.records.deployments.values())[::-1]
    return Many(elements=held, shape=lambda each: shapes.deployment(ask.site, repo, each))


def deployment(ask: Ask, repo: Repo, text: str) -> One:
    """`/deployments/{id}`."""
    return One(body=shapes.deployment(ask.site, repo, found(repo.records.deployments.get(number(text)))))


def deployment_statuses(ask: Ask, repo: Repo, text: str) -> Many[DeploymentStatus]:
    """`/deployments/{id}/statuses`: newest first."""
    held = found(repo.records.deployments.get(number(text)))
    return Many(elements=held.statuses[::-1], shape=lambda each: shapes.deployment_status(ask.site, repo, held, each))


def deployment_status(ask: Ask, repo: Repo, text: str, status: str) -> One:
    """`/deployments/{id}/statuses/{id}`."""
    held, wanted = found(repo.records.deployments.get(number(text))), number(status)
    hit = found(next((each for each in held.statuses if each.id == wanted), None))
    return One(body=shapes.deployment_status(ask.site, repo, held, hit))


def workflows(ask: Ask, repo: Repo) -> Many[Workflow]:
    """`/actions/workflows`."""
    return Many(
        elements=list(repo.records.workflows.values()),
        shape=lambda each: shapes.workflow(ask.site, repo, each),
        wrap=counted("workflows"),
    )


def workflow(ask: Ask, repo: Repo, text: str) -> One:
    """`/actions/workflows/{id}`."""
    return One(body=shapes.workflow(ask.site, repo, found(repo.records.workflows.get(number(text)))))


def _workflow_runs(ask: Ask, repo: Repo, held: list[WorkflowRun]) -> Many[WorkflowRun]:
    return Many(
        elements=held[::-1],
        shape=lambda each: shapes.workflow_run(ask.site, ask.world, repo, each),
        wrap=counted("workflow_runs"),
    )


def workflow_runs(ask: Ask, repo: Repo) -> Many[WorkflowRun]:
    """`/actions/runs`: newest first."""
    return _workflow_runs(ask, repo, list(repo.records.workflow_runs.values()))


def runs_of(ask: Ask, repo: Repo, text: str) -> Many[WorkflowRun]:
    """`/actions/workflows/{id}/runs`: newest first."""
    wanted = found(repo.records.workflows.get(number(text)))
    return _workflow_runs(ask, repo, [each for each in repo.records.workflow_runs.values() if each.workflow is wanted])


def workflow_run(ask: Ask, repo: Repo, text: str) -> One:
    """`/actions/runs/{id}`."""
    run = found(repo.records.workflow_runs.get(number(text)))
    return One(body=shapes.workflow_run(ask.site, ask.world, repo, run))


def languages(_ask: Ask, repo: Repo) -> One:
    """`/languages`: bytes by language."""
    return One(body=parts.languages(repo))


def topics(_ask: Ask, repo: Repo) -> One:
    """`/topics`."""
    return One(body={"names": list(repo.topics)})


def license_file(ask: Ask, repo: Repo) -> One:
    """`/license`."""
    if repo.id % 3 == 0 or not repo.commits:
        raise not_found()
    return One(body=parts.license_file(ask.site, repo))


def readme(ask: Ask, repo: Repo) -> One:
    """`/readme`."""
    return One(body=parts.file(ask.site, repo, "README.md", found(repo.records.readme)))


def contents(ask: Ask, repo: Repo, path: str) -> One:
    """`/contents/{path}`: of the few files that there are."""
    place, text = repo.records.codeowners or ("", "")
    if not place or path != place:
        raise not_found()
    return One(body=parts.file(ask.site, repo, path, text))


def community_profile(ask: Ask, repo: Repo) -> One:
    """`/community/profile`: of public repositories that are no forks."""
    if repo.private or repo.parent is not None:
        raise not_found()
    return One(body=parts.community_profile(ask.site, repo))


def _traffic(kind: str) -> Finder:
    def answer(ask: Ask, repo: Repo) -> Found:
        if not ask.viewer.insider(repo.owner):
            raise Refusal(refused(403, "Must have push access to repository"))
        body = parts.traffic(repo, kind)
        return One(body=body)

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


ROUTES: Final[dict[str, Finder]] = {
    "commits/{sha}/statuses": statuses,
    "statuses/{sha}": statuses,
    "commits/{sha}/check-suites": check_suites,
    "commits/{sha}/check-runs": check_runs,
    "check-suites/{id}": check_suite,
    "check-suites/{id}/check-runs": suite_runs,
    "check-runs/{id}": check_run,
    "deployments": deployments,
    "deployments/{id}": deployment,
    "deployments/{id}/statuses": deployment_statuses,
    "deployments/{id}/statuses/{status}": deployment_status,
    "actions/workflows": workflows,
    "actions/workflows/{id}": workflow,
    "actions/workflows/{id}/runs": runs_of,
    "actions/runs": workflow_runs,
    "actions/runs/{id}": workflow_run,
    "languages": languages,
    "topics": topics,
    "license": license_file,
    "readme": readme,
    "contents/{path*}": contents,
    "community/profile": community_profile,
    "traffic/views": _traffic("views"),
    "traffic/clones": _traffic("clones"),
    "traffic/popular/paths": _traffic("paths"),
    "traffic/popular/referrers": _traffic("referrers"),
    "stats/{name}": statistics,
}
