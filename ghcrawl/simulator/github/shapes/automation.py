"""What machines say of commits: statuses, checks, deployments, workflows and their runs."""

from __future__ import annotations

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
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.commits import simple_commit
from ghcrawl.simulator.github.shapes.repos import embedded_repo
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, url_names
from ghcrawl.simulator.github.world import World


def status(site: Site, repo: Repo, status: Status) -> Body:
    """A status, in the list of its commit; its URL is that of them all."""
    return {
        "url": f"{site.repo(repo)}/statuses/{status.sha}",
        "avatar_url": f"{site.base}/avatars/u/{status.creator.id}?v=4",
        **ids("SC", repo.id, status.id),
        "state": status.state,
        "description": f"{status.context}: {status.state}",
        "target_url": None,
        "context": status.context,
        **dated(status),
        "creator": simple_user(site, status.creator),
    }


def check_suite(site: Site, world: World, repo: Repo, suite: CheckSuite) -> Body:
    """A check suite as an element of a list."""
    url, done = f"{site.repo(repo)}/check-suites/{suite.id}", all(run.completed_at for run in suite.runs)
    failed = any(run.conclusion == "failure" for run in suite.runs)
    return {
        **ids("CS", repo.id, suite.id),
        "head_branch": suite.branch,
        "head_sha": suite.sha,
        "status": "completed" if done else "in_progress",
        "conclusion": ("failure" if failed else "success") if done else None,
        "url": url,
        "before": "0" * 40,
        "after": suite.sha,
        "pull_requests": [],
        "app": None,
        "repository": embedded_repo(site, world, repo),
        **dated(suite),
        "head_commit": simple_commit(repo.commits[suite.sha]),
        "latest_check_runs_count": len(suite.runs),
        "check_runs_url": f"{url}/check-runs",
    }


def whole_check_suite(site: Site, world: World, repo: Repo, suite: CheckSuite) -> Body:
    """A check suite alone: it also says whether it can be asked for again."""
    return {**check_suite(site, world, repo, suite), "rerequestable": True, "runs_rerequestable": True}


def check_run(site: Site, repo: Repo, suite: CheckSuite, run: CheckRun) -> Body:
    """A check run: the same alone and in lists."""
    url = f"{site.repo(repo)}/check-runs/{run.id}"
    output = {"title": None, "summary": None, "text": None, "annotations_count": int(run.conclusion == "failure")}
    return {
        **ids("CR", repo.id, run.id),
        "head_sha": suite.sha,
        "external_id": "",
        "url": url,
        "html_url": f"{site.page(repo)}/runs/{run.id}",
        "details_url": None,
        "status": "completed" if run.completed_at else "in_progress",
        "conclusion": run.conclusion,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "output": output | {"annotations_url": f"{url}/annotations"},
        "name": run.name,
        "check_suite": {"id": suite.id},
        "app": None,
        "pull_requests": [],
    }


def deployment(site: Site, repo: Repo, deployment: Deployment) -> Body:
    """A deployment: the same alone and in lists."""
    url = f"{site.repo(repo)}/deployments/{deployment.id}"
    return {
        "url": url,
        **ids("DE", repo.id, deployment.id),
        "sha": deployment.sha,
        "ref": deployment.ref,
        "task": "deploy",
        "payload": {},
        "original_environment": deployment.environment,
        "environment": deployment.environment,
        "description": None,
        "creator": simple_user(site, deployment.creator),
        **dated(deployment),
        "statuses_url": f"{url}/statuses",
        "repository_url": site.repo(repo),
        "transient_environment": False,
        "production_environment": deployment.environment == "production",
    }


def deployment_status(site: Site, repo: Repo, deployment: Deployment, status: DeploymentStatus) -> Body:
    """How far a deployment got: the same alone and in lists."""
    url = f"{site.repo(repo)}/deployments/{deployment.id}"
    return {
        "url": f"{url}/statuses/{status.id}",
        **ids("DES", repo.id, status.id),
        "state": status.state,
        "creator": simple_user(site, status.creator),
        "description": "",
        "environment": deployment.environment,
        "target_url": "",
        **dated(status),
        "deployment_url": url,
        "repository_url": site.repo(repo),
        "environment_url": "",
        "log_url": "",
    }


def workflow(site: Site, repo: Repo, workflow: Workflow) -> Body:
    """A workflow: the same alone and in lists."""
    return {
        **ids("W", repo.id, workflow.id),
        "name": workflow.name,
        "path": workflow.path,
        "state": "active",
        **dated(workflow),
        "url": f"{site.repo(repo)}/actions/workflows/{workflow.id}",
        "html_url": f"{site.page(repo)}/blob/{repo.default_branch}/{workflow.path}",
        "badge_url": f"{site.page(repo)}/workflows/{workflow.name}/badge.svg",
    }


_RUN_URLS = url_names("/jobs", "/logs", "/artifacts", "/cancel", "/rerun")


def workflow_run(site: Site, world: World, repo: Repo, run: WorkflowRun) -> Body:
    """A run: the same alone and in lists."""
    url = f"{site.repo(repo)}/actions/runs/{run.id}"
    embedded = embedded_repo(site, world, repo)
    return {
        **ids("WFR", repo.id, run.id),
        "name": run.workflow.name,
        "head_branch": run.branch,
        "head_sha": run.sha,
        "path": run.workflow.path,
        "display_title": run.message.partition("\n")[0],
        "run_number": run.number,
        "event": "push",
        "status": "completed" if run.conclusion else "in_progress",
        "conclusion": run.conclusion,
        "workflow_id": run.workflow.id,
        "url": url,
        "html_url": f"{site.page(repo)}/actions/runs/{run.id}",
        "pull_requests": [],
        **dated(run),
        "actor": simple_user(site, run.actor),
        "triggering_actor": simple_user(site, run.actor),
        "run_attempt": 1,
        "run_started_at": run.created_at,
        **{name: url + path for name, path in _RUN_URLS.items()},
        "check_suite_url": f"{site.repo(repo)}/check-suites/{run.id}",
        "previous_attempt_url": None,
        "workflow_url": f"{site.repo(repo)}/actions/workflows/{run.workflow.id}",
        "head_commit": simple_commit(repo.commits[run.sha]),
        "repository": embedded,
        "head_repository": embedded,
    }
