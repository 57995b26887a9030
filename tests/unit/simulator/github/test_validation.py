from __future__ import annotations

from email.utils import parsedate_to_datetime
from hashlib import sha256

import pytest

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.moments import seconds
from ghcrawl.simulator.github.oracle import expected
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from tests.unit.simulator.github.conftest import Start, an_insider

ACCEPT = "application/vnd.github+json"


def tag(raw: bytes, *sent: str) -> str:
    return f'"{sha256("".join(f"{value}:" for value in sent).encode() + raw).hexdigest()}"'


async def test_an_etag_is_the_hash_of_what_vary_names_and_of_the_exact_bytes(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    for path in ("/repos/acme/web", "/repos/acme/web/issues?state=all", "/orgs/acme/members"):
        a, b = await hub.get(path), await hub.get(path, token="token-b")
        assert a.raw == b.raw
        assert a.headers["ETag"].removeprefix("W/") == tag(a.raw, ACCEPT, "Bearer token-a")
        assert b.headers["ETag"].removeprefix("W/") == tag(b.raw, ACCEPT, "Bearer token-b")
        assert a.headers["Vary"].startswith("Accept, Authorization, Cookie")
        assert a.headers["Cache-Control"] == "private, max-age=60, s-maxage=60"


async def test_nobodys_etag_is_of_accept_and_body_alone(tiny: World, start: Start) -> None:
    got = await (await start(tiny)).get("/repos/acme/web", token=None)
    assert got.headers["ETag"].removeprefix("W/") == tag(got.raw, ACCEPT)
    assert "Authorization" not in got.headers["Vary"]
    assert got.headers["Cache-Control"].startswith("public")


async def test_a_tag_serves_only_the_token_it_was_given_to_though_both_are_one_users(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    known = (await hub.get("/repos/acme/web/issues")).headers["ETag"]
    assert (await hub.get("/repos/acme/web/issues", If_None_Match=known)).status == 304
    assert (await hub.get("/repos/acme/web/issues", token="token-b", If_None_Match=known)).status == 200
    assert (await hub.get("/repos/acme/web/issues", If_None_Match=known, Accept="*/*")).status == 200


async def test_compressed_answers_carry_the_weak_form_and_either_form_matches(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    got = await hub.get("/repos/acme/web")
    weak = got.headers["ETag"]
    assert (got.headers["Content-Encoding"], weak[:2]) == ("gzip", "W/")
    plain = await hub.get("/repos/acme/web", Accept_Encoding="identity")
    assert plain.headers["ETag"] == weak.removeprefix("W/")
    for form in (weak, weak.removeprefix("W/"), f'"{"0" * 64}", {weak}', "*"):
        again = await hub.get("/repos/acme/web", If_None_Match=form)
        assert (again.status, again.raw, again.headers["ETag"]) == (304, b"", weak.removeprefix("W/"))


async def test_nothing_is_compressed_where_that_is_not_wanted(tiny: World, start: Start) -> None:
    tokens = {"token-a": tiny.principal(an_insider(tiny))}
    got = await (await start(tiny, Setup(tokens=tokens, manners=Manners(gzip=False)))).get("/repos/acme/web")
    assert "Content-Encoding" not in got.headers
    assert not got.headers["ETag"].startswith("W/")


async def test_a_304_is_free_for_those_we_know_and_not_for_the_others(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    first = await hub.get("/repos/acme/web")
    again = await hub.get("/repos/acme/web", If_None_Match=first.headers["ETag"])
    assert (again.status, again.remaining) == (304, first.remaining)
    first = await hub.get("/repos/acme/web", token=None)
    again = await hub.get("/repos/acme/web", token=None, If_None_Match=first.headers["ETag"])
    assert (again.status, again.remaining) == (304, first.remaining - 1)


async def test_a_tag_is_out_of_date_as_soon_as_the_bytes_change(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    path = "/repos/acme/web/issues?state=all"
    first = await hub.get(path)
    repo = tiny.repo("acme/web")
    changes.edit_issue(tiny, repo, next(iter(repo.issues.values())), title="Another title")
    again = await hub.get(path, If_None_Match=first.headers["ETag"])
    assert again.status == 200
    assert "Another title" in {issue["title"] for issue in again.json}


class TestDates:
    async def test_a_date_serves_every_token(self, tiny: World, start: Start) -> None:
        hub = await start(tiny)
        since = (await hub.get("/repos/acme/web")).headers["Last-Modified"]
        assert (await hub.get("/repos/acme/web", token="token-b", If_Modified_Since=since)).status == 304
        earlier = "Mon, 01 Jan 2001 00:00:00 GMT"
        assert (await hub.get("/repos/acme/web", If_Modified_Since=earlier)).status == 200
        assert (await hub.get("/repos/acme/web", If_Modified_Since="whenever")).status == 200

    async def test_where_there_is_a_tag_no_date_counts(self, tiny: World, start: Start) -> None:
        hub = await start(tiny)
        since = (await hub.get("/repos/acme/web")).headers["Last-Modified"]
        stale = await hub.get("/repos/acme/web", If_Modified_Since=since, If_None_Match='"stale"')
        assert stale.status == 200

    async def test_a_list_without_a_date_pays_no_heed_to_one(self, tiny: World, start: Start) -> None:
        hub = await start(tiny)
        got = await hub.get("/repos/acme/web/issues", If_Modified_Since="Mon, 01 Jan 2099 00:00:00 GMT")
        assert (got.status, "Last-Modified" in got.headers) == (200, False)

    async def test_a_date_hides_what_bumps_nothing(self, tiny: World, start: Start, clock: SimClock) -> None:
        hub = await start(tiny)
        repo = tiny.repo("acme/web")
        issue = next(issue for issue in repo.issues.values() if issue.comments)
        path = f"/repos/acme/web/issues/{issue.number}"
        first = await hub.get(path)
        clock.advance(60)
        changes.delete_comment(tiny, repo, issue.comments[0])
        assert (await hub.get(path, If_Modified_Since=first.headers["Last-Modified"])).status == 304
        assert (await hub.get(path, If_None_Match=first.headers["ETag"])).json["comments"] == first.json["comments"] - 1

    @pytest.mark.slow
    async def test_exactly_those_things_have_one_that_githubs_have(self, settled: World, start: Start) -> None:
        hub = await start(settled)
        viewer = settled.principal(an_insider(settled)).viewer
        have: dict[str, set[bool]] = {}
        for thing in expected(settled, "acme", base=hub.server.url, viewer=viewer).values():
            if thing.single is None or thing.type == "topics" or len(have.get(thing.type, ())) > 1:
                continue
            body = thing.single()
            url = body.get("url") or body.get("_links", {}).get("self")
            if thing.type == "review":
                url = f"{body['pull_request_url']}/reviews/{body['id']}"
            if thing.type == "release" and body["draft"]:
                continue
            have.setdefault(thing.type, set()).add("Last-Modified" in (await hub.get(url)).headers)
        lack = {"issue_comment", "review", "commit_comment", "branch", "issue_event"}
        assert have == {kind: {kind not in lack} for kind in have}
        assert len(have) == 17

    async def test_a_date_is_that_of_the_last_update_the_commit_or_the_publication(
        self, settled: World, start: Start
    ) -> None:
        hub = await start(settled)
        web = settled.repo("acme/web")
        release = next(each for each in web.releases.values() if each.published_at)
        issue = next(each for each in web.issues.values() if each.updated_at != each.created_at)
        assert web.head
        for path, moment in (
            ("/repos/acme/web", web.updated_at),
            (f"/repos/acme/web/issues/{issue.number}", issue.updated_at),
            (f"/repos/acme/web/commits/{web.head.sha}", web.head.committed_at),
            ("/repos/acme/web/commits", web.head.committed_at),
            (f"/repos/acme/web/releases/{release.id}", release.published_at or ""),
        ):
            said = parsedate_to_datetime((await hub.get(path)).headers["Last-Modified"])
            assert int(said.timestamp()) == seconds(moment), path

    @pytest.mark.parametrize(
        ("path", "has"),
        [
            ("commits", True),
            ("tags", True),
            ("contributors", True),
            ("issues", False),
            ("pulls", False),
            ("issues/comments", False),
            ("pulls/comments", False),
            ("comments", False),
            ("labels", False),
            ("milestones", False),
            ("releases", False),
            ("branches", False),
        ],
    )
    async def test_exactly_those_lists_have_one_that_githubs_have(
        self, settled: World, start: Start, path: str, *, has: bool
    ) -> None:
        got = await (await start(settled)).get(f"/repos/acme/web/{path}")
        assert ("Last-Modified" in got.headers) is has


async def test_searches_and_answers_that_are_no_200_have_no_tag(settled: World, start: Start) -> None:
    hub = await start(settled)
    for path in ("/search/repositories?q=web", "/repos/acme/nope", "/repos/acme/empty/commits", "/rate_limit"):
        assert "ETag" not in (await hub.get(path)).headers


async def test_versions_are_echoed_and_change_bodies_but_not_vary(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    path = "/repos/acme/web/issues?state=all"
    old = await hub.get(path)
    new = await hub.get(path, X_GitHub_Api_Version="2026-03-10")
    assert old.headers["X-GitHub-Api-Version-Selected"] == "2022-11-28"
    assert new.headers["X-GitHub-Api-Version-Selected"] == "2026-03-10"
    assert ("assignee" in old.json[0], "assignee" in new.json[0]) == (True, False)
    assert "Version" not in new.headers["Vary"]
    assert (await hub.get(path, X_GitHub_Api_Version="2019-01-01")).status == 400


async def test_an_answer_is_dated_by_the_worlds_clock(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny)
    clock.advance(90)
    got = await hub.get("/repos/acme/web")
    assert got.headers["Date"] == "Sat, 21 Nov 2026 12:01:30 GMT"
    ids = {(await hub.get("/repos/acme/web")).headers["X-GitHub-Request-Id"] for _ in range(3)}
    assert len(ids) == 3


async def test_text_is_sent_as_it_is(tiny: World, start: Start) -> None:
    hub = await start(tiny)
    repo = tiny.repo("acme/web")
    made = changes.open_issue(tiny, repo, by=tiny.user(an_insider(tiny)), title="日本語 🧑‍💻")
    got = await hub.get(f"/repos/acme/web/issues/{made.subject.number}")  # type: ignore[union-attr]  # an issue
    assert "日本語 🧑‍💻".encode() in got.raw
