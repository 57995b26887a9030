from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.generation.quirks import RENAMED_FROM
from ghcrawl.simulator.github.moments import at, seconds
from ghcrawl.simulator.github.oracle import expected
from ghcrawl.simulator.github.routes.ask import One
from ghcrawl.simulator.github.routes.table import Finder, Table
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from tests.unit.simulator.github.conftest import Start, an_insider


def test_a_written_segment_goes_before_a_placeholder_and_both_before_a_rest() -> None:
    patterns = ("", "issues/comments", "issues/{number}", "commits/{sha}/comments", "commits/{ref*}")

    def finder(pattern: str) -> Finder:
        return lambda: One(body={"pattern": pattern})

    table = Table({pattern: finder(pattern) for pattern in patterns})

    def found(path: str) -> tuple[str, tuple[str, ...]] | None:
        hit = table.match(path.split("/") if path else [])
        return (getattr(hit.finder(), "body", {})["pattern"], hit.taken) if hit else None

    assert found("") == ("", ())
    assert found("issues/comments") == ("issues/comments", ())
    assert found("issues/7") == ("issues/{number}", ("7",))
    assert found("commits/abc/comments") == ("commits/{sha}/comments", ("abc",))
    assert found("commits/feature/x") == ("commits/{ref*}", ("feature/x",))
    assert found("commits/abc") == ("commits/{ref*}", ("abc",))
    assert found("issues/7/nothing") is None
    assert found("nothing") is None


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/repos/acme",
        "/repos/acme/nope",
        "/repos/acme/web/nope",
        "/repos/acme/web/",
        "/repos//web",
        "/repos/acme/web/issues/x",
        "/repos/acme/web/issues/99999999",
        "/repos/acme/web/issues/" + "9" * 40,
        "/repos/acme/web/issues/comments/1",
        "/repos/acme/web/labels/nope",
        "/repos/acme/web/labels/type:%20bug/ui",
        "/repos/acme/web/branches/nope",
        "/repos/acme/web/milestones/99",
        "/repos/acme/web/releases/1",
        "/repositories/1",
        "/repositories",
        "/organizations/1",
        "/orgs/nope",
        "/orgs/acme/teams/nope",
        "/orgs/acme/teams/nope/members",
        "/users/nope",
        "/user/1",
    ],
)
async def test_what_is_not_there_is_404(settled: World, start: Start, path: str) -> None:
    got = await (await start(settled)).get(path)
    assert (got.status, got.json["message"].split()[-2:]) == (404, ["Not", "Found"]) or got.json["message"] == (
        "Branch not found"
    )


async def test_a_plain_issue_is_no_pull_request_and_a_user_no_organisation(settled: World, start: Start) -> None:
    hub = await start(settled)
    plain = next(issue for issue in settled.repo("acme/web").issues.values() if not issue.pull)
    assert (await hub.get(f"/repos/acme/web/pulls/{plain.number}")).status == 404
    assert (await hub.get(f"/orgs/{an_insider(settled)}")).status == 404
    assert (await hub.get("/users/acme")).json["type"] == "Organization"


async def test_names_are_found_whatever_their_case(settled: World, start: Start) -> None:
    hub = await start(settled)
    for path in ("/repos/ACME/Web", "/orgs/Acme", "/orgs/acme/teams/CORE", "/repos/acme/web/labels/BUG"):
        assert (await hub.get(path)).status == 200


LISTED_ONLY = {"status", "reaction"}
PARTS = {
    "topics": "topics",
    "languages": "languages",
    "license": "license",
    "readme": "readme",
    "community_profile": "community/profile",
    "sbom": "dependency-graph/sbom",
    "views": "traffic/views",
    "clones": "traffic/clones",
    "paths": "traffic/popular/paths",
    "referrers": "traffic/popular/referrers",
    "contributor_statistics": "stats/contributors",
    "commit_activity": "stats/commit_activity",
    "code_frequency": "stats/code_frequency",
    "participation": "stats/participation",
    "punch_card": "stats/punch_card",
}


