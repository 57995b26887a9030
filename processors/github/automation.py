"""Automation: statuses, checks, deployments, environments, workflows, their runs, jobs and artifacts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, mappings, number, text
from processors.github.condition import HAS_FILES
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.listing import Listing
from processors.github.names import last_number, owner_kind, repo_of, required
from processors.github.repo import in_repo


def head_of_pull(body: JsonObject) -> str:
    """The commit that a pull request proposes."""
    return text(at(body, "head", "sha"))


def tip_of_branch(body: JsonObject) -> str:
    """The commit that a branch names."""
    return text(at(body, "commit", "sha"))


def _on_commit(type: str, sha: str, body: JsonObject, qualifier: str) -> str:
    if not sha and owner_kind(qualifier) == "commit":
        sha = qualifier.rpartition(":")[2]
    commit = f"{repo_of(qualifier)}:commit:{required(sha, 'commit that it is on')}"
    return f"{commit}:{type}:{required(number(body.get('id')), 'id')}"


def check_urn(type: str) -> Callable[[JsonObject, str], str]:
    """How check runs and suites are named: `urn:repo:12:commit:<sha>:check_run:5`."""
    return lambda body, qualifier: _on_commit(type, text(body.get("head_sha")), body, qualifier)


def status_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:commit:<sha>:status:5`; its URL is that of all statuses of its commit."""
    url = text(body.get("url"))
    return _on_commit("status", url.rpartition("/statuses/")[2] if "/statuses/" in url else "", body, qualifier)


def status_url(body: JsonObject, base: str) -> str:
    """Of its own it has none."""
    return f"{text(body.get('url')) or base}#{body.get('id')}"


def describe_check_run(node: Node) -> None:
    """A check run belongs to a suite; the pull requests that propose its commit are linked."""
    suite = number(at(node.body, "check_suite", "id"))
    if suite is not None:
        node.link("check_suite", f"{node.urn.rpartition(':check_run:')[0]}:check_suite:{suite}")
    link_pulls(node)


def link_pulls(node: Node) -> None:
    """Link the pull requests that propose the commit."""
    numbers = (number(pull.get("number")) for pull in mappings(node.body.get("pull_requests")))
    node.hrefs_in_repo("pull_requests", numbers, "pull_request")


def describe_deployment(node: Node) -> None:
    """A deployment leads to who made it; its commit is linked."""
    node.link_in_repo("commit", text(node.body.get("sha")))


def deployment_status_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:deployment:3:deployment_status:8`."""
    if owner_kind(qualifier) == "deployment":
        deployment = qualifier
    else:
        found = last_number(body.get("deployment_url"))
        deployment = f"{repo_of(qualifier)}:deployment:{required(found, 'deployment_url')}"
    return f"{deployment}:deployment_status:{required(number(body.get('id')), 'id')}"


def describe_run(node: Node) -> None:
    """A run leads to who caused it; its workflow, commit and pull requests are linked."""
    node.link_in_repo("workflow", number(node.body.get("workflow_id")))
    node.link_in_repo("commit", text(node.body.get("head_sha")))
    link_pulls(node)


def job_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:workflow_run:3:workflow_job:8`."""
    run = required(number(body.get("run_id")), "run_id")
    return f"{repo_of(qualifier)}:workflow_run:{run}:workflow_job:{required(number(body.get('id')), 'id')}"


def describe_artifact(node: Node) -> None:
    """An artifact is what a run left behind."""
    node.link_in_repo("workflow_run", number(at(node.body, "workflow_run", "id")))
    node.link_in_repo("commit", text(at(node.body, "workflow_run", "head_sha")))


# fmt: off
STATUS = Entity("status", "", status_urn, url=status_url, plural="statuses", parent="commit", has_url=False,
    was="status", people=("creator",))
CHECK_SUITE = Entity("check_suite", "/repos/{owner}/{repo}/check-suites/{check_suite_id}", check_urn("check_suite"),
    describe=link_pulls, parent="commit",
    lacks=dict.fromkeys(("list", "webhook"), ("rerequestable", "runs_rerequestable")))
CHECK_RUN = Entity("check_run", "/repos/{owner}/{repo}/check-runs/{check_run_id}", check_urn("check_run"),
    describe=describe_check_run, parent="commit", changed=("completed_at", "started_at"))
DEPLOYMENT = Entity("deployment", "/repos/{owner}/{repo}/deployments/{deployment_id}", in_repo("deployment", "id"),
    describe=describe_deployment, parent="repo", was="deployment", people=("creator",))
DEPLOYMENT_STATUS = Entity("deployment_status",
    "/repos/{owner}/{repo}/deployments/{deployment_id}/statuses/{status_id}", deployment_status_urn,
    plural="deployment_statuses", parent="deployment", people=("creator",))
WORKFLOW = Entity("workflow", "/repos/{owner}/{repo}/actions/workflows/{workflow}", in_repo("workflow", "id"),
    parent="repo")
WORKFLOW_RUN = Entity("workflow_run", "/repos/{owner}/{repo}/actions/runs/{run_id}", in_repo("workflow_run", "id"),
    describe=describe_run, parent="repo", people=("actor", "triggering_actor"))
WORKFLOW_JOB = Entity("workflow_job", "/repos/{owner}/{repo}/actions/jobs/{job_id}", job_urn, parent="workflow_run",
    changed=("completed_at", "started_at", "created_at"),
    lists=(
        Listing("workflow_run", "workflow_jobs", "workflow_job", "/jobs", name="jobs", query="filter=all",
                complete=True, item_at="jobs"),
    ))
ARTIFACT = Entity("artifact", "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}", in_repo("artifact", "id"),
    describe=describe_artifact, parent="repo",
    lists=(
        Listing("repo", "artifacts", "artifact", "/actions/artifacts", complete=True, newest_first=True,
                known_only=True, item_at="artifacts"),
        Listing("workflow_run", "artifacts", "artifact", "/artifacts", complete=True, covered_by="repo",
                item_at="artifacts"),
    ))
ENVIRONMENT = Entity("environment", "/repos/{owner}/{repo}/environments/{environment}", in_repo("environment", "id"),
    parent="repo",
    lists=(
        Listing("repo", "environments", "environment", "/environments", complete=True, item_at="environments",
                when=HAS_FILES),
    ))
# fmt: on

ENTITIES: Final = (
    STATUS,
    CHECK_SUITE,
    CHECK_RUN,
    DEPLOYMENT,
    DEPLOYMENT_STATUS,
    WORKFLOW,
    WORKFLOW_RUN,
    WORKFLOW_JOB,
    ARTIFACT,
    ENVIRONMENT,
)
