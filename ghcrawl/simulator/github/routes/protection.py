"""What guards a repository, and what runs leave behind in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Commit, Issue, Repo
from ghcrawl.simulator.github.records import Alert, WorkflowRun
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes import commits
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number
from ghcrawl.simulator.github.routes.automation import counted
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import commits as shapes
from ghcrawl.simulator.github.shapes import left_behind, protection, pulls
from ghcrawl.simulator.github.shapes.site import Body


def rulesets(ask: Ask, repo: Repo) -> Many[Repo]:
    """`/rulesets`."""
    return Many(elements=[repo], shape=lambda each: protection.listed_ruleset(ask.site, each))


def ruleset(ask: Ask, repo: Repo, text: str) -> One:
    """`/rulesets/{id}`."""
    if number(text) != repo.id:
        raise not_found()
    return One(body=protection.ruleset(ask.site, repo))


def branch(ask: Ask, repo: Repo, name: str) -> One:
    """`/branches/{branch}` and `/branches/{branch}/protection`: names have slashes, encoded or not."""
    bare = name.removesuffix("/protection")
    return commits.branch(ask, repo, name) if bare == name or name in repo.branches else _protection(ask, repo, bare)


def _protection(ask: Ask, repo: Repo, name: str) -> One:
    """For those who may administer."""
    ref = found(repo.branches.get(name))
    if not ask.viewer.insider(repo.owner):
        raise not_found()
    if not ref.protected:
        raise Refusal(refused(404, "Branch not protected"))
    return One(body=protection.branch_protection(ask.site, repo, ref))


def _admit(ask: Ask, repo: Repo) -> None:
    if not ask.viewer.insider(repo.owner) or not ask.manners.alerts_shown:
        raise Refusal(refused(403, "You are not authorized to read code scanning alerts."))


def code_scanning_alerts(ask: Ask, repo: Repo) -> Many[Alert]:
    """`/code-scanning/alerts`, for those who are entitled: newest first."""
    _admit(ask, repo)
    held = list(repo.records.alerts.values())[::-1]
    return Many(elements=held, shape=lambda each: protection.code_scanning_alert(ask.site, repo, each))


def code_scanning_alert(ask: Ask, repo: Repo, text: str) -> One:
    """`/code-scanning/alerts/{number}`."""
    _admit(ask, repo)
    alert = found(repo.records.alerts.get(number(text)))
    return One(body=protection.code_scanning_alert(ask.site, repo, alert))


def _admit_to_secrets(ask: Ask, repo: Repo) -> bool:
    """Whether the secrets themselves are hidden. Raises Refusal for all but administrators."""
    if not ask.viewer.administers(repo) or not ask.manners.alerts_shown:
        raise not_found()
    return ask.params.get("hide_secret") == "true"


def secret_scanning_alerts(ask: Ask, repo: Repo) -> Many[Alert]:
    """`/secret-scanning/alerts`, for administrators: newest first."""
    hidden, held = _admit_to_secrets(ask, repo), list(repo.records.alerts.values())[::-1]
    shape = partial(protection.secret_scanning_alert, ask.site, repo, hidden=hidden)
    return Many(elements=held, shape=shape)


def secret_scanning_alert(ask: Ask, repo: Repo, text: str) -> One:
    """`/secret-scanning/alerts/{number}`."""
    hidden, alert = _admit_to_secrets(ask, repo), found(repo.records.alerts.get(number(text)))
    return One(body=protection.secret_scanning_alert(ask.site, repo, alert, hidden=hidden))


def sbom(_ask: Ask, repo: Repo) -> One:
    """`/dependency-graph/sbom`."""
    if not repo.commits:
        raise not_found()
    return One(body=protection.sbom(repo))


def _run(repo: Repo, text: str) -> WorkflowRun:
    return found(repo.records.workflow_runs.get(number(text)))


def jobs(ask: Ask, repo: Repo, text: str) -> Many[WorkflowRun]:
    """`/actions/runs/{id}/jobs`."""
    elements = [_run(repo, text)]
    return Many(elements=elements, shape=lambda run: left_behind.job(ask.site, repo, run), wrap=counted("jobs"))


def job(ask: Ask, repo: Repo, text: str) -> One:
    """`/actions/jobs/{id}`."""
    wanted = number(text)
    runs = (run for run in repo.records.workflow_runs.values() if left_behind.job_id(run) == wanted)
    return One(body=left_behind.job(ask.site, repo, found(next(runs, None))))


def artifacts(ask: Ask, repo: Repo) -> Many[WorkflowRun]:
    """`/actions/artifacts`: newest first."""
    return _artifacts(ask, repo, left_behind.artifacts_of(repo))


def _artifacts(ask: Ask, repo: Repo, runs: Sequence[WorkflowRun]) -> Many[WorkflowRun]:
    return Many(elements=runs, shape=lambda run: left_behind.artifact(ask.site, repo, run), wrap=counted("artifacts"))


def artifacts_of(ask: Ask, repo: Repo, text: str) -> Many[WorkflowRun]:
    """`/actions/runs/{id}/artifacts`."""
    run = _run(repo, text)
    return _artifacts(ask, repo, [each for each in left_behind.artifacts_of(repo) if each is run])


def artifact(ask: Ask, repo: Repo, text: str) -> One:
    """`/actions/artifacts/{id}`."""
    wanted = number(text)
    runs = (run for run in left_behind.artifacts_of(repo) if left_behind.artifact_id(run) == wanted)
    return One(body=left_behind.artifact(ask.site, repo, found(next(runs, None))))


def annotations_of(ask: Ask, repo: Repo, text: str) -> Many[Body]:
    """`/check-runs/{id}/annotations`."""
    wanted = number(text)
    pairs = ((suite, run) for suite in repo.records.check_suites.values() for run in suite.runs if run.id == wanted)
    suite, run = found(next(pairs, None))
    return Many(elements=left_behind.annotations_of(ask.site, repo, run, suite.sha), shape=lambda each: each)


def environments(ask: Ask, repo: Repo) -> Many[str]:
    """`/environments`."""
    return Many(
        elements=left_behind.environments_of(repo),
        shape=lambda name: left_behind.environment(ask.site, repo, name),
        wrap=counted("environments"),
    )


def environment(ask: Ask, repo: Repo, name: str) -> One:
    """`/environments/{name}`."""
    if name not in left_behind.environments_of(repo):
        raise not_found()
    return One(body=left_behind.environment(ask.site, repo, name))


def pulls_of_commit(ask: Ask, repo: Repo, text: str) -> Many[Issue]:
    """`/commits/{sha}/pulls`: those that brought the commit."""
    commit = commits.find_commit(repo, text)
    brought = [issue for issue in repo.pulls if issue.pull is not None and _brought(issue, commit)]
    return Many(elements=brought, shape=lambda each: pulls.listed_pull(ask.site, ask.world, repo, each))


def _brought(issue: Issue, commit: Commit) -> bool:
    pull = issue.pull
    return pull is not None and (commit in pull.commits or pull.merge_commit_sha == commit.sha)


def files_of_pull(ask: Ask, repo: Repo, text: str) -> Many[Body]:
    """`/pulls/{number}/files`: of each file the last change."""
    issue = found(repo.issues.get(number(text)))
    pull = found(issue.pull)
    changed = {str(file["filename"]): file for each in pull.commits for file in _files(ask, repo, each)}
    return Many(elements=list(changed.values()), shape=lambda each: each)


def _files(ask: Ask, repo: Repo, commit: Commit) -> list[Body]:
    files = shapes.commit(ask.site, repo, commit)["files"]
    return files if isinstance(files, list) else []


ROUTES: Final[dict[str, Finder]] = {
    "rulesets": rulesets,
    "rulesets/{id}": ruleset,
    "branches/{name*}": branch,
    "code-scanning/alerts": code_scanning_alerts,
    "code-scanning/alerts/{number}": code_scanning_alert,
    "secret-scanning/alerts": secret_scanning_alerts,
    "secret-scanning/alerts/{number}": secret_scanning_alert,
    "dependency-graph/sbom": sbom,
    "actions/runs/{id}/jobs": jobs,
    "actions/jobs/{id}": job,
    "actions/artifacts": artifacts,
    "actions/runs/{id}/artifacts": artifacts_of,
    "actions/artifacts/{id}": artifact,
    "check-runs/{id}/annotations": annotations_of,
    "environments": environments,
    "environments/{name}": environment,
    "commits/{sha}/pulls": pulls_of_commit,
    "pulls/{number}/files": files_of_pull,
}
