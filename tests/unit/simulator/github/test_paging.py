from __future__ import annotations

import pytest

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import SMALL, TINY
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from tests.unit.simulator.github.conftest import Hub, Start, an_insider


@pytest.mark.parametrize("per_page", [1, 7, 100])
@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("/repos/acme/web/issues?state=all", lambda world: len(world.repo("acme/web").issues)),
        ("/repos/acme/web/issues/comments", lambda world: len(world.repo("acme/web").issue_comments)),
        ("/repos/acme/web/branches", lambda world: len(world.repo("acme/web").branches)),
        ("/orgs/acme/members", lambda world: len(world.org("acme").members)),
    ],
)
async def test_a_walk_along_next_gives_every_element_once(
    settled: World, start: Start, path: str, count: object, per_page: int
) -> None:
    hub = await start(settled)
    found = await hub.pagination(f"{path}{'&' if '?' in path else '?'}per_page={per_page}")
    names = [element.get("id") or element["name"] for element in found]
    assert callable(count)
    assert len(names) == len(set(names)) == count(settled)


@pytest.mark.parametrize(("asked", "given"), [("", 30), ("per_page=0", 30), ("per_page=x", 30), ("per_page=5000", 100)])
async def test_a_page_holds_thirty_and_never_more_than_a_hundred(start: Start, asked: str, given: int) -> None:
    world = generate(replace(SMALL, issues=120, repos=1, quirks=False), seed=1, clock=SimClock())
    hub = await start(world)
    assert len((await hub.get(f"/repos/acme/web/issues?state=all&{asked}")).json) == given


async def test_links_are_made_of_numbers_and_keep_the_parameters(settled: World, start: Start) -> None:
    hub = await start(settled)
    repo = settled.repo("acme/web")
    base = f"{hub.server.url}/repositories/{repo.id}/issues?state=all&per_page=4"
    last = -(-len(repo.issues) // 4)
    first = await hub.get("/repos/acme/web/issues?state=all&per_page=4")
    assert first.links == {"next": f"{base}&page=2", "last": f"{base}&page={last}"}
    middle = await hub.get(first.links["next"])
    assert middle.links == {
        "prev": f"{base}&page=1",
        "next": f"{base}&page=3",
        "last": f"{base}&page={last}",
        "first": f"{base}&page=1",
    }
    end = await hub.get(first.links["last"])
    assert set(end.links) == {"prev", "first"}
    beyond = await hub.get(f"{base}&page=999")
    assert (beyond.json, beyond.links["prev"]) == ([], f"{base}&page={last}")


async def test_links_of_organisations_teams_and_users_are_made_of_numbers_too(settled: World, start: Start) -> None:
    hub = await start(settled)
    acme = settled.org("acme")
    team = max(acme.teams.values(), key=lambda each: len(each.repos))
    for path, numeric in (
        ("/orgs/acme/repos", f"/organizations/{acme.id}/repos"),
        (f"/orgs/acme/teams/{team.slug}/repos", f"/organizations/{acme.id}/team/{team.id}/repos"),
        ("/users/acme/repos", f"/user/{acme.id}/repos"),
        ("/user/repos", "/user/repos"),
    ):
        got = await hub.get(f"{path}?per_page=1")
        assert got.links["next"] == f"{hub.server.url}{numeric}?per_page=1&page=2"
        assert (await hub.get(got.links["next"])).status == 200


async def test_one_page_has_no_link_at_all(settled: World, start: Start) -> None:
    got = await (await start(settled)).get("/repos/acme/web/labels?per_page=100")
    assert "Link" not in got.headers


class TestCursors:
    """A list of issues that is too long for page numbers."""

    @pytest.fixture
    async def hub(self, small: World, start: Start) -> Hub:
        tokens = {"token-a": small.principal(an_insider(small))}
        return await start(small, Setup(tokens=tokens, manners=Manners(cursor_above=12)))

    @pytest.mark.parametrize(
        "order", ["", "&direction=asc", "&sort=updated", "&sort=updated&direction=asc", "&sort=comments"]
    )
    async def test_a_walk_gives_every_issue_once_whatever_the_order(self, hub: Hub, order: str) -> None:
        found = await hub.pagination(f"/repos/acme/web/issues?state=all&per_page=4{order}")
        repo = hub.world.repo("acme/web")
        assert sorted(issue["number"] for issue in found) == sorted(repo.issues)

    async def test_links_hold_a_cursor_with_a_count_of_pages_and_no_last(self, hub: Hub) -> None:
        first = await hub.get("/repos/acme/web/issues?state=all&per_page=4")
        assert set(first.links) == {"next"}
        assert "after=" in first.links["next"]
        assert first.links["next"].endswith("&page=2")
        second = await hub.get(first.links["next"])
        assert set(second.links) == {"next", "prev"}
        assert (await hub.get(second.links["prev"])).json == first.json

    async def test_a_deep_page_is_422_and_a_shallow_one_is_not(self, hub: Hub) -> None:
        deep = await hub.get("/repos/acme/web/issues?state=all&per_page=4&page=4")
        assert deep.status == 422
        assert "cursor based pagination" in deep.json["message"]
        assert (await hub.get("/repos/acme/web/issues?state=all&per_page=4&page=3")).status == 200

    async def test_what_is_opened_meanwhile_shifts_nothing(self, hub: Hub) -> None:
        repo = hub.world.repo("acme/web")
        before = set(repo.issues)
        first = await hub.get("/repos/acme/web/issues?state=all&per_page=4")
        changes.open_issue(hub.world, repo, by=hub.world.user(an_insider(hub.world)))
        rest = await hub.pagination(first.links["next"])
        assert {issue["number"] for issue in first.json + rest} == before
        assert len(first.json + rest) == len(before)

    async def test_a_short_list_is_still_paged_by_number(self, hub: Hub) -> None:
        got = await hub.get("/repos/acme/web/issues?per_page=2")
        assert "&page=2" in got.links["next"]

    async def test_a_made_up_cursor_is_422(self, hub: Hub) -> None:
        assert (await hub.get("/repos/acme/web/issues?state=all&after=made-up")).status == 422


@pytest.mark.parametrize(("issues", "status"), [(1_000, 200), (1_001, 422)])
async def test_page_11_of_more_than_a_thousand_issues_is_refused_and_the_cursor_leads_on(
    start: Start, issues: int, status: int
) -> None:
    world = generate(TINY, seed=1, clock=SimClock())
    repo = world.repo("acme/web")
    by = world.user(an_insider(world))
    while len(repo.issues) < issues:
        changes.open_issue(world, repo, by=by)
    hub = await start(world)
    assert (await hub.get("/repos/acme/web/issues?state=all&per_page=100&page=10")).status == 200
    assert (await hub.get("/repos/acme/web/issues?state=all&per_page=100&page=11")).status == status
    found = await hub.pagination("/repos/acme/web/issues?state=all&per_page=100")
    assert sorted(issue["number"] for issue in found) == sorted(repo.issues)


async def test_a_page_by_number_shifts_when_something_is_opened_meanwhile(small: World, start: Start) -> None:
    hub = await start(small)
    first = await hub.get("/repos/acme/web/issues?state=all&per_page=4")
    changes.open_issue(small, small.repo("acme/web"), by=small.user(an_insider(small)))
    second = await hub.get(first.links["next"])
    assert second.json[0]["number"] == first.json[-1]["number"]
