"""Keeps a repository's records: what happened to its issues, who likes it, what machines said of its commits."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final

from ghcrawl.simulator.github.entities import Issue
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.chronicle import Chronicle
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.moments import UNTIL, at, seconds
from ghcrawl.simulator.github.people import Org, User
from ghcrawl.simulator.github.records import (
    Advisory,
    Alert,
    CheckRun,
    CheckSuite,
    Deployment,
    DeploymentStatus,
    Discussion,
    IssueEvent,
    Project,
    ProjectItem,
    Reaction,
    Star,
    Status,
    Workflow,
    WorkflowRun,
)
from ghcrawl.simulator.github.shapes.site import REACTIONS
from ghcrawl.simulator.github.world import World

_CHECKS: Final = ("lint", "tests (3.11)", "tests (3.13)")
_STATES: Final = ("success", "success", "failure", "pending")
_SEVERITIES: Final = ("low", "medium", "high", "critical")
_WORKFLOWS: Final = ("ci", "release")


def keep_records(chronicle: Chronicle) -> None:
    """All records of one repository, at random."""
    _note_events(chronicle)
    _like(chronicle)
    _react(chronicle)
    _check(chronicle)
    _deploy(chronicle)
    _automate(chronicle)
    _warn(chronicle)
    _discuss(chronicle)
    _describe(chronicle)


def _note_events(chronicle: Chronicle) -> None:
    """Labels, assignments, closings and merges, in the order in which they happened."""
    repo, found = chronicle.repo, list[IssueEvent]()
    for issue in repo.issues.values():
        found += _events_of(chronicle, issue)
    for event in sorted(found, key=lambda each: each.created_at):
        event.id = chronicle.world.ids.take("issue_event")
        repo.records.issue_events[event.id] = event


def _events_of(chronicle: Chronicle, issue: Issue) -> list[IssueEvent]:
    staff, opened, pull = chronicle.rng.choice(chronicle.staff), issue.created_at, issue.pull
    event = partial(IssueEvent, id=0, issue=issue)
    found = [event(actor=staff, event="labeled", created_at=opened, label=label) for label in issue.labels]
    found += [event(actor=staff, event="assigned", created_at=opened, assignee=user) for user in issue.assignees]
    if pull is not None and pull.merged_at:
        sha = pull.merge_commit_sha
        found.append(event(actor=pull.merged_by, event="merged", created_at=pull.merged_at, commit_id=sha))
    if issue.closed_at:
        found.append(event(actor=issue.closed_by, event="closed", created_at=issue.closed_at))
    return found


def _like(chronicle: Chronicle) -> None:
    records, rng, people = chronicle.repo.records, chronicle.rng, chronicle.people
    born = seconds(chronicle.repo.created_at)
    for user in rng.sample(people, k=min(len(people), rng.randint(0, chronicle.size.stars))):
        records.stars[user.id] = Star(user=user, starred_at=at(chronicle.between(born, chronicle.until)))
    watching = rng.sample(people, k=min(len(people), rng.randint(0, chronicle.size.stars // 2)))
    records.subscribers = {user.id: user for user in sorted(watching, key=lambda each: each.id)}


def _react(chronicle: Chronicle) -> None:
    repo = chronicle.repo
    said: list[tuple[object, str]] = []
    for things in (repo.issues, repo.issue_comments, repo.review_comments, repo.commit_comments):
        said += [(each, each.created_at) for each in things.values()]
    said += [(each, each.published_at) for each in repo.releases.values() if each.published_at]
    for thing, moment in said:
        for _ in range(min(8, chronicle.number_of(chronicle.size.reactions))):
            reaction = Reaction(
                id=chronicle.world.ids.take("reaction"),
                user=chronicle.somebody(),
                content=chronicle.rng.choice(REACTIONS),
                created_at=at(chronicle.between(seconds(moment), chronicle.until)),
            )
            repo.records.reactions.setdefault(thing, []).append(reaction)


def _check(chronicle: Chronicle) -> None:
    """Statuses and checks of the tips of branches, and of two pull requests in three."""
    repo = chronicle.repo
    tips = {ref.commit.sha: (ref.name, ref.commit.committed_at) for ref in repo.branches.values()}
    for issue in repo.pulls:
        if issue.number % 3:
            head = issue.request.commits[-1]
            tips[head.sha] = (issue.request.head_ref, head.committed_at)
    for sha, (branch, moment) in tips.items():
        _check_commit(chronicle, sha, branch, seconds(moment))


def _check_commit(chronicle: Chronicle, sha: str, branch: str, when: int) -> None:
    world, records, rng = chronicle.world, chronicle.repo.records, chronicle.rng
    records.statuses[sha] = [
        Status(
            id=world.ids.take("status"),
            sha=sha,
            state=rng.choice(_STATES),
            context=context,
            creator=chronicle.bot,
            created_at=at(when + 30),
        )
        for context in ("ci/build", "coverage/project")
    ]
    suite = CheckSuite(
        id=world.ids.take("check_suite"), sha=sha, branch=branch, created_at=at(when + 5), updated_at=at(when + 300)
    )
    for name in _CHECKS[: rng.randint(1, len(_CHECKS))]:
        done = rng.random() < 0.9
        suite.runs.append(
            CheckRun(
                id=world.ids.take("check_run"),
                name=name,
                started_at=at(when + 10),
                completed_at=at(when + 300) if done else None,
                conclusion=rng.choice(("success", "failure")) if done else None,
            )
        )
    records.check_suites[suite.id] = suite


def _deploy(chronicle: Chronicle) -> None:
    repo, world = chronicle.repo, chronicle.world
    history = repo.history(chronicle.head)
    for number in range(min(chronicle.size.deployments, len(history))):
        commit, by = history[number], chronicle.rng.choice(chronicle.staff)
        when = seconds(commit.committed_at)
        deployment = Deployment(
            id=world.ids.take("deployment"),
            sha=commit.sha,
            ref=repo.default_branch,
            environment="production" if number else "staging",
            creator=by,
            created_at=at(when + 60),
            updated_at=at(when + 120),
        )
        for state in ("in_progress", "success"):
            identity = world.ids.take("deployment_status")
            deployment.statuses.append(
                DeploymentStatus(id=identity, state=state, creator=by, created_at=at(when + 120))
            )
        repo.records.deployments[deployment.id] = deployment


def _automate(chronicle: Chronicle) -> None:
    repo, world, rng = chronicle.repo, chronicle.world, chronicle.rng
    history = repo.history(chronicle.head)
    flows = [
        Workflow(
            id=world.ids.take("workflow"),
            name=name,
            path=f".github/workflows/{name}.yml",
            created_at=repo.created_at,
        )
        for name in _WORKFLOWS
    ]
    repo.records.workflows = {each.id: each for each in flows}
    for number in range(min(chronicle.size.workflow_runs, len(history)), 0, -1):
        commit = history[number - 1]
        run = WorkflowRun(
            id=world.ids.take("workflow_run"),
            workflow=flows[number % len(flows)],
            number=chronicle.size.workflow_runs - number + 1,
            sha=commit.sha,
            message=commit.message,
            branch=repo.default_branch,
            actor=rng.choice(chronicle.staff),
            created_at=commit.committed_at,
            updated_at=at(seconds(commit.committed_at) + 200),
            conclusion=rng.choice(("success", "failure", None)),
        )
        repo.records.workflow_runs[run.id] = run


def _warn(chronicle: Chronicle) -> None:
    records, rng = chronicle.repo.records, chronicle.rng
    if rng.random() < 0.5:
        identity = f"GHSA-{rng.randint(1000, 9999)}-{chronicle.repo.id % 10_000:04d}-{rng.randint(1000, 9999)}"
        records.advisories[identity] = Advisory(
            ghsa_id=identity,
            summary=texts.title(rng),
            severity=rng.choice(_SEVERITIES),
            author=rng.choice(chronicle.staff),
            created_at=at(chronicle.until - 86_400),
        )
    for number in range(1, chronicle.size.alerts + 1):
        moment = at(chronicle.until - number * 86_400)
        records.alerts[number] = Alert(
            number=number,
            package=rng.choice(texts.NOUNS),
            severity=rng.choice(_SEVERITIES),
            created_at=moment,
            dismissed_by=rng.choice(chronicle.staff) if number % 2 == 0 else None,
        )


def _discuss(chronicle: Chronicle) -> None:
    repo = chronicle.repo
    for _ in range(chronicle.size.discussions if repo.has_issues else 0):
        moment = at(chronicle.between(seconds(repo.created_at), chronicle.until))
        talk = Discussion(
            id=chronicle.world.ids.take("discussion"),
            number=repo.take_number(),
            title=texts.title(chronicle.rng),
            user=chronicle.somebody(),
            created_at=moment,
        )
        repo.records.discussions[talk.number] = talk


def _describe(chronicle: Chronicle) -> None:
    """A README in most repositories, and who owns the code in one of the places where that may be."""
    repo = chronicle.repo
    repo.records.readme = f"# {repo.name}\n\n{texts.body(chronicle.rng)}\n" if repo.id % 4 else None
    place = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", "")[repo.id % 4]
    repo.records.codeowners = (place, f"* @{repo.owner.login}\n") if place else None


def plan(world: World, rng: Random, org: Org, size: WorldSize, people: list[User]) -> None:
    """Projects of `org`, and those who work there without being members."""
    members = [member.user for member in org.members.values()]
    issues = [issue for repo in world.repos_of(org) for issue in repo.issues.values()]
    for number in range(1, size.projects + 1):
        creator, moment = rng.choice(members), at(UNTIL - number * 86_400)
        project = Project(
            id=world.ids.take("project"),
            number=number,
            title=texts.title(rng),
            creator=creator,
            created_at=moment,
        )
        for issue in rng.sample(issues, k=min(len(issues), 3)):
            identity = world.ids.take("project_item")
            item = ProjectItem(id=identity, creator=creator, issue_number=issue.number, created_at=moment)
            project.items.append(item)
        org.projects[number] = project
    strangers = [user for user in people if user.id not in org.members]
    chosen = sorted(rng.sample(strangers, k=min(len(strangers), 2)), key=lambda each: each.id)
    org.outsiders = {user.id: user for user in chosen}
