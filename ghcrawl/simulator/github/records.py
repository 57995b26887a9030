"""What a repository keeps besides code and conversation: who starred it, what happened, what machines said of it.

As all entities, they change in place and compare by identity; only `changes` and `generation` write to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ghcrawl.simulator.github.moments import Dated
from ghcrawl.simulator.github.people import User

if TYPE_CHECKING:
    from ghcrawl.simulator.github.entities import Issue, Label


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Star:
    """A star of a repository, and since when."""

    user: User
    starred_at: str


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class IssueEvent:
    """Something that happened to an issue. event: GitHub's word for it."""

    id: int
    issue: Issue
    actor: User | None
    event: str
    created_at: str
    label: Label | None = None
    assignee: User | None = None
    commit_id: str | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Reaction:
    """A reaction to an issue, a comment or a release."""

    id: int
    user: User | None
    content: str
    created_at: str


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Status(Dated):
    """What one machine says of one commit."""

    id: int
    sha: str
    state: Literal["success", "failure", "pending"]
    context: str
    creator: User


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class CheckRun:
    """One check of a suite; not `completed_at` while it runs."""

    id: int
    name: str
    started_at: str
    completed_at: str | None
    conclusion: str | None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class CheckSuite(Dated):
    """The checks of one App on one commit."""

    id: int
    sha: str
    branch: str
    runs: list[CheckRun] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class DeploymentStatus(Dated):
    """How far a deployment got."""

    id: int
    state: Literal["pending", "in_progress", "success", "failure"]
    creator: User


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Deployment(Dated):
    """A commit on its way to an environment."""

    id: int
    sha: str
    ref: str
    environment: str
    creator: User
    statuses: list[DeploymentStatus] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Workflow(Dated):
    """A file of instructions for machines."""

    id: int
    name: str
    path: str


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class WorkflowRun(Dated):
    """One time that a workflow was followed; no conclusion while it is under way."""

    id: int
    workflow: Workflow
    number: int
    sha: str
    message: str
    branch: str
    actor: User
    conclusion: str | None = "success"


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Advisory(Dated):
    """A weakness of the repository's own, published."""

    ghsa_id: str
    summary: str
    severity: Literal["low", "medium", "high", "critical"]
    author: User


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Alert(Dated):
    """A weakness of something that the repository depends on; only those who may push are told."""

    number: int
    package: str
    severity: Literal["low", "medium", "high", "critical"]
    dismissed_by: User | None = None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Discussion(Dated):
    """A conversation that is no issue."""

    id: int
    number: int
    title: str
    user: User | None


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Records:
    """All of that of one repository. reactions: by what they are on."""

    stars: dict[int, Star] = field(default_factory=dict)
    subscribers: dict[int, User] = field(default_factory=dict)
    issue_events: dict[int, IssueEvent] = field(default_factory=dict)
    reactions: dict[object, list[Reaction]] = field(default_factory=dict)
    statuses: dict[str, list[Status]] = field(default_factory=dict)
    check_suites: dict[int, CheckSuite] = field(default_factory=dict)
    deployments: dict[int, Deployment] = field(default_factory=dict)
    workflows: dict[int, Workflow] = field(default_factory=dict)
    workflow_runs: dict[int, WorkflowRun] = field(default_factory=dict)
    advisories: dict[str, Advisory] = field(default_factory=dict)
    alerts: dict[int, Alert] = field(default_factory=dict)
    discussions: dict[int, Discussion] = field(default_factory=dict)
    readme: str | None = None
    codeowners: tuple[str, str] | None = None

    def suites_of(self, sha: str) -> list[CheckSuite]:
        """The suites of that commit."""
        return [suite for suite in self.check_suites.values() if suite.sha == sha]


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ProjectItem(Dated):
    """Something on a project's board, by the issue that it is."""

    id: int
    creator: User
    issue_number: int


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Project(Dated):
    """A board of an organisation."""

    id: int
    number: int
    title: str
    creator: User
    items: list[ProjectItem] = field(default_factory=list)
