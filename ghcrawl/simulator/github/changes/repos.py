"""Changes to repositories themselves, and to their releases."""

from __future__ import annotations

from ghcrawl.simulator.github.changes.change import Change, happened
from ghcrawl.simulator.github.code import Asset, Ref, Release
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Org, Owner, User
from ghcrawl.simulator.github.records import Star
from ghcrawl.simulator.github.world import World


def create_repo(world: World, owner: Owner, name: str) -> Change:
    """An empty repository."""
    now = world.now()
    repo = Repo(
        id=world.ids.take("repo"),
        owner=owner,
        name=name,
        description=None,
        created_at=now,
        pushed_at=now,
    )
    world.add_repo(repo)
    return happened(world, "repository.created", repo, repo=repo)


def rename_repo(world: World, repo: Repo, name: str) -> Change:
    """It has another name; the old one leads to it until another repository takes it."""
    before = repo.name
    world.call_repo(repo, owner=repo.owner, name=name)
    repo.updated_at = world.now()
    return happened(world, "repository.renamed", repo, repo=repo, before={"name": before})


def transfer_repo(world: World, repo: Repo, owner: Owner) -> Change:
    """It has another owner; the old full name leads to it, and the old owner's teams have lost it."""
    before = repo.owner
    _forget_teams(repo)
    world.call_repo(repo, owner=owner, name=repo.name)
    repo.updated_at = world.now()
    return happened(world, "repository.transferred", repo, repo=repo, before={"owner": before.login})


def _forget_teams(repo: Repo) -> None:
    if isinstance(repo.owner, Org):
        for team in repo.owner.teams.values():
            team.repos.pop(repo.id, None)


def delete_repo(world: World, repo: Repo) -> Change:
    """It is deleted with all that was in it: 404 from now on, by every route."""
    _forget_teams(repo)
    world.drop_repo(repo)
    return happened(world, "repository.deleted", repo, repo=repo)


def set_private(world: World, repo: Repo, *, private: bool = True) -> Change:
    """Only insiders see it from now on, or everybody does."""
    repo.private = private
    repo.updated_at = world.now()
    return happened(world, "repository.privatized" if private else "repository.publicized", repo, repo=repo)


def archive_repo(world: World, repo: Repo) -> Change:
    """Nothing in it is written any more."""
    repo.archived = True
    repo.updated_at = world.now()
    return happened(world, "repository.archived", repo, repo=repo)


def publish_release(world: World, repo: Repo, *, by: User, tag: str) -> Change:
    """A release of the default branch's tip under `tag`, which is made if it is not there.

    Raises ValueError in an empty repository.
    """
    now, tip = world.now(), repo.tip
    if tag not in repo.tags:
        repo.tags[tag] = Ref(name=tag, commit=tip)
        repo.pushed_at = repo.updated_at = now
    release = Release(
        id=world.ids.take("release"),
        tag_name=tag,
        target=repo.default_branch,
        name=tag,
        body="New.",
        author=by,
        created_at=now,
        published_at=now,
    )
    repo.releases[release.id] = release
    return happened(world, "release.published", release, repo=repo, actor=by)


def add_asset(world: World, repo: Repo, release: Release, name: str) -> Change:
    """A file more; the release's Last-Modified stays what it was."""
    now = world.now()
    asset = Asset(
        id=world.ids.take("asset"),
        name=name,
        content_type="application/gzip",
        size=1,
        download_count=0,
        created_at=now,
    )
    release.assets.append(asset)
    return happened(world, "release.edited", release, repo=repo)


def delete_release(world: World, repo: Repo, release: Release) -> Change:
    """The release is gone; its tag stays."""
    del repo.releases[release.id]
    return happened(world, "release.deleted", release, repo=repo)


def star(world: World, repo: Repo, *, by: User) -> Change:
    """One more; it bumps the repository, and with it every page that embeds it."""
    repo.records.stars[by.id] = Star(user=by, starred_at=world.now())
    repo.updated_at = world.now()
    return happened(world, "star.created", repo, repo=repo, actor=by)


def unstar(world: World, repo: Repo, *, by: User) -> Change:
    """One less; later ones move up in the list."""
    del repo.records.stars[by.id]
    repo.updated_at = world.now()
    return happened(world, "star.deleted", repo, repo=repo, actor=by)
