"""A repository itself, who works in it, and its releases."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.code import Asset, Release
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Team, User
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number
from ghcrawl.simulator.github.routes.finders import itself, of_id, single
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import accounts, releases, repos


def contributors(ask: Ask, repo: Repo) -> Many[tuple[User, int]] | Answer:
    """`/contributors`: most commits first; 204 where there are none."""
    counts = repo.contributions()
    if not counts:
        return Answer(status=204, body=None)
    return Many(
        elements=counts,
        shape=lambda entry: accounts.contributor(ask.site, entry[0], entry[1]),
        last_modified=repo.pushed_at,
    )


def collaborators(ask: Ask, repo: Repo) -> Many[User]:
    """`/collaborators`, for those who may push."""
    if not ask.viewer.insider(repo.owner):
        raise Refusal(refused(403, "Must have push access to view repository collaborators."))
    people = sorted(repo.collaborators.values(), key=lambda user: user.id)
    return Many(elements=people, shape=lambda user: accounts.collaborator(ask.site, user, admin=user is repo.owner))


def teams(ask: Ask, repo: Repo) -> Many[Team]:
    """`/teams`, for those who belong to the organisation."""
    if not ask.viewer.insider(repo.owner):
        raise not_found()
    return Many(elements=ask.world.teams_with(repo), shape=lambda team: accounts.repo_team(ask.site, team, repo.id))


def forks(ask: Ask, thing: Repo) -> Many[Repo]:
    """`/forks`: newest first, unless `sort` says oldest."""
    visible = [fork for fork in ask.world.forks_of(thing) if ask.viewer.sees(fork)]
    oldest = ask.choice("sort", ("newest", "oldest")) == "oldest"
    return Many(
        elements=visible if oldest else visible[::-1],
        shape=lambda fork: repos.listed_repo(ask.site, ask.world, fork, ask.viewer),
    )


def listed_releases(ask: Ask, repo: Repo) -> Many[Release]:
    """`/releases`: newest first; drafts only for those who may push."""
    drafts = ask.viewer.insider(repo.owner)
    wanted = (each for each in repo.releases.values() if each.published_at or drafts)
    return Many(
        elements=sorted(wanted, key=_age, reverse=True),
        shape=lambda each: releases.release(ask.site, repo, each),
    )


def _age(release: Release) -> tuple[str, int]:
    return release.created_at, release.id


def _find_release(ask: Ask, repo: Repo, text: str) -> Release:
    thing = found(repo.releases.get(number(text)))
    if thing.published_at is None and not ask.viewer.insider(repo.owner):
        raise not_found()
    return thing


def release(ask: Ask, repo: Repo, text: str) -> One:
    """`/releases/{id}`: its Last-Modified is when it was published, also after files were added."""
    thing = _find_release(ask, repo, text)
    return One(body=releases.release(ask.site, repo, thing), last_modified=thing.published_at)


def _latest(repo: Repo) -> Release | None:
    """The published release that was made last."""
    return max((each for each in repo.releases.values() if each.published_at), key=_age, default=None)


def _of_tag(repo: Repo, tag: str) -> Release | None:
    return next((each for each in repo.releases.values() if each.tag_name == tag and each.published_at), None)


def assets(ask: Ask, repo: Repo, text: str) -> Many[Asset]:
    """`/releases/{id}/assets`."""
    thing = _find_release(ask, repo, text)
    return Many(elements=thing.assets, shape=lambda asset: releases.asset(ask.site, repo, thing, asset))


def _assets(repo: Repo) -> list[tuple[Release, Asset]]:
    return [(release, asset) for release in repo.releases.values() for asset in release.assets]


ROUTES: Final[dict[str, Finder]] = {
    "": itself(repos.repo),
    "contributors": contributors,
    "collaborators": collaborators,
    "teams": teams,
    "forks": forks,
    "releases": listed_releases,
    "releases/latest": single(_latest, releases.release, dated="published_at"),
    "releases/tags/{tag*}": single(_of_tag, releases.release, dated="published_at"),
    "releases/{id}": release,
    "releases/{id}/assets": assets,
    "releases/assets/{id}": single(of_id(_assets), releases.asset, dated="updated_at"),
}
