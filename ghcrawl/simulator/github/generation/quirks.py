"""What a crawler meets once in a thousand repositories, all of it in one organisation."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.github.code import Ref
from ghcrawl.simulator.github.entities import Label, Repo
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.repository import Setting, found_repo, grow_repo
from ghcrawl.simulator.github.people import Org
from ghcrawl.values.frozen import replace

ODD_NAMES: Final = (".github", "{login}.github.io", "dash--under_score.x")
BLOCKED: Final = {"taken-down": "dmca", "unwelcome": "tos"}
"""Repositories that GitHub itself has blocked, each for its own reason."""
RENAMED_FROM: Final = "renamed-once"


def add_odd_repos(setting: Setting, org: Org) -> None:
    """Repositories with odd names, and one of each state that a repository can be in."""
    size = setting.size
    small = replace(size, issues=min(size.issues, 5), commits=min(size.commits, 6), tags=2, releases=1, labels=3)
    for name in ODD_NAMES:
        grow_repo(setting, found_repo(setting, org, name.format(login=org.login)), small)
    _add_empty(setting, org)
    grow_repo(setting, found_repo(setting, org, "no-issues", has_issues=False), small)
    grow_repo(setting, found_repo(setting, org, "plans", private=True), small)
    grow_repo(setting, found_repo(setting, org, "attic", archived=True), small)
    renamed = grow_repo(setting, found_repo(setting, org, RENAMED_FROM), small)
    setting.world.call_repo(renamed, owner=org, name="renamed-now")
    smaller = replace(small, issues=2, commits=2)
    for name, standing in BLOCKED.items():
        grow_repo(setting, found_repo(setting, org, name, standing=standing), smaller)
    _add_fork(setting, org)


def _add_empty(setting: Setting, org: Org) -> None:
    """A repository without a push."""
    repo = found_repo(setting, org, "empty")
    label = Label(
        id=setting.world.ids.take("label"),
        name="bug",
        color="d73a4a",
        description=None,
        updated_at=repo.created_at,
        default=True,
    )
    repo.labels[label.id] = label


def _add_fork(setting: Setting, org: Org) -> None:
    """A fork of another organisation's repository: same commits, no issues, as every new fork."""
    others = [repo for other in setting.world.orgs() if other is not org for repo in setting.world.repos_of(other)]
    if not others:
        return
    parent = others[0]
    fork = Repo(
        id=setting.world.ids.take("repo"),
        owner=org,
        name=f"{parent.name}-fork",
        description=parent.description,
        created_at=parent.pushed_at,
        pushed_at=parent.pushed_at,
        default_branch=parent.default_branch,
        language=parent.language,
        has_issues=False,
        parent=parent,
        commits=dict(parent.commits),
        branches={name: Ref(name=name, commit=ref.commit) for name, ref in parent.branches.items()},
        tags={name: Ref(name=name, commit=ref.commit) for name, ref in parent.tags.items()},
    )
    setting.world.add_repo(fork)


def add_odd_things(repo: Repo) -> None:
    """In `repo`: accounts that are gone, texts that break parsers, a long one, and an issue that was deleted."""
    for commit in repo.history(repo.head)[-2:-1]:
        commit.author = commit.committer = None
    plain = [issue for issue in repo.issues.values() if issue.pull is None]
    for issue, body in zip(plain, (texts.LONG_BODY, *texts.ODD_BODIES), strict=False):
        issue.body = body
    for issue in plain[:1]:
        issue.user = None
        issue.labels = list(repo.labels.values())
    for issue in plain[-1:]:
        repo.delete_issue(issue)
    repo.recount()
