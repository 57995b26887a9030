"""A repository itself, who works in it, and its releases."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.entities import Asset, Release, Repo
from ghcrawl.simulator.github.people import Team, User
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number, ordered
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import accounts, releases, repos


def repo(ask: Ask, thing: Repo) -> One:
    """The repository."""
    return One(body=repos.repo(ask.site, ask.world, thing, ask.viewer), last_modified=thing.updated_at)


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
    people = ordered(repo.collaborators.values(), lambda user: user.id, descending=False)
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
        elements=ordered(wanted, lambda each: (each.created_at, each.id), descending=True),
        shape=lambda each: releases.release(ask.site, repo, each),
    )


def _find_release(ask: Ask, repo: Repo, text: str) -> Release:
    thing = found(repo.releases.get(number(text)))
    if thing.published_at is None and not ask.viewer.insider(repo.owner):
        raise not_found()
    return thing


def release(ask: Ask, repo: Repo, text: str) -> One:
    """`/releases/{id}`: its Last-Modified is when it was published, also after files were added."""
    thing = _find_release(ask, repo, text)
    return One(body=releases.release(ask.site, repo, thing), last_modified=thing.published_at)


def latest_release(ask: Ask, repo: Repo) -> One:
    """`/releases/latest`: the published one that was made last."""
    published = (each for each in repo.releases.values() if each.published_at)
    thing = found(max(published, key=lambda each: (each.created_at, each.id), default=None))
    return One(body=releases.release(ask.site, repo, thing), last_modified=thing.published_at)


def release_of_tag(ask: Ask, repo: Repo, tag: str) -> One:
    """`/releases/tags/{tag}`."""
    thing = found(next((each for each in repo.releases.values() if each.tag_name == tag and each.published_at), None))
    return One(body=releases.release(ask.site, repo, thing), last_modified=thing.published_at)


def assets(ask: Ask, repo: Repo, text: str) -> Many[Asset]:
    """`/releases/{id}/assets`."""
    thing = _find_release(ask, repo, text)
    return Many(elements=thing.assets, shape=lambda asset: releases.asset(ask.site, repo, thing, asset))


def asset(ask: Ask, repo: Repo, text: str) -> One:
    """`/releases/assets/{id}`."""
    wanted = number(text)
    pairs = ((each, asset) for each in repo.releases.values() for asset in each.assets if asset.id == wanted)
    owner, thing = found(next(pairs, None))
    return One(body=releases.asset(ask.site, repo, owner, thing), last_modified=thing.updated_at)


ROUTES: Final[dict[str, Finder]] = {
    "": repo,
    "contributors": contributors,
    "collaborators": collaborators,
    "teams": teams,
    "forks": forks,
    "releases": listed_releases,
    "releases/latest": latest_release,
    "releases/tags/{tag*}": release_of_tag,
    "releases/{id}": release,
    "releases/{id}/assets": assets,
    "releases/assets/{id}": asset,
}
