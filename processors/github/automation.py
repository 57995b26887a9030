"""What machines say of commits: statuses, checks, deployments, workflows, their runs, and what these leave behind."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, mappings, number, text
from processors.github.condition import HAS_FILES
from processors.github.entity import Entity
from processors.github.graph import Node, last_number, owner_kind, repo_of, required
from processors.github.listing import Listing
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


STATUS = Entity(
    type="status",
    endpoint="",
    urn=status_urn,
    url=status_url,
    plural="statuses",
    parent="commit",
    has_url=False,
    was="status",
    people=("creator",),
)
CHECK_SUITE = Entity(
    type="check_suite",
    endpoint="/repos/{owner}/{repo}/check-suites/{check_suite_id}",
    urn=lambda body, qualifier: _on_commit("check_suite", text(body.get("head_sha")), body, qualifier),
    describe=link_pulls,
    lacks=dict.fromkeys(("list", "webhook"), ("rerequestable", "runs_rerequestable")),
    parent="commit",
)
CHECK_RUN = Entity(
    type="check_run",
    endpoint="/repos/{owner}/{repo}/check-runs/{check_run_id}",
    urn=lambda body, qualifier: _on_commit("check_run", text(body.get("head_sha")), body, qualifier),
    describe=describe_check_run,
    parent="commit",
    changed=("completed_at", "started_at"),
)
DEPLOYMENT = Entity(
    type="deployment",
    endpoint="/repos/{owner}/{repo}/deployments/{deployment_id}",
    urn=in_repo("deployment", "id"),
    describe=describe_deployment,
    parent="repo",
    was="deployment",
    people=("creator",),
)
DEPLOYMENT_STATUS = Entity(
    type="deployment_status",
    endpoint="/repos/{owner}/{repo}/deployments/{deployment_id}/statuses/{status_id}",
    urn=deployment_status_urn,
    plural="deployment_statuses",
    parent="deployment",
    people=("creator",),
)
WORKFLOW = Entity(
    type="workflow",
    endpoint="/repos/{owner}/{repo}/actions/workflows/{workflow}",
    urn=in_repo("workflow", "id"),
    parent="repo",
)
WORKFLOW_RUN = Entity(
    type="workflow_run",
    endpoint="/repos/{owner}/{repo}/actions/runs/{run_id}",
    urn=in_repo("workflow_run", "id"),
    describe=describe_run,
    parent="repo",
    people=("actor", "triggering_actor"),
)

WORKFLOW_JOB = Entity(
    type="workflow_job",
    endpoint="/repos/{owner}/{repo}/actions/jobs/{job_id}",
    urn=job_urn,
    parent="workflow_run",
    changed=("completed_at", "started_at", "created_at"),
    lists=(
        Listing(
            "workflow_run",
            "workflow_jobs",
            "workflow_job",
            "/jobs",
            name="jobs",
            query="filter=all",
            complete=True,
            item_at="jobs",
        ),
    ),
)
ARTIFACT = Entity(
    type="artifact",
    endpoint="/repos/{owner}/{repo}/actions/artifacts/{artifact_id}",
    urn=in_repo("artifact", "id"),
    describe=describe_artifact,
    parent="repo",
    lists=(
        Listing(
            "repo",
            "artifacts",
            "artifact",
            "/actions/artifacts",
            complete=True,
            newest_first=True,
            known_only=True,
            item_at="artifacts",
        ),
        Listing(
            "workflow_run", "artifacts", "artifact", "/artifacts", complete=True, covered_by="repo", item_at="artifacts"
        ),
    ),
)
ENVIRONMENT = Entity(
    type="environment",
    endpoint="/repos/{owner}/{repo}/environments/{environment}",
    urn=in_repo("environment", "id"),
    parent="repo",
    lists=(
        Listing(
            "repo",
            "environments",
            "environment",
            "/environments",
            complete=True,
            item_at="environments",
            when=HAS_FILES,
        ),
    ),
)

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
