"""Whole crawls of simulated hosts of Mastodon: what request URIs ask for is what is saved, and nothing besides."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from ghcrawl.fetch.mastodon.fetcher import MastodonFetcher, MastodonSettings
from ghcrawl.fetch.mastodon.tokens import read_tokens
from ghcrawl.platforms.simulation import Simulation
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.quotas import Egress
from ghcrawl.simulator.answers import Answer
from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.mastodon.server import Setup, running
from ghcrawl.simulator.mastodon.world import World, generate
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Fetched, SkipReason, Throttled, Unchanged
from ghcrawl.values.requests import Request
from ghcrawl.wiring import simulator
from stores.quotas import MemoryQuotas
from tests.support.builders import at
from tests.support.clock import FakeClock, FastClock
from tests.support.declared import HOUR, declared
from tests.support.mastodon import TOKEN, Crawled, Stage, tokens
from tests.support.waiting import until
from tests.unit.fetch.scripted import a_stored


@pytest.fixture
def world() -> World:
    return generate(SimClock(), accounts=5, statuses=300)


async def test_all_posts_of_an_account_are_saved_and_its_counters_agree(world: World, tmp_path: Path):
    async with running(world) as server:
        crawled = await Stage(db=tmp_path / "a.db").crawl(
            f"mastodon://{server.host}/q/post,profile,relations/user=user1"
        )
    (account,) = crawled.of("account")
    assert crawled.deadletters == []
    assert crawled.counts["status"] == account.body["statuses_count"] == 60
    followers = [each for page in crawled.of("followers") for each in page.body["elements"]]
    following = [each for page in crawled.of("following") for each in page.body["elements"]]
    assert (len(followers), len(following)) == (account.body["followers_count"], account.body["following_count"])
    assert len(server.calls) == 6, "a lookup, three pages of posts (a host always links on), one of each relation"


async def test_a_crawl_anew_saves_nothing_and_what_was_deleted_and_edited_shows(world: World, tmp_path: Path):
    stage = Stage(db=tmp_path / "a.db")
    async with running(world) as server:
        spec = f"mastodon://{server.host}/q/post/user=user2"
        before = await stage.crawl(spec)
        again = await stage.crawl(spec)
        author = world.named("user2")
        assert author
        posts = world.of(author)
        server.calls.clear()
        deleted, edited = posts[7], world.edit(next(each for each in posts[20:] if each.words), "said otherwise")
        world.delete(deleted)
        after = await stage.crawl(spec)
    assert [each for each in again.stored.values() if each != before.stored[each.urn] and each.type == "status"] == []
    tombstones = [
        each.urn.rpartition(":")[2] for each in after.stored.values() if each.deleted_at and each.type == "status"
    ]
    assert tombstones == [str(deleted.id)]
    (changed,) = [each for each in after.of("status") if each.body["id"] == str(edited.id)]
    assert "said otherwise" in changed.body["content"]
    assert changed.changed_at == edited.edited[:19] + "Z"
    assert [path for path, status in server.calls if status == 404] == [f"/api/v1/statuses/{deleted.id}"]


async def test_a_tag_a_search_and_conditions_are_checked_on_our_side(world: World, tmp_path: Path):
    async with running(world) as server:
        stage = Stage(db=tmp_path / "a.db", credentials=tokens(server.host))
        server.setup.tokens[TOKEN] = "user1"
        tagged = await stage.crawl(f"mastodon://{server.host}/q/post/query=%23bread")
        expected = {str(each.id) for each in world.statuses.values() if "bread" in each.tags}
        assert {each.body["id"] for each in tagged.of("status")} == expected

        both = await Stage(db=tmp_path / "b.db").crawl(f"mastodon://{server.host}/q/post/user=user3,query=train")
        wanted = {
            str(s.id)
            for s in world.statuses.values()
            if "train" in f"{s.words} {s.tags}" and world.accounts[s.author].name == "user3"
        }
        assert {each.body["id"] for each in both.of("status")} == wanted

        found = await Stage(db=tmp_path / "c.db", credentials=tokens(server.host)).crawl(
            f"mastodon://{server.host}/q/post,profile/query=wind?limit=90"
        )
        assert found.counts["status"] == 90
        people = await Stage(db=tmp_path / "d.db").crawl(f"mastodon://{server.host}/q/profile/query=user")
        assert people.counts["account"] == 5


async def test_the_simulator_of_the_command_line_answers_a_crawl_of_its_spec(tmp_path: Path):
    async with simulator("mastodon")[1].run(Simulation(size=100, limit=300)) as simulated:
        crawled = await Stage(db=tmp_path / "a.db").crawl(simulated.spec)
    assert crawled.counts["status"] == 20
    with pytest.raises(ConfigError, match="no simulator of 'friendster'"):
        simulator("friendster")


async def test_since_and_before_tile(tmp_path: Path):
    clock = SimClock()
    world = World(clock)
    author = world.join("ada")
    for _ in range(30):
        world.post(author, "so it is")
        clock.advance(3600)
    async with running(world) as server:
        first = await Stage(db=tmp_path / "a.db").crawl(
            f"mastodon://{server.host}/q/post/user=ada?before=2026-11-22T00:00:00Z"
        )
        second = await Stage(db=tmp_path / "b.db").crawl(
            f"mastodon://{server.host}/q/post/user=ada?since=2026-11-22T00:00:00Z"
        )
    assert (first.counts["status"], second.counts["status"]) == (12, 18)


async def test_those_who_are_related_are_asked_one_by_one(world: World, tmp_path: Path):
    user1 = world.named("user1")
    assert user1
    ids = {b for a, b in world.follows if a == user1.id} | {a for a, b in world.follows if b == user1.id}
    async with running(world) as server:
        posts = await Stage(db=tmp_path / "a.db").crawl(f"mastodon://{server.host}/q/post/related=user1")
        people = await Stage(db=tmp_path / "b.db").crawl(f"mastodon://{server.host}/q/profile/related=user1")
    assert posts.counts["status"] == sum(status.author in ids for status in world.statuses.values())
    assert {int(each.body["id"]) for each in people.of("account")} == ids


async def test_an_account_and_those_related_to_it_are_the_union(world: World, tmp_path: Path):
    user1 = world.named("user1")
    assert user1
    both = {user1.id} | {b for a, b in world.follows if a == user1.id} | {a for a, b in world.follows if b == user1.id}
    async with running(world) as server:
        found = await Stage(db=tmp_path / "a.db").crawl(
            f"mastodon://{server.host}/q/profile,relations/user=user1,related=@user1"
        )
    assert {int(each.body["id"]) for each in found.of("account")} == both
    for direction in ("followers", "following"):
        assert {int((each.links["owner"].href or "").rpartition(":")[2]) for each in found.of(direction)} == both


async def test_a_limit_is_of_each_resource(tmp_path: Path):
    world = World(SimClock())
    for number in range(4):
        author = world.join(f"river{number}")
        world.post(author, "a river")
        world.post(author, "a river again")
    async with running(world, Setup(tokens={TOKEN: "river0"})) as server:
        stage = Stage(db=tmp_path / "a.db", credentials=tokens(server.host))
        searched = await stage.crawl(f"mastodon://{server.host}/q/post,profile/query=river?limit=3")
        stage.db = tmp_path / "b.db"
        of_one = await stage.crawl(f"mastodon://{server.host}/q/post,profile/user=river1?limit=1")
    assert (searched.counts["status"], searched.counts["account"]) == (3, 3)
    assert (of_one.counts["status"], of_one.counts["account"]) == (1, 1)


@pytest.mark.parametrize("resources", ["relations", "post,relations"])
async def test_relations_of_a_location_are_a_deadletter_at_once(world: World, tmp_path: Path, resources: str):
    async with running(world) as server:
        url = f"mastodon://{server.host}/q/{resources}/location=berlin"
        crawled = await Stage(db=tmp_path / "a.db").crawl(Request(platform="mastodon", type="request", url=url))
    (letter,) = crawled.deadletters
    assert (letter.kind, len(letter.request.failures)) == ("invalid_request", 1)
    assert "relations of a location are not defined" in letter.reason


async def test_a_thread_is_followed_where_the_scenario_says_so(world: World, tmp_path: Path):
    async with running(world) as server:
        answered = next(each for each in world.newest() if each.reply_to)
        spec = f"mastodon://{server.host}/@user1/{answered.id}"
        alone = await Stage(db=tmp_path / "a.db").crawl(spec)
        thread = await Stage(db=tmp_path / "b.db").crawl(spec, policy="default:threads/")
    assert alone.counts == {"status": 1}
    assert thread.counts["context"] == 1
    assert str(answered.reply_to) in {each.body["id"] for each in thread.of("status")}
    assert thread.counts["account"] == 1


async def test_a_suspended_account_keeps_its_name_and_nothing_of_it_is_asked_for(tmp_path: Path):
    world = World(SimClock())
    world.join("mallory", suspended=True)
    stage = Stage(db=tmp_path / "a.db")
    async with running(world) as server:
        spec = f"mastodon://{server.host}/q/profile,post/user=mallory"
        crawled = await stage.crawl(spec)
    (account,) = crawled.of("account")
    assert account.body["suspended"] is True
    assert crawled.deadletters == []
    assert crawled.counts["status"] == 0
    assert len(server.calls) == 1, "the lookup"


async def test_whoever_asks_not_to_be_indexed_has_an_account_and_no_posts(world: World, tmp_path: Path):
    shy = world.named("user1")
    assert shy
    world.accounts[shy.id] = replace(shy, unindexed=True)
    others = [each for each in world.statuses.values() if each.author != shy.id]
    passed_on = {each.id for each in others if each.shared and world.statuses[each.shared].author == shy.id}
    assert passed_on, "the world has some"
    async with running(world) as server:
        stage = Stage(db=tmp_path / "a.db")
        crawled = await stage.crawl(
            f"mastodon://{server.host}/q/post,profile/user=user1",
            *(f"mastodon://{server.host}/q/post/user=user{number}" for number in range(2, 6)),
        )
    assert {each.body["acct"] for each in crawled.of("account")} == {"user1"}
    assert {int(each.body["id"]) for each in crawled.of("status")} == {each.id for each in others} - passed_on
    (noted,) = [each.body["notes"] for each in crawled.of("request") if "notes" in each.body]
    assert noted == ["user1 asks not to be indexed: its posts are not read"]


async def test_a_list_that_a_host_does_not_show_is_remembered_for_a_week(world: World, tmp_path: Path):
    async with running(world, Setup(closed=True)) as server:
        stage, spec = Stage(db=tmp_path / "a.db"), f"mastodon://{server.host}/q/post/query=%23python"
        for day, calls in ((0, 1), (1, 1), (8, 2)):
            stage.clock = FastClock(10, start=at(day * 86_400))
            crawled = await stage.crawl(spec)
            assert crawled.deadletters == []
            assert [status for _, status in server.calls] == [401] * calls


@pytest.mark.parametrize(("status", "one_by_one"), [(403, "denied_forbidden"), (410, "missing")])
async def test_a_host_that_refuses_everything_is_left_alone(
    world: World, tmp_path: Path, status: int, one_by_one: SkipReason
):
    async with running(world, Setup(refusing=Answer(status=status, body={"error": "no"}))) as server:
        specs = [f"mastodon://{server.host}/q/profile/user=user{number}" for number in range(30)]
        crawled = await Stage(db=tmp_path / "a.db", settings={"crawl.loops": 1}).crawl(*specs)
    assert crawled.deadletters == []
    assert crawled.tally.skipped == Counter({one_by_one: 10}) + Counter({"denied_forbidden": 20})
    assert [answered for _, answered in server.calls] == [status] * 10


async def test_that_a_host_refuses_everything_outlives_the_process_and_one_call_an_hour_asks_again(
    world: World, tmp_path: Path
):
    hour, day = 3700, 86_400
    async with running(world, Setup(refusing=Answer(status=403, body={"error": "no"}))) as server:
        later = ((hour, 11), (hour + 100, 11), (2 * day, 12), (8 * day, 13), (16 * day, 23))
        for start_s, calls in ((0, 10), (60, 10), *later):
            crawled = await _lookups(tmp_path, server.host, start_s)
            assert crawled.tally.skipped == {"denied_forbidden": 15}
            assert len(server.calls) == calls, f"{start_s} s"


async def test_a_host_that_answers_again_is_no_longer_known_to_refuse(world: World, tmp_path: Path):
    setup = Setup(refusing=Answer(status=403, body={"error": "no"}))
    async with running(world, setup) as server:
        await _lookups(tmp_path, server.host, 0)
        server.setup = Setup()
        await _lookups(tmp_path, server.host, 3700)
        server.setup, before = setup, len(server.calls)
        await _lookups(tmp_path, server.host, 3800)
    assert len(server.calls) - before == 10


async def _lookups(folder: Path, host: str, start_s: int) -> Crawled:
    """A crawl of fifteen accounts, in a process of its own that starts then."""
    settings = {"crawl.loops": 1, "mastodon.budgets": []}
    stage = Stage(db=folder / "a.db", settings=settings, clock=FastClock(10, start=at(start_s)))
    return await stage.crawl(*(f"mastodon://{host}/q/profile/user=user{start_s + number}" for number in range(15)))


async def test_a_host_that_is_excluded_is_not_asked(world: World, tmp_path: Path):
    async with running(world) as one, running(world) as other:
        specs = [f"mastodon://{server.host}/q/profile/user=user1" for server in (one, other)]
        crawled = await Stage(db=tmp_path / "a.db", settings={"crawl.exclude": [other.host]}).crawl(*specs)
    assert (len(one.calls), other.calls) == (1, [])
    assert crawled.tally.skipped == {"excluded": 1}


async def test_a_host_that_wants_no_more_calls_is_left_alone_until_its_window_is_over(tmp_path: Path):
    clock = FastClock(300)
    world = generate(clock, accounts=2, statuses=400)
    async with running(world, Setup(limit=4)) as server:
        stage = Stage(db=tmp_path / "a.db", clock=clock, settings={"mastodon.budgets": []})
        crawled = await stage.crawl(f"mastodon://{server.host}/q/post/user=user1")
    assert crawled.counts["status"] == 200
    assert crawled.deadletters == []
    assert [status for _, status in server.calls].count(429) == 0, "its own headers said in time that nothing is left"


async def test_who_is_told_to_stop_waits_as_long_as_the_host_says(world: World):
    clock, egress = FakeClock(), Egress(quotas=MemoryQuotas(), address="one")
    told = Answer(status=429, body={}, headers={"X-RateLimit-Reset": "", "Retry-After": "30"})
    async with (
        running(world, Setup(refusing=told)) as server,
        MastodonFetcher(MastodonSettings(), (), clock, Tally(), egress) as fetcher,
    ):
        request = Request(platform="mastodon", type="timeline", url=f"mastodon://{server.host}/api/v1/timelines/public")
        stopped = Throttled(until=clock.now() + timedelta(seconds=30), reason="primary")
        assert await fetcher.fetch(request, None) == stopped
        server.setup.refusing = None
        clock.advance(29)
        assert await fetcher.fetch(request, None) == stopped
        assert len(server.calls) == 1
        clock.advance(1)
        assert isinstance(await fetcher.fetch(request, None), Fetched)


async def test_whether_a_copy_is_current_is_asked_by_whoever_fetched_it_and_costs_a_call(world: World):
    egress, tally = Egress(quotas=MemoryQuotas(), address="one"), Tally()
    async with (
        running(world) as server,
        MastodonFetcher(MastodonSettings(), (), FakeClock(), tally, egress) as fetcher,
    ):
        request = Request(platform="mastodon", type="timeline", url=f"mastodon://{server.host}/api/v1/timelines/public")
        fetched = await fetcher.fetch(request, None)
        assert isinstance(fetched, Fetched)
        validator = fetched.validator
        assert validator
        assert isinstance(await fetcher.fetch(request, a_stored(request.url, validator=validator)), Unchanged)
        for other in (replace(validator, url=f"{validator.url}?limit=1"), replace(validator, principal="another")):
            assert isinstance(await fetcher.fetch(request, a_stored(request.url, validator=other)), Fetched)
    assert (tally.calls, tally.charged, tally.free) == (4, 4, 0)


async def test_a_refused_token_is_retired_and_nothing_is_lost(world: World, tmp_path: Path):
    async with running(world, Setup(tokens={TOKEN: "user1"}, closed=True)) as server:
        wrong = tokens(server.host)[0]
        stage = Stage(
            db=tmp_path / "a.db",
            credentials=[type(wrong)(host=server.host, secret=type(wrong.secret)("x" * 12)), wrong],
        )
        crawled = await stage.crawl(f"mastodon://{server.host}/q/post/user=user1")
    assert crawled.counts["status"] == 60
    assert [status for _, status in server.calls].count(401) == 1


async def test_where_no_token_is_accepted_a_sentence_says_so_and_nothing_is_lost(world: World, tmp_path: Path):
    async with running(world, Setup(tokens={TOKEN: "user1"}, closed=True)) as server:
        stage = Stage(db=tmp_path / "a.db", credentials=read_tokens(f"{server.host}=a-wrong-token", source="a test"))
        async with stage.open(Tally()) as service:
            source = service.opened["mastodon"].source
            assert source.unrecoverable() == ""
            await stage.push(service, f"mastodon://{server.host}/q/profile/user=user1")
            service.supervisor.start()
            await until(lambda: bool(source.unrecoverable()))
            await service.supervisor.drain(5)
            assert await service.backend.deadletters.list(DeadletterFilter(), limit=9) == []
            assert not await service.backend.queue.is_empty()
    sentence = source.unrecoverable()
    assert sentence.startswith(f"no token is accepted any more ({server.host} token ")
    assert "a-wrong-token" not in sentence
    assert len(server.calls) == 1


async def test_fifteen_tokens_behind_one_address_make_a_hundred_calls_in_three_replicas_and_not_one_more():
    """The arithmetic of declared budgets, a tenth of it, in calls that a host answers."""
    clock, names = FakeClock(), [f"user{number}" for number in range(15)]
    setup = Setup(tokens={f"simulated-token-{name}": name for name in names}, limit=100_000)
    async with running(generate(SimClock(), accounts=15, statuses=15), setup) as server, AsyncExitStack() as stack:
        held = read_tokens("\n".join(f"{server.host}={token}" for token in setup.tokens), source="a test")
        egress = Egress(quotas=MemoryQuotas(), address="one")
        settings = MastodonSettings(budgets=declared(1))
        replicas = [
            await stack.enter_async_context(MastodonFetcher(settings, held, clock, Tally(), egress)) for _ in range(3)
        ]
        request = Request(platform="mastodon", type="timeline", url=f"mastodon://{server.host}/api/v1/timelines/public")
        for hour in (1, 2):
            answers = await asyncio.gather(*(each.fetch(request, None) for each in replicas * 50))
            assert sum(isinstance(answer, Fetched) for answer in answers) == 100
            assert {type(answer) for answer in answers} == {Fetched, Throttled}
            assert len(server.calls) == 100 * hour
            assert all(each.blocked_until() is not None for each in replicas)
            clock.advance(HOUR)