def own_url(base: str, type: str, body: Any) -> str:
    match type:
        case "review":
            return f"{body['pull_request_url']}/reviews/{body['id']}"
        case "discussion":
            return f"{body['repository_url']}/discussions/{body['number']}"
        case "project":
            return f"{base}/orgs/{body['owner']['login']}/projectsV2/{body['number']}"
        case "project_item":
            return str(body["item_url"])
        case "ruleset":
            return str(body["_links"]["self"]["href"])
        case _ if type in PARTS:
            return f"{base}/repos/acme/web/{PARTS[type]}"
        case _:
            hidden = "?hide_secret=true" if type == "secret_scanning_alert" else ""
            return str(body.get("url") or body.get("_links", {}).get("self")) + hidden


@pytest.mark.slow
async def test_every_thing_answers_at_its_own_url_by_name_and_by_number(settled: World, start: Start) -> None:
    hub = await start(settled)
    viewer = settled.principal(an_insider(settled)).viewer
    web = settled.repo("acme/web")
    for thing in expected(settled, "acme", base=hub.server.url, viewer=viewer, everything=True).values():
        elsewhere = f"repo:{web.id}" not in thing.urn and not thing.type.startswith(("user", "project"))
        if thing.single is None or elsewhere or thing.type in LISTED_ONLY:
            continue
        body = thing.single()
        url = own_url(hub.server.url, thing.type, body)
        got = await hub.get(url)
        if got.status == 202:
            got = await hub.get(url)
        told = {"elements": got.json} if isinstance(got.json, list) else got.json
        assert (got.status, told) == (200, body), url
        by_number = url.replace("/repos/acme/web", f"/repositories/{web.id}")
        assert (await hub.get(by_number)).json == got.json


async def test_accounts_and_teams_answer_by_number(settled: World, start: Start) -> None:
    hub = await start(settled)
    acme = settled.org("acme")
    team = next(iter(acme.teams.values()))
    member = settled.user(an_insider(settled))
    for by_name, by_number in (
        ("/orgs/acme", f"/organizations/{acme.id}"),
        ("/orgs/acme/repos", f"/organizations/{acme.id}/repos"),
        ("/orgs/acme/members", f"/organizations/{acme.id}/members"),
        (f"/orgs/acme/teams/{team.slug}", f"/organizations/{acme.id}/team/{team.id}"),
        (f"/orgs/acme/teams/{team.slug}/members", f"/organizations/{acme.id}/team/{team.id}/members"),
        (f"/orgs/acme/teams/{team.slug}/repos", f"/organizations/{acme.id}/team/{team.id}/repos"),
        (f"/users/{member.login}", f"/user/{member.id}"),
        (f"/users/{member.login}/repos", f"/user/{member.id}/repos"),
    ):
        named, numbered = await hub.get(by_name), await hub.get(by_number)
        assert named.status == numbered.status == 200
        assert named.json == numbered.json


async def test_names_with_slashes_are_found_where_github_finds_them(settled: World, start: Start) -> None:
    hub = await start(settled)
    for path in (
        "/repos/acme/web/labels/type:%20bug%2Fui",
        "/repos/acme/web/labels/%F0%9F%9A%80%20performance",
        "/repos/acme/web/labels/100%25",
        "/repos/acme/web/branches/release/0.x",
        "/repos/acme/web/branches/release%2F0.x",
        "/repos/acme/web/commits/release/0.x",
        "/users/dependabot%5Bbot%5D",
    ):
        assert (await hub.get(path)).status == 200, path


async def test_an_empty_repository_is_409_204_and_empty_lists(settled: World, start: Start) -> None:
    hub = await start(settled)
    commits = await hub.get("/repos/acme/empty/commits")
    assert (commits.status, commits.json["message"]) == (409, "Git Repository is empty.")
    nobody = await hub.get("/repos/acme/empty/contributors")
    assert (nobody.status, nobody.raw) == (204, b"")
    assert (await hub.get("/repos/acme/empty/branches")).json == []
    assert (await hub.get("/repos/acme/empty/issues")).json == []


