"""Crawls of a simulated network of the AT Protocol. What is true is tested on the real servers (`atproto/`)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.fetch.atproto.sessions import Account
from ghcrawl.fetch.redaction import Secret
from ghcrawl.platforms.atproto import BlueskySource
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.simulator.atproto.run import running
from ghcrawl.simulator.atproto.server import PASSWORD, Limits, Server
from ghcrawl.simulator.atproto.world import generate
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import SpecError
from ghcrawl.values.outcome import Fetched
from ghcrawl.values.requests import Push, Request
from tests.support.backends import SERVERS, backend
from tests.support.bluesky import Stage
from tests.support.services.fixtures import mongo_url, rabbitmq, vhost
from tests.support.waiting import until

__all__ = ["backend", "mongo_url", "rabbitmq", "vhost"]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with running(generate(posts=900, accounts=4)) as found:
        yield found


@pytest.fixture
def stage(server: Server, tmp_path: Path) -> Stage:
    return Stage(db=tmp_path / "a.db", api_url=server.url)


def account(server: Server, name: str) -> Account:
    return Account(identifier=f"{name}.test", password=Secret(PASSWORD), service=server.url)


async def test_everything_of_an_account_is_crawled_and_a_second_crawl_saves_nothing(stage: Stage, server: Server):
    alice = server.world.named("alice")
    found = await stage.crawl("bluesky:q/post,profile,relations/user=alice.test")
    assert {each.urn.rpartition(":")[2] for each in found.of("post")} == {post.rkey for post in alice.posts}
    assert len(alice.posts) > 200, "over several pages"
    (profile,) = found.of("profile")
    assert profile.urn == f"urn:atproto:{alice.did}"
    assert profile.body["postsCount"] == len(alice.posts)
    for direction, count in (("follows", "followsCount"), ("followers", "followersCount")):
        pages = found.of(direction)
        assert sum(len(page.body["elements"]) for page in pages) == profile.body[count]
    assert not found.deadletters
    again = await stage.crawl("bluesky:q/post,profile,relations/user=alice.test")
    assert again.saved == 0
    assert (again.tally.free, again.tally.charged) == (0, again.tally.calls), "what is unchanged costs, too"
    calls = server.calls[-again.tally.calls :]
    assert {status for _, status in calls} == {304}, calls


async def test_a_deleted_post_becomes_a_tombstone_and_pages_that_are_gone_do_too(stage: Stage, server: Server):
    alice = server.world.named("alice")
    before = await stage.crawl("bluesky:q/post/user=alice.test")
    pages = len(before.of("posts"))
    gone = alice.posts[: 100 + len(alice.posts) % 100]
    for post in gone:
        server.world.delete(alice, post)
    after = await stage.crawl("bluesky:q/post/user=alice.test")
    assert len(after.of("post")) == len(alice.posts)
    dead = [each for each in after.documents.values() if each.type == "post" and each.deleted_at]
    assert {each.urn.rpartition(":")[2] for each in dead} == {post.rkey for post in gone}
    assert len(after.of("posts")) < pages


async def test_a_window_and_a_limit_are_kept(stage: Stage, server: Server):
    alice = server.world.named("alice")
    times = sorted(post.value["createdAt"] for post in alice.posts)
    since, before = times[20], times[150]
    found = await stage.crawl(f"bluesky:q/post/user=alice.test?since={since},before={before}")
    assert sorted(each.body["record"]["createdAt"] for each in found.of("post")) == times[20:150]
    limited = await Stage(db=stage.db.with_name("b.db"), api_url=server.url).crawl(
        "bluesky:q/post/user=alice.test?limit=130"
    )
    assert sorted(each.body["record"]["createdAt"] for each in limited.of("post")) == times[-130:]


async def test_a_search_by_author_holds_nobody_elses_posts_whatever_the_server_does(stage: Stage, server: Server):
    alice = server.world.named("alice")
    found = await stage.crawl("bluesky:q/post/user=alice.test,query=river")
    wanted = {post.rkey for post in alice.posts if "river" in post.value["text"].split()}
    assert {each.urn.rpartition(":")[2] for each in found.of("post")} == wanted
    assert {each.body["author"]["handle"] for each in found.of("post")} == {"alice.test"}


async def test_related_asks_about_each_whom_an_account_follows_or_is_followed_by(stage: Stage, server: Server):
    alice = server.world.named("alice")
    others = {*alice.follows, *(one.did for one in server.world.accounts.values() if alice.did in one.follows)}
    found = await stage.crawl("bluesky:q/profile/related=alice.test")
    assert {each.urn.removeprefix("urn:atproto:") for each in found.of("profile")} == others
    assert others


async def test_an_account_and_those_related_to_it_are_the_union(stage: Stage, server: Server):
    alice = server.world.named("alice")
    both = {alice.did, *alice.follows} | {one.did for one in server.world.accounts.values() if alice.did in one.follows}
    found = await stage.crawl("bluesky:q/profile,relations/user=Alice.test,related=alice.test")
    assert {each.urn.removeprefix("urn:atproto:") for each in found.of("profile")} == both
    for direction in ("follows", "followers"):
        assert {(each.links["origin"].href or "").removeprefix("urn:atproto:") for each in found.of(direction)} == both


async def test_a_limit_is_of_each_resource(stage: Stage, server: Server):
    account = server.world.named("alice")
    found = await stage.crawl("bluesky:q/post,profile,relations/user=alice.test?limit=2")
    assert (len(found.of("post")), len(found.of("profile"))) == (2, 1)
    assert sum(len(page.body["elements"]) for page in found.of("follows")) == len(account.follows) > 0
    stage.db = stage.db.with_name("b.db")
    searched = await stage.crawl("bluesky:q/post,profile/query=a?limit=3")
    assert (len(searched.of("post")), len(searched.of("profile"))) == (3, 3)


@pytest.mark.parametrize("resources", ["relations", "post,relations"])
async def test_relations_of_a_location_are_a_deadletter_at_once(stage: Stage, resources: str):
    async with stage.open(Tally()) as service:
        request = Request(platform="bluesky", type="request", url=f"bluesky:q/{resources}/location=berlin")
        await service.backend.queue.push([Push(request=request, queue="immediate")])
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.supervisor.drain(5)
        (letter,) = await service.backend.deadletters.list(DeadletterFilter(), limit=9)
    assert (letter.kind, len(letter.request.failures)) == ("invalid_request", 1)
    assert "relations of a location are not defined" in letter.reason


async def test_nothing_of_an_excluded_account_is_saved_whoever_leads_to_it(stage: Stage, server: Server):
    bob = server.world.named("bob")
    spec = "bluesky:q/post/user=alice.test,related=alice.test"
    assert any(bob.did in post.urn for post in (await stage.crawl(spec)).of("post"))
    stage.db, stage.settings["crawl.exclude"] = stage.db.with_name("b.db"), [bob.did]
    found = await stage.crawl(spec, "bluesky:q/post/user=bob.test")
    assert {post.body["author"]["handle"] for post in found.of("post")} >= {"alice.test"}
    assert [urn for urn in found.documents if urn.startswith(f"urn:atproto:{bob.did}")] == []


async def test_two_authors_match_nothing_and_the_request_says_so(stage: Stage):
    found = await stage.crawl("bluesky:q/post/user=alice.test,user=bob.test")
    (request,) = found.of("request")
    assert not found.of("post")
    assert request.body["notes"] == ["nothing matches: what is asked for would have two authors"]


async def test_a_repository_is_read_without_an_appview(server: Server, tmp_path: Path):
    stage = Stage(db=tmp_path / "a.db", api_url=server.url, settings={"bluesky.records": True})
    alice = server.world.named("alice")
    found = await stage.crawl("bluesky:q/post/user=alice.test,query=river")
    assert len(found.of("post")) == sum("river" in post.value["text"] for post in alice.posts)
    assert {method for method, _ in server.calls} == {"com.atproto.repo.describeRepo", "com.atproto.repo.listRecords"}


async def test_an_expired_token_is_renewed_once_by_all_loops(server: Server, tmp_path: Path):
    stage = Stage(db=tmp_path / "a.db", api_url=server.url, accounts=[account(server, "bob")])
    stage.settings["crawl.loops"] = 8
    await stage.crawl("bluesky:q/profile/user=bob.test")
    sessions = [method for method, _ in server.calls if method.startswith("com.atproto.server")]
    assert sessions == ["com.atproto.server.createSession"]
    specs = [f"bluesky:q/profile/user={one.handle}" for one in server.world.accounts.values()]

    async with stage.open(Tally()) as service:
        source = service.opened["bluesky"].source
        assert isinstance(source, BlueskySource)
        (principal,) = source._principals
        assert principal.session is not None
        await principal.session.token()
        server.expire()
        server.calls.clear()
        await stage.push(service, *specs)
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.supervisor.drain(5)
    renewals = [method for method, _ in server.calls if method.startswith("com.atproto.server")]
    assert renewals == ["com.atproto.server.refreshSession"]
    assert ("app.bsky.actor.getProfile", 400) in server.calls, "that a token expired is an error by name only"


@pytest.mark.parametrize("backend", [SERVERS], indirect=True)
async def test_replicas_on_one_store_renew_sessions_of_their_own_once(server: Server, backend: Mapping[str, Any]):
    """A refresh token works once, so a token that the server rotated for one process must be in no other's hands."""
    stages = [
        Stage(db=Path(), api_url=server.url, accounts=[account(server, "bob")], settings=dict(backend), worker=worker)
        for worker in ("one", "other")
    ]
    async with stages[0].open(Tally()) as one, stages[1].open(Tally()) as other:
        request = one.mounts.read_spec("bluesky:q/profile/user=alice.test", "default")
        fetches = [service.opened["bluesky"].source.fetch for service in (one, other) for _ in range(4)]
        for _ in range(4):
            found = await asyncio.gather(*(fetch(request, None) for fetch in fetches))
            assert {type(each) for each in found} == {Fetched}
            server.expire()
    sessions = Counter(call for call in server.calls if call[0].startswith("com.atproto.server"))
    assert sessions == {
        ("com.atproto.server.createSession", 200): 2,
        ("com.atproto.server.refreshSession", 200): 2 * 3,
    }


