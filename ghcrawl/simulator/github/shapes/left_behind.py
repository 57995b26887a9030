"""What runs leave behind: jobs, artifacts, annotations, environments. All follow from the runs and deployments."""

from __future__ import annotations

from collections.abc import Sequence

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.records import CheckRun, WorkflowRun
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids


def artifacts_of(repo: Repo) -> Sequence[WorkflowRun]:
    """The runs that left an artifact behind: those that succeeded, newest first."""
    return [run for run in reversed(repo.records.workflow_runs.values()) if run.conclusion == "success"]


def artifact_id(run: WorkflowRun) -> int:
    """Of the one artifact of that run."""
    return run.id * 10 + 2


def artifact(site: Site, repo: Repo, run: WorkflowRun) -> Body:
    """What a run left behind: the same alone and in lists."""
    url = f"{site.repo(repo)}/actions/artifacts/{artifact_id(run)}"
    return {
        **ids("AR", repo.id, artifact_id(run)),
        "name": f"{run.workflow.name}-report",
        "size_in_bytes": 1_000 + run.number,
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": False,
        "digest": f"sha256:{run.sha.ljust(64, '0')}",
        **dated(run),
        "expires_at": None,
        "workflow_run": {
            "id": run.id,
            "repository_id": repo.id,
            "head_repository_id": repo.id,
            "head_branch": run.branch,
            "head_sha": run.sha,
        },
    }


def job_id(run: WorkflowRun) -> int:
    """Of the one job of that run."""
    return run.id * 10 + 1


def job(site: Site, repo: Repo, run: WorkflowRun) -> Body:
    """The one job of a run: the same alone and in lists."""
    done = run.conclusion is not None
    return {
        **ids("JOB", repo.id, job_id(run)),
        "run_id": run.id,
        "run_url": f"{site.repo(repo)}/actions/runs/{run.id}",
        "run_attempt": 1,
        "workflow_name": run.workflow.name,
        "head_branch": run.branch,
        "head_sha": run.sha,
        "url": f"{site.repo(repo)}/actions/jobs/{job_id(run)}",
        "html_url": f"{site.page(repo)}/actions/runs/{run.id}/job/{job_id(run)}",
        "check_run_url": f"{site.repo(repo)}/check-runs/{job_id(run)}",
        "status": "completed" if done else "in_progress",
        "conclusion": run.conclusion,
        "created_at": run.created_at,
        "started_at": run.created_at,
        "completed_at": run.updated_at if done else None,
        "name": run.workflow.name,
        "steps": [],
        "labels": ["ubuntu-latest"],
        "runner_id": 1,
        "runner_name": "runner",
        "runner_group_id": 1,
        "runner_group_name": "default",
    }


def annotations_of(site: Site, repo: Repo, run: CheckRun, sha: str) -> list[Body]:
    """What a check remarks, line by line: one thing, if it failed."""
    if run.conclusion != "failure":
        return []
    remark = {
        "path": "README.md",
        "blob_href": f"{site.page(repo)}/blob/{sha}/README.md",
        "start_line": 1,
        "end_line": 1,
        "start_column": None,
        "end_column": None,
        "annotation_level": "failure",
        "title": run.name,
        "message": f"{run.name} failed",
        "raw_details": None,
    }
    return [remark]


def environments_of(repo: Repo) -> Sequence[str]:
    """Names of the environments that something was deployed to."""
    return sorted({deployment.environment for deployment in repo.records.deployments.values()})


def environment_id(repo: Repo, name: str) -> int:
    """Of the environment of that name."""
    return repo.id * 10 + environments_of(repo).index(name)


def environment(site: Site, repo: Repo, name: str) -> Body:
    """An environment: the same alone and in lists."""
    identity = environment_id(repo, name)
    return {
        **ids("EN", identity),
        "name": name,
        "url": f"{site.repo(repo)}/environments/{name}",
        "html_url": f"{site.page(repo)}/deployments/activity_log?environments_filter={name}",
        "created_at": repo.created_at,
        "updated_at": repo.created_at,
        "can_admins_bypass": True,
        "protection_rules": [],
        "deployment_branch_policy": None,
    }
