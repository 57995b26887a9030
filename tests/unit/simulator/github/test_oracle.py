"""The oracle against the dullest crawler there is, which asks for every list and every single thing over HTTP."""

from __future__ import annotations

from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.oracle import TYPES, expected
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.principals import ANYBODY, Viewer
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from tests.unit.simulator.github.conftest import Hub, Start, an_insider

pytestmark = pytest.mark.slow

PAGE = "per_page=100"


class Dullard:
    """Walks everything, and remembers what it saw as (type, URN) → bodies."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.seen: dict[tuple[str, str], list[Any]] = {}
        self.logins: set[str] = set()

    def note(self, kind: str, urn: str, body: Any) -> None:
        self.seen.setdefault((kind, urn), []).append(body)

    def meet(self, *people: Any) -> None:
        self.logins |= {person["login"] for person in people if person}

    async def org(self, login: str) -> None:
        got = await self.hub.get(f"/orgs/{login}")
        self.note("org", f"urn:org:{got.json['id']}", got.json)
        self.meet(*await self.hub.pagination(f"/orgs/{login}/members?{PAGE}"))
        if (await self.hub.get(f"/orgs/{login}/teams")).status == 200:
            for team in await self.hub.pagination(f"/orgs/{login}/teams?{PAGE}"):
                self.note("team", f"urn:team:{team['id']}", (await self.hub.get(team["url"])).json)
                self.meet(*await self.hub.pagination(f"{team['url']}/members?{PAGE}"))
        for repo in await self.hub.pagination(f"/orgs/{login}/repos?{PAGE}"):
            await self.repo(repo["url"])
        await self.users()

    async def user(self, login: str) -> None:
        self.logins.add(login)
        for repo in await self.hub.pagination(f"/users/{login}/repos?{PAGE}"):
            await self.repo(repo["url"])
        await self.users()

    async def users(self) -> None:
        for login in sorted(self.logins):
            body = (await self.hub.get(f"/users/{quote(login)}")).json
            self.note("user", f"urn:user:{body['id']}", body)

    async def repo(self, url: str) -> None:
        got = await self.hub.get(url)
        if got.status != 200:
            return
        urn = f"urn:repo:{got.json['id']}"
        self.note("repo", urn, got.json)
        for kind, key in (("label", "id"), ("milestone", "number"), ("release", "id")):
            for body in await self.hub.pagination(f"{url}/{kind}s?state=all&{PAGE}"):
                self.note(kind, f"{urn}:{kind}:{body[key]}", body)
                self.meet(body.get("creator"), body.get("author"))
                for asset in body.get("assets", ()):
                    self.note("release_asset", f"{urn}:release_asset:{asset['id']}", asset)
        self.note("topics", f"{urn}:topics", (await self.hub.get(f"{url}/topics")).json)
        if (await self.hub.get(f"{url}/collaborators")).status == 200:
            self.meet(*await self.hub.pagination(f"{url}/collaborators?{PAGE}"))
        await self.code(url, urn)
        if got.json["has_issues"]:
            await self.issues(url, urn)

    async def code(self, url: str, urn: str) -> None:
        if (await self.hub.get(f"{url}/commits")).status == 200:
            for body in await self.hub.pagination(f"{url}/commits?{PAGE}"):
                self.commit(urn, body)
            for body in await self.hub.pagination(f"{url}/contributors?{PAGE}"):
                self.meet(body)
        for body in await self.hub.pagination(f"{url}/comments?{PAGE}"):
            self.note("commit_comment", f"{urn}:commit:{body['commit_id']}:commit_comment:{body['id']}", body)
            self.meet(body["user"])
        for body in await self.hub.pagination(f"{url}/branches?{PAGE}"):
            self.note("branch", f"{urn}:branch:{body['name']}", body)
        for body in await self.hub.pagination(f"{url}/tags?{PAGE}"):
            self.note("tag", f"{urn}:tag:{body['name']}", body)

    def commit(self, urn: str, body: Any) -> None:
        self.note("commit", f"{urn}:commit:{body['sha']}", body)
        self.meet(body["author"], body["committer"])

    async def issues(self, url: str, urn: str) -> None:
        for body in await self.hub.pagination(f"{url}/issues?state=all&{PAGE}"):
            self.note("issue", f"{urn}:issue:{body['number']}", body)
            self.meet(body["user"], body["closed_by"], *body["assignees"])
            if "pull_request" in body:
                await self.pull(body["pull_request"]["url"], urn)
        for body in await self.hub.pagination(f"{url}/issues/events?{PAGE}"):
            name = f"{urn}:issue:{body['issue']['number']}:issue_event:{body['id']}"
            self.note("issue_event", name, body)
            self.meet(body["actor"], body.get("assignee"))
        for body in await self.hub.pagination(f"{url}/issues/comments?{PAGE}"):
            number = body["issue_url"].rsplit("/")[-1]
            self.note("issue_comment", f"{urn}:issue:{number}:issue_comment:{body['id']}", body)
            self.meet(body["user"])

    async def pull(self, url: str, repo: str) -> None:
        body = (await self.hub.get(url)).json
        urn = f"{repo}:pull_request:{body['number']}"
        self.note("pull_request", urn, body)
        self.meet(body["merged_by"])
        for review in await self.hub.pagination(f"{url}/reviews?{PAGE}"):
            self.note("review", f"{urn}:review:{review['id']}", review)
            self.meet(review["user"])
        for comment in await self.hub.pagination(f"{url}/comments?{PAGE}"):
            self.note("review_comment", f"{urn}:review_comment:{comment['id']}", comment)
            self.meet(comment["user"])
        for commit in await self.hub.pagination(f"{url}/commits?{PAGE}"):
            self.commit(repo, commit)


def compare(hub: Hub, crawler: Dullard, login: str, viewer: Viewer) -> set[str]:
    """The types that were seen; everything seen is expected, with that very body, and everything expected was seen."""
    things = expected(hub.world, login, base=hub.server.url, viewer=viewer, pull_request_commits=True)
    assert set(crawler.seen) == set(things)
    for key, bodies in crawler.seen.items():
        true = things[key].bodies()
        assert all(body in true for body in bodies), key
    return {kind for kind, _ in things}


@pytest.fixture
async def hub(small: World, start: Start) -> Hub:
    insider = small.principal(an_insider(small), limit=100_000)
    return await start(small, Setup(tokens={"token-a": insider}, manners=Manners(anonymous_limit=100_000)))


async def test_an_insiders_crawl_of_an_organisation_comes_to_what_is_expected(hub: Hub) -> None:
    crawler = Dullard(hub)
    await crawler.org("acme")
    viewer = hub.world.principal(an_insider(hub.world)).viewer
    assert compare(hub, crawler, "acme", viewer) == set(TYPES)


async def test_nobodys_crawl_of_it_comes_to_less(hub: Hub) -> None:
    hub.token = None
    crawler = Dullard(hub)
    await crawler.org("acme")
    assert compare(hub, crawler, "acme", ANYBODY) == set(TYPES) - {"team"}
    plans = hub.world.repo("acme/plans")
    assert not any(f"urn:repo:{plans.id}" in urn for _, urn in crawler.seen)


async def test_a_crawl_of_a_user_comes_to_their_repositories(hub: Hub) -> None:
    owner = next(repo.owner for repo in hub.world.repos.values() if repo.name == "dotfiles")
    crawler = Dullard(hub)
    await crawler.user(owner.login)
    viewer = hub.world.principal(an_insider(hub.world)).viewer
    assert "repo" in compare(hub, crawler, owner.login, viewer)


async def test_what_is_expected_follows_what_happens(hub: Hub, clock: SimClock) -> None:
    rng = Random(7)
    for _ in range(60):
        clock.advance(30)
        changes.random_change(hub.world, hub.world.org("acme"), rng)
    web = hub.world.repo("acme/web")
    changes.delete_issue(hub.world, web, next(issue for issue in web.issues.values() if not issue.pull))
    changes.rename_repo(hub.world, web, "site")
    changes.delete_repo(hub.world, hub.world.repo("acme/api"))
    crawler = Dullard(hub)
    await crawler.org("acme")
    compare(hub, crawler, "acme", hub.world.principal(an_insider(hub.world)).viewer)


def test_commits_that_only_a_pull_request_leads_to_are_left_out_unless_asked_for(small: World) -> None:
    every = expected(small, "acme", base="http://x", viewer=ANYBODY, pull_request_commits=True)
    fewer = expected(small, "acme", base="http://x", viewer=ANYBODY)
    assert {kind for kind, _ in set(every) - set(fewer)} >= {"commit"}
    assert set(fewer) < set(every)


def test_a_concealed_member_who_does_nothing_is_expected_of_insiders_only(small: World) -> None:
    insider = small.principal(an_insider(small)).viewer
    new = changes.add_user(small, "quiet").subject
    assert isinstance(new, User)
    changes.add_member(small, small.org("acme"), new, public=False)
    key = ("user", f"urn:user:{new.id}")
    assert key in expected(small, "acme", base="http://x", viewer=insider)
    assert key not in expected(small, "acme", base="http://x", viewer=ANYBODY)


def test_nobody_is_expected_under_a_login_that_nobody_has(small: World) -> None:
    with pytest.raises(KeyError):
        expected(small, "nope", base="http://x", viewer=ANYBODY)