async def test_a_limit_is_waited_for_and_costs_no_attempt(tmp_path: Path):
    limits = Limits(limit=3, window_s=1.0)
    async with running(generate(posts=600, accounts=2), limits=limits) as server:
        stage = Stage(db=tmp_path / "a.db", api_url=server.url)
        found = await stage.crawl("bluesky:q/post,profile/user=alice.test")
        assert len(found.of("post")) == len(server.world.named("alice").posts)
        assert not found.tally.retried
        assert [status for _, status in server.calls].count(429) <= 1


async def test_a_wrong_password_is_no_deadletter_but_a_sentence(server: Server, tmp_path: Path):
    wrong = Account(identifier="bob.test", password=Secret("wrong-password"), service=server.url)
    stage = Stage(db=tmp_path / "a.db", api_url=server.url, accounts=[wrong])

    async with stage.open(Tally()) as service:
        await stage.push(service, "bluesky:q/profile/user=alice.test")
        service.supervisor.start()
        await until(lambda: bool(service.opened["bluesky"].source.unrecoverable()))
        assert "wrong-password" not in service.opened["bluesky"].source.unrecoverable()
        await service.supervisor.drain(5)
        assert not await service.backend.queue.is_empty()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bluesky:q/post/user=no..handle", "is no handle"),
        ("bluesky:q/post/location=berlin", "does not tell where"),
        ("bluesky:q/post/user=a.test?lang=de", "unknown parameter lang"),
        ("bluesky:q/post/user=a.test,related=b.test", "related cannot narrow"),
        ("bluesky:profile/alice.test/post/3k", "named by the DID"),
        ("bluesky:nothing", "is nothing to crawl"),
    ],
)
async def test_what_cannot_be_asked_is_said_in_one_line(stage: Stage, spec: str, said: str):

    async with stage.open(Tally()) as service:
        with pytest.raises(SpecError, match=said) as raised:
            service.mounts.read_spec(spec, "default")
        assert "\n" not in str(raised.value)


async def test_a_bad_cursor_is_a_deadletter_with_its_story(stage: Stage, server: Server):
    found = await stage.crawl("bluesky:q/post/query=river?cursor=nonsense")
    (letter,) = found.deadletters
    assert (letter.kind, letter.reason) == ("http_400", "InvalidRequest: limit or cursor is malformed")
    assert letter.request.type == "posts"
