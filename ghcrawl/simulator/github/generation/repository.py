"""Founds repositories and writes their whole history."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from ghcrawl.simulator.chance import seeded
from ghcrawl.simulator.github.code import Asset, Ref, Release
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.generation import texts
from ghcrawl.simulator.github.generation.accounts import BOT, WEB_FLOW
from ghcrawl.simulator.github.generation.chronicle import Chronicle
from ghcrawl.simulator.github.generation.issues import (
    discuss_commits,
    discuss_issues,
    open_issue,
    write_labels,
    write_milestones,
)
from ghcrawl.simulator.github.generation.pulls import open_pull
from ghcrawl.simulator.github.generation.records import keep_records
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.moments import UNTIL, at, seconds
from ghcrawl.simulator.github.people import Org, Owner, User
from ghcrawl.simulator.github.world import World

_YEAR_S: Final = 31_536_000
_STEP_S: Final = 3_600


class Setting(Struct, frozen=True, kw_only=True):
    """What every repository of a world is founded in."""

    world: World
    size: WorldSize
    people: list[User]
    seed: int


def found_repo(setting: Setting, owner: Owner, name: str, **state: Any) -> Repo:
    """A repository of `owner` with nothing in it yet. state: the fields of `Repo` that are not as usual."""
    rng = seeded(setting.seed, owner.login, name)
    born = at(UNTIL - _YEAR_S)
    repo = Repo(
        id=setting.world.ids.take("repo"),
        owner=owner,
        name=name,
        description=texts.title(rng).capitalize() if rng.random() > 0.2 else None,
        created_at=born,
        pushed_at=born,
        default_branch="master" if rng.random() < 0.2 else "main",
        language=rng.choice(texts.LANGUAGES),
        topics=tuple(sorted(rng.sample(texts.NOUNS, k=rng.randint(0, 4)))),
        **state,
    )
    if isinstance(owner, User):
        repo.collaborators[owner.id] = owner
    setting.world.add_repo(repo)
    return repo


def grow_repo(setting: Setting, repo: Repo, size: WorldSize | None = None) -> Repo:
    """`repo` with a history of that size, or of the world's."""
    rng = seeded(setting.seed, repo.full_name, "history")
    insiders = [member.user for member in repo.owner.members.values()] if isinstance(repo.owner, Org) else [repo.owner]
    staff = rng.sample(insiders, k=min(len(insiders), 6))
    people = rng.sample(setting.people, k=max(1, len(setting.people) * 2 // 3))
    chronicle = Chronicle(
        world=setting.world,
        repo=repo,
        rng=rng,
        size=size or setting.size,
        people=people + [user for user in staff if user not in people],
        staff=staff,
        bot=setting.world.user(BOT),
        button=setting.world.user(WEB_FLOW),
        until=UNTIL,
    )
    write_history(chronicle)
    chronicle.rng = seeded(setting.seed, repo.full_name, "records")
    keep_records(chronicle)
    return repo


def write_history(chronicle: Chronicle) -> None:
    """Commits, issues and pull requests one after another, then what was said, then releases and refs."""
    size, rng = chronicle.size, chronicle.rng
    pulls = round(size.issues * size.pull_share) if chronicle.repo.has_issues else 0
    issues = size.issues - pulls if chronicle.repo.has_issues else 0
    plan = ["commit"] * max(size.commits - 1, 0) + ["issue"] * issues + ["pull"] * pulls
    rng.shuffle(plan)
    span = max(2 * _YEAR_S, _STEP_S * len(plan))
    born = chronicle.until - span
    chronicle.repo.created_at = at(born)
    write_labels(chronicle, born)
    write_milestones(chronicle, born)
    chronicle.head = chronicle.write_commit(
        born + 60, rng.choice(chronicle.staff), parents=(), message="Initial commit"
    )
    step = (span - 3_600) // max(len(plan), 1)
    for number, what in enumerate(plan):
        _happen(chronicle, what, born + 3_600 + number * step, step)
    discuss_issues(chronicle)
    discuss_commits(chronicle)
    _point(chronicle)
    _publish(chronicle)
    _finish(chronicle)


def _happen(chronicle: Chronicle, what: str, when: int, step: int) -> None:
    if what == "commit":
        assert chronicle.head is not None
        author = chronicle.somebody(gone=0.08)
        chronicle.head = chronicle.write_commit(when, author, parents=(chronicle.head,))
        if author is not None:
            chronicle.authors[author] = None
    elif what == "issue":
        open_issue(chronicle, when)
    else:
        open_pull(chronicle, when, when + step - 60)


def _point(chronicle: Chronicle) -> None:
    """The default branch, release branches and tags, with slashes in their names where people put them."""
    repo, rng = chronicle.repo, chronicle.rng
    assert chronicle.head is not None
    repo.branches[repo.default_branch] = Ref(name=repo.default_branch, commit=chronicle.head, protected=True)
    history = repo.history(chronicle.head)
    for number in range(chronicle.size.branches - 1):
        name = f"release/{number}.x" if number % 2 == 0 else f"feature/{rng.choice(texts.NOUNS)}#{number}"
        repo.branches[name] = Ref(name=name, commit=rng.choice(history), protected=number == 0)
    for number in range(chronicle.size.tags):
        name = f"v{number // 10}.{number % 10}.0" if number % 4 != 3 else f"nightly/{number}"
        repo.tags[name] = Ref(name=name, commit=history[-1 - number * len(history) // (chronicle.size.tags + 1)])


def _publish(chronicle: Chronicle) -> None:
    """Releases of the tags there are, with assets; the newest of four or more is still a draft."""
    repo, rng, size = chronicle.repo, chronicle.rng, chronicle.size
    tags = list(repo.tags.values())
    for number in range(min(size.releases, len(tags))):
        tag = tags[number]
        made = seconds(tag.commit.committed_at) + 600
        draft = number == size.releases - 1 and size.releases >= 4
        release = Release(
            id=chronicle.world.ids.take("release"),
            tag_name=tag.name,
            target=repo.default_branch,
            name=f"{repo.name} {tag.name}" if number % 3 else None,
            body=texts.body(rng),
            author=rng.choice(chronicle.staff),
            created_at=at(made),
            published_at=None if draft else at(made + 60),
            prerelease=number % 4 == 2,
        )
        release.assets = [_asset(chronicle, release, made, each) for each in range(size.assets)]
        repo.releases[release.id] = release


def _asset(chronicle: Chronicle, release: Release, made: int, number: int) -> Asset:
    return Asset(
        id=chronicle.world.ids.take("asset"),
        name=f"{chronicle.repo.name}-{release.tag_name.replace('/', '-')}-{number}.tar.gz",
        content_type="application/gzip",
        size=chronicle.rng.randint(10_000, 5_000_000),
        download_count=chronicle.rng.randint(0, 9_000),
        created_at=at(made + 30),
        updated_at=at(made + 40),
    )


def _finish(chronicle: Chronicle) -> None:
    """What the repository itself says follows from what happened in it."""
    repo = chronicle.repo
    assert chronicle.head is not None
    repo.pushed_at = max(ref.commit.committed_at for ref in repo.branches.values())
    repo.updated_at = max(repo.pushed_at, repo.created_at)
    repo.recount()