async def test_deleted_issues_and_issues_that_are_turned_off_are_410(settled: World, start: Start) -> None:
    hub = await start(settled)
    (number,) = settled.repo("acme/web").deleted_issues
    for path in (f"/repos/acme/web/issues/{number}", f"/repos/acme/web/issues/{number}/comments"):
        got = await hub.get(path)
        assert (got.status, got.json["message"]) == (410, "This issue was deleted")
    assert (await hub.get("/repos/acme/no-issues/issues")).status == 410
    assert (await hub.get("/repos/acme/no-issues/commits")).status == 200


async def test_blocked_repositories_are_listed_and_answer_nothing_else(settled: World, start: Start) -> None:
    hub = await start(settled)
    names = {repo["name"] for repo in await hub.pagination("/orgs/acme/repos")}
    assert {"taken-down", "unwelcome"} <= names
    for path in ("/repos/acme/taken-down", "/repos/acme/taken-down/issues"):
        got = await hub.get(path)
        assert (got.status, got.json["block"]["reason"]) == (451, "dmca")
    got = await hub.get("/repos/acme/unwelcome/commits")
    assert (got.status, got.json["block"]["reason"]) == (403, "tos")


async def test_a_renamed_repository_is_301_to_its_number_with_the_rest_of_the_path(
    settled: World, start: Start
) -> None:
    hub = await start(settled)
    repo = settled.repo("acme/renamed-now")
    got = await hub.get(f"/repos/acme/{RENAMED_FROM}/issues?state=all&per_page=2")
    target = f"{hub.server.url}/repositories/{repo.id}/issues?state=all&per_page=2"
    assert (got.status, got.headers["Location"], got.json["url"]) == (301, target, target)
    assert "ETag" not in got.headers
    followed = await hub.get(target)
    assert followed.status == 200
    assert followed.json[0]["repository_url"].endswith("/repos/acme/renamed-now")


async def test_statistics_are_202_until_they_have_been_worked_out(settled: World, start: Start) -> None:
    hub = await start(settled)
    first = await hub.get("/repos/acme/web/stats/contributors")
    second = await hub.get("/repos/acme/web/stats/contributors")
    assert (first.status, first.json) == (202, {})
    assert second.status == 200
    assert second.json[0]["author"]["login"]


async def test_the_code_frequency_of_very_many_commits_is_422(settled: World, start: Start) -> None:
    many = len(settled.repo("acme/web").commits)
    tokens = {"token-a": settled.principal(an_insider(settled))}
    for cap, answers in ((many, [422, 202]), (many + 1, [202, 202])):
        hub = await start(settled, Setup(tokens=tokens, manners=Manners(frequency_cap=cap)))
        asked = [await hub.get(f"/repos/acme/web/stats/{name}") for name in ("code_frequency", "punch_card")]
        assert [each.status for each in asked] == answers


async def test_commits_are_found_by_sha_by_the_start_of_it_and_by_branch(settled: World, start: Start) -> None:
    hub = await start(settled)
    repo = settled.repo("acme/web")
    assert repo.head
    for ref in (repo.head.sha, repo.head.sha[:9], repo.default_branch):
        assert (await hub.get(f"/repos/acme/web/commits/{ref}")).json["sha"] == repo.head.sha
    unknown = await hub.get(f"/repos/acme/web/commits/{'0' * 40}")
    assert (unknown.status, unknown.json["message"]) == (422, f"No commit found for SHA: {'0' * 40}")


async def test_refs_are_listed_by_prefix_with_both_validators(settled: World, start: Start) -> None:
    hub = await start(settled)
    got = await hub.get("/repos/acme/web/git/matching-refs/heads")
    assert [ref["ref"] for ref in got.json] == [
        f"refs/heads/{name}" for name in sorted(settled.repo("acme/web").branches)
    ]
    assert got.headers["Last-Modified"]
    assert (await hub.get("/repos/acme/web/git/ref/tags/nightly/3")).json["object"]["type"] == "commit"
    annotated = (await hub.get("/repos/acme/web/git/ref/tags/v0.0.0")).json["object"]
    assert annotated["type"] == "tag"
    assert (await hub.get(annotated["url"])).json["tag"] == "v0.0.0"


