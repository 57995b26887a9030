"""Crawls of the reference servers: what is saved is what they count, and what they ask for is kept."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import jwt
import pytest

from ghcrawl.fetch.atproto.sessions import Account
from ghcrawl.fetch.atproto.streams import FIREHOSE, stream_of
from ghcrawl.fetch.redaction import Secret
from ghcrawl.platforms.atproto import BlueskySource
from ghcrawl.telemetry.tally import Tally
from processors.atproto.events import Subscription
from tests.integration.atproto.writing import Ask, posted, repository, signed_in
from tests.support.bluesky import Stage, left
from tests.support.services.atproto import PASSWORD, SECRET, Network
from tests.support.services.proxy import proxied
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(900)  # the servers start, and the first time on a machine they are built


@pytest.fixture
def stage(network: Network, tmp_path: Path) -> Stage:
    return Stage(db=tmp_path / "a.db", api_url=network.appview)


def account(network: Network, name: str) -> Account:
    return Account(identifier=f"{name}.test", password=Secret(PASSWORD), service=network.pds)


async def test_an_account_is_saved_as_its_profile_counts_it_and_again_costs_no_document(
    stage: Stage, network: Network, ask: Ask
):
    found = await stage.crawl("bluesky:q/post,profile,relations/user=alice.test")
    profile, _ = await ask("app.bsky.actor.getProfile", at=network.appview, actor="alice.test")
    assert len(found.of("post")) == profile["postsCount"] > 0
    for direction, count in (("follows", "followsCount"), ("followers", "followersCount")):
        assert sum(len(page.body["elements"]) for page in found.of(direction)) == profile[count] > 0
    assert not found.deadletters
    assert all({"author", "self"} <= post.links.keys() for post in found.of("post"))
    again = await stage.crawl("bluesky:q/post,profile,relations/user=alice.test")
    assert again.saved == 0
    assert again.tally.statuses[304] == again.tally.calls


async def test_a_search_by_author_holds_only_that_author_although_the_server_ignores_it(
    stage: Stage, network: Network, ask: Ask
):
    uri = await posted(ask, await signed_in(ask, "bob"), "the one that bob wrote")  # authors of the others are random
    await shown(ask, network, uri, 1)
    ignored, _ = await ask("app.bsky.feed.searchPosts", at=network.appview, q="the", author="bob.test", limit="100")
    assert {post["author"]["handle"] for post in ignored["posts"]} != {"bob.test"}, "the server applies it now"
    found = await stage.crawl("bluesky:q/post/user=bob.test,query=the")
    assert {post.body["author"]["handle"] for post in found.of("post")} == {"bob.test"}


async def test_a_thread_is_read_where_the_scenario_says_so(stage: Stage, network: Network, ask: Ask):
    feed, _ = await ask("app.bsky.feed.getAuthorFeed", at=network.appview, actor="alice.test", limit="100")
    did, rkey = next(
        (each["post"]["author"]["did"], each["post"]["uri"].rpartition("/")[2])
        for each in feed["feed"]
        if each["post"]["record"].get("reply") and "reason" not in each
    )
    spec = f"bluesky:profile/{did}/post/{rkey}"
    alone = await stage.crawl(spec)
    assert (len(alone.of("post")), alone.of("thread")) == (1, [])
    found = await stage.crawl(spec, policy="default:threads/")
    assert len(found.of("thread")) == 1
    assert len(found.of("post")) > 1
    assert len(found.of("profile")) == 1
    assert not found.deadletters


async def test_a_repository_is_read_without_an_appview(network: Network, tmp_path: Path, ask: Ask):
    stage = Stage(db=tmp_path / "a.db", api_url=network.pds, settings={"bluesky.records": True})
    found = await stage.crawl("bluesky:q/post,relations,profile/user=bob.test")
    profile, _ = await ask("app.bsky.actor.getProfile", at=network.appview, actor="bob.test")
    assert len(found.of("post")) == profile["postsCount"]
    assert sum(len(page.body["elements"]) for page in found.of("follows")) == profile["followsCount"]
    assert (len(found.of("profile")), found.deadletters) == (1, [])


async def test_a_deleted_post_becomes_a_tombstone(stage: Stage, network: Network, ask: Ask):
    session = await signed_in(ask, "carla")
    uri = await posted(ask, session, "soon to be deleted")
    await shown(ask, network, uri, 1)
    before = await stage.crawl("bluesky:q/post/user=carla.test")
    (post,) = [each for each in before.of("post") if each.body["uri"] == uri]
    body = {"repo": session["did"], "collection": "app.bsky.feed.post", "rkey": uri.rpartition("/")[2]}
    await ask("com.atproto.repo.deleteRecord", token=session["accessJwt"], body=body)
    await shown(ask, network, uri, 0)
    after = await stage.crawl("bluesky:q/post/user=carla.test")
    assert after.documents[post.urn].deleted_at is not None
    assert len(after.of("post")) == len(before.of("post")) - 1


async def shown(ask: Ask, network: Network, uri: str, count: int) -> None:
    """Return once the AppView has followed the repositories."""

    async def is_shown() -> bool:
        found, _ = await ask("app.bsky.feed.getPosts", at=network.appview, uris=uri)
        return len(found["posts"]) == count

    await until(is_shown, within_s=30, every_s=0.1)


async def test_a_token_that_really_expired_is_renewed_once_under_eight_loops(network: Network, tmp_path: Path):
    stage = Stage(db=tmp_path / "a.db", api_url=network.appview, accounts=[account(network, "bob")])
    stage.settings["crawl.loops"] = 8
    async with stage.open(Tally()) as service:
        source = service.opened["bluesky"].source
        assert isinstance(source, BlueskySource)
        (principal,) = source._principals
        session = principal.session
        assert session is not None
        real = await session.token()
        claims = jwt.decode(real, options={"verify_signature": False})
        claims["exp"] = int((datetime.now(UTC) - timedelta(minutes=1)).timestamp())
        with pytest.warns(jwt.InsecureKeyLengthWarning):
            session._access = jwt.encode(claims, SECRET, headers=jwt.get_unverified_header(real))
        names, kinds = ("alice", "bob", "carla", "triage"), ("profile", "post")
        await stage.push(service, *(f"bluesky:q/{kind}/user={name}.test" for name in names for kind in kinds))
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.supervisor.drain(5)
        found = await left(service, Tally())
    assert session.renewals == 2, "once when it was made, once when it had expired"
    assert (len(found.of("profile")), found.deadletters) == (4, [])


async def test_the_thirty_first_session_waits_as_long_as_the_server_says_and_no_attempt_is_lost(
    network: Network, tmp_path: Path, ask: Ask
):
    wrong = {"identifier": "dan.test", "password": "wrong"}
    answers = [await ask("com.atproto.server.createSession", body=wrong) for _ in range(31)]
    body, response = answers[-1]
    assert (response.status, body["error"]) == (429, "RateLimitExceeded")
    stage = Stage(db=tmp_path / "a.db", api_url=network.appview, accounts=[account(network, "dan")])
    async with stage.open(Tally()) as service:
        await stage.push(service, "bluesky:q/profile/user=alice.test")
        service.supervisor.start()
        async with asyncio.timeout(20):
            while (until := service.opened["bluesky"].source.blocked_until()) is None:  # noqa: ASYNC110  # nobody tells
                await asyncio.sleep(0.02)
        await service.supervisor.drain(5)
        (waiting,) = await service.backend.queue.peek("immediate", limit=9)
    _, response = await ask("com.atproto.server.createSession", body=wrong)
    expected = datetime.now(UTC) + timedelta(seconds=int(response.headers["Retry-After"]))
    assert abs(until - expected) < timedelta(seconds=3)
    assert (waiting.attempt, waiting.failures) == (0, ())


async def test_a_firehose_that_is_cut_in_the_middle_goes_on_with_every_post_once(network: Network, ask: Ask):
    session = await signed_in(ask, "bob")
    host, port = network.pds.removeprefix("http://").split(":")
    subscription = Subscription.of({"words": []}, "a test")
    uris: list[str] = []
    async with proxied("127.0.0.1" if host == "localhost" else host, int(port)) as wire:
        url = f"ws://127.0.0.1:{wire.port}/xrpc/{FIREHOSE}"
        make = partial(stream_of, url, subscription.pushes, dids=[session["did"]])
        told: list[str] = []
        cursor = "0"  # everything that the server remembers, of an account that wrote before
        uris += await repository(ask, session["did"])
        for number in range(3):
            async with asyncio.timeout(30), aclosing(make().read(cursor)) as batches:
                coming = asyncio.ensure_future(anext(batches))
                async with asyncio.timeout(10):
                    while wire.connections <= number:  # noqa: ASYNC110  # nobody tells
                        await asyncio.sleep(0.01)
                uris += [await posted(ask, session, f"number {number}.{each}") for each in range(3)]
                while len(told) < len(uris) - 1:
                    batch = await coming
                    told += [push.request.payload.body["uri"] for push in batch.pushes if push.request.payload]
                    cursor = batch.cursor
                    coming = asyncio.ensure_future(anext(batches))
                wire.cut()
                coming.cancel()
                await asyncio.wait([coming])
        async with asyncio.timeout(30), aclosing(make().read(cursor)) as batches:
            while len(told) < len(uris):
                batch = await anext(batches)
                told += [push.request.payload.body["uri"] for push in batch.pushes if push.request.payload]
    assert sorted(told) == sorted(uris), "each once"