async def test_a_list_inside_an_object_is_paged_as_any_other(settled: World, start: Start) -> None:
    hub = await start(settled)
    got = await hub.get("/search/repositories?q=org:acme&per_page=5")
    assert (len(got.json["items"]), got.json["total_count"]) == (5, len(settled.repos_of(settled.org("acme"))))
    assert "next" in got.links
    assert (await hub.get("/search/repositories")).status == 422


async def test_only_reading_is_possible(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    assert (await hub.get("/repos/acme/web", method="DELETE")).status == 404
    head = await hub.get("/repos/acme/web", method="HEAD")
    assert (head.status, head.raw) == (200, b"")


async def test_meta_and_the_askers_own_things_answer(settled: World, start: Start) -> None:
    hub = await start(settled)
    me = an_insider(settled)
    assert (await hub.get("/meta")).status == 200
    assert (await hub.get("/user")).json["login"] == me
    assert "acme" in {org["login"] for org in (await hub.get("/user/orgs")).json}
    assert "plans" in {repo["name"] for repo in await hub.pagination("/user/repos")}
    owned = await hub.pagination("/user/repos?affiliation=owner")
    assert {repo["owner"]["login"] for repo in owned} <= {me}


class TestOrder:
    """Each list has the order and the defaults of its own documentation."""

    async def test_issues_are_open_and_newest_first_unless_asked_otherwise(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        repo = settled.repo("acme/web")
        plain = [issue["number"] for issue in await hub.pagination("/repos/acme/web/issues")]
        assert plain == sorted((n for n, issue in repo.issues.items() if issue.state == "open"), reverse=True)
        assert len(await hub.pagination("/repos/acme/web/issues?state=all")) == len(repo.issues)
        oldest = await hub.pagination("/repos/acme/web/issues?state=all&sort=created&direction=asc")
        assert [issue["number"] for issue in oldest] == sorted(repo.issues)
        updated = await hub.pagination("/repos/acme/web/issues?state=all&sort=updated&direction=asc")
        assert [issue["updated_at"] for issue in updated] == sorted(issue["updated_at"] for issue in updated)
        talked = await hub.pagination("/repos/acme/web/issues?state=all&sort=comments")
        assert [issue["comments"] for issue in talked] == sorted((i["comments"] for i in talked), reverse=True)

    async def test_only_the_default_sort_of_pulls_begins_with_the_newest(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        newest = [pull["number"] for pull in await hub.pagination("/repos/acme/web/pulls?state=all")]
        assert newest == sorted(newest, reverse=True)
        updated = [pull["updated_at"] for pull in await hub.pagination("/repos/acme/web/pulls?state=all&sort=updated")]
        assert updated == sorted(updated)
        popular = await hub.pagination("/repos/acme/web/pulls?state=all&sort=popularity&direction=desc")
        assert len(popular) == len(newest)

    async def test_comments_are_by_id_and_direction_alone_changes_nothing(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        for path in ("issues/comments", "pulls/comments", "comments"):
            ids = [each["id"] for each in await hub.pagination(f"/repos/acme/web/{path}")]
            assert ids == sorted(ids) != []
            assert ids == [each["id"] for each in await hub.pagination(f"/repos/acme/web/{path}?direction=desc")]
        latest = await hub.pagination("/repos/acme/web/issues/comments?sort=updated&direction=desc")
        moments = [each["updated_at"] for each in latest]
        assert moments == sorted(moments, reverse=True)

    async def test_the_other_lists_have_their_order(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        acme = [repo["created_at"] for repo in await hub.pagination("/orgs/acme/repos")]
        assert acme == sorted(acme, reverse=True)
        named = [repo["name"].lower() for repo in await hub.pagination("/users/acme/repos")]
        assert named == sorted(named)
        dates = [commit["commit"]["committer"]["date"] for commit in await hub.pagination("/repos/acme/web/commits")]
        assert dates == sorted(dates, reverse=True)
        branches = [branch["name"] for branch in await hub.pagination("/repos/acme/web/branches")]
        assert branches == sorted(branches)
        tags = [tag["name"] for tag in await hub.pagination("/repos/acme/web/tags")]
        assert tags == sorted(tags, reverse=True)
        counts = [each["contributions"] for each in await hub.pagination("/repos/acme/web/contributors")]
        assert counts == sorted(counts, reverse=True)
        pull = next(pull for pull in settled.repo("acme/web").pulls if pull.pull and len(pull.pull.commits) > 1)
        commits = [each["sha"] for each in await hub.pagination(f"/repos/acme/web/pulls/{pull.number}/commits")]
        assert pull.pull
        assert commits == [commit.sha for commit in pull.pull.commits]

    async def test_milestones_are_the_open_ones_unless_asked_otherwise(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        milestones = settled.repo("acme/web").milestones
        assert all(each["state"] == "open" for each in await hub.pagination("/repos/acme/web/milestones"))
        assert len(await hub.pagination("/repos/acme/web/milestones?state=all")) == len(milestones) == 3
        done = await hub.pagination("/repos/acme/web/milestones?state=all&sort=completeness&direction=desc")
        assert len(done) == 3


class TestSince:
    async def test_since_is_a_bound_on_the_last_update_and_is_inclusive(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        repo = settled.repo("acme/web")
        for path, moments in (
            ("issues?state=all&", [issue.updated_at for issue in repo.issues.values()]),
            ("issues/comments?", [comment.updated_at for comment in repo.issue_comments.values()]),
            ("pulls/comments?", [comment.updated_at for comment in repo.review_comments.values()]),
        ):
            bound = sorted(moments)[len(moments) // 2]
            found = await hub.pagination(f"/repos/acme/web/{path}since={bound}")
            assert sorted(each["updated_at"] for each in found) == sorted(each for each in moments if each >= bound)
            later = at(seconds(bound) + 1)
            assert len(await hub.pagination(f"/repos/acme/web/{path}since={later}")) < len(found)

    async def test_since_is_read_with_any_offset_and_ignored_where_it_is_nonsense(
        self, settled: World, start: Start
    ) -> None:
        hub = await start(settled)
        bound = sorted(issue.updated_at for issue in settled.repo("acme/web").issues.values())[8]
        zulu = await hub.pagination(f"/repos/acme/web/issues?state=all&since={bound}")
        east = at(seconds(bound) + 7200).replace("Z", "%2B02:00")
        assert await hub.pagination(f"/repos/acme/web/issues?state=all&since={east}") == zulu
        nonsense = await hub.pagination("/repos/acme/web/issues?state=all&since=yesterday")
        assert len(nonsense) == len(settled.repo("acme/web").issues)

    async def test_commits_are_bounded_by_their_date_their_branch_and_their_author(
        self, settled: World, start: Start
    ) -> None:
        hub = await start(settled)
        repo = settled.repo("acme/web")
        history = repo.history(repo.head)
        bound = history[10].committed_at
        assert [each["sha"] for each in await hub.pagination(f"/repos/acme/web/commits?since={bound}")] == [
            commit.sha for commit in history[:11]
        ]
        assert len(await hub.pagination(f"/repos/acme/web/commits?until={bound}")) == len(history) - 10
        branch = next(ref for name, ref in repo.branches.items() if name != repo.default_branch)
        on_branch = await hub.pagination(f"/repos/acme/web/commits?sha={branch.name}")
        assert on_branch[0]["sha"] == branch.commit.sha
        author = history[0].author
        if author is not None:
            own = await hub.pagination(f"/repos/acme/web/commits?author={author.login}")
            assert {each["author"]["login"] for each in own} == {author.login}


async def test_a_timeline_holds_events_and_comments_as_they_came(settled: World, start: Start) -> None:
    hub = await start(settled)
    web = settled.repo("acme/web")
    issue = max(web.issues.values(), key=lambda each: len(each.comments))
    items = (await hub.get(f"/repos/acme/web/issues/{issue.number}/timeline?per_page=100")).json
    moments = [item["created_at"] for item in items]
    assert moments == sorted(moments)
    assert [item["id"] for item in items if item["event"] == "commented"] == [each.id for each in issue.comments]
    assert len(items) == len(issue.comments) + sum(e.issue is issue for e in web.records.issue_events.values())
